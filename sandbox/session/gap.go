package session

import (
	"errors"
	"slices"
)

// Gap is a reason for doubt: something of a run was not seen, so that a run
// without findings is not clean.
type Gap struct {
	Code Code `json:"code"`
	// Tool is the tool, resource or prompt that the gap is about, "" for the whole run.
	Tool string `json:"tool,omitempty"`
	// Phase is the phase of the run in which it arose, "" where that is not known.
	Phase string `json:"phase,omitempty"`
	// Text says what was not seen, in a sentence for people.
	Text string `json:"text"`
	// Remedy says what closes the gap. In a report it is the Code's where nothing
	// better is known.
	Remedy string `json:"remedy"`
	// Cause is what the gap is a consequence of, "" where nothing depends on that. Reports leave it out.
	Cause Cause `json:"-"`
}

// Same reports whether two gaps say the same: they may differ in phase and remedy.
func (g *Gap) Same(o *Gap) bool { return g.Code == o.Code && g.Tool == o.Tool && g.Text == o.Text }

// Cause says what a Gap is a consequence of.
type Cause string

const (
	// CauseServerEnded is the cause of gaps that close when the server's end turns out to be harmless.
	CauseServerEnded Cause = "server-ended"
	// CauseHandshakeFailed is that of GapHandshakeFailed in logs of versions without codes.
	CauseHandshakeFailed Cause = "handshake-failed"
)

// Code names a kind of Gap. Codes are stable: programs compare them, and a
// policy may name them.
type Code string

// The codes. Kind has the meaning and the remedy of each, and docs/gaps.md lists them.
const (
	GapOther           Code = "other"
	GapMarkUnknown     Code = "mark-unknown"
	GapEventUnknown    Code = "event-unknown"
	GapLogDamaged      Code = "log-damaged"
	GapLogEmpty        Code = "log-empty"
	GapLogBeginsLate   Code = "log-begins-late"
	GapCutOff          Code = "cut-off"
	GapFramesMissing   Code = "frames-missing"
	GapWireOnly        Code = "wire-only"
	GapNotWatched      Code = "not-watched"
	GapHTTPNotChecked  Code = "http-not-checked"
	GapNotCompared     Code = "not-compared"
	GapDetectorFailed  Code = "detector-failed"
	GapAnalysisBounded Code = "analysis-bounded"
	GapTextJudge       Code = "text-judge"
	GapRuleFailed      Code = "rule-failed"

	GapNotTraced          Code = "not-traced"
	GapTracerDied         Code = "tracer-died"
	GapTracerUnfinished   Code = "tracer-unfinished"
	GapProcessNotTraced   Code = "process-not-traced"
	GapRecordsLost        Code = "records-lost"
	GapRecordsLate        Code = "records-late"
	GapAccessesLost       Code = "accesses-lost"
	GapDecoyNotWatched    Code = "decoy-not-watched"
	GapFilesNotSearched   Code = "files-not-searched"
	GapFilesNotCompared   Code = "files-not-compared"
	GapFilesNotKept       Code = "files-not-kept"
	GapRefusedUnseen      Code = "refused-unseen"
	GapClockStepped       Code = "clock-stepped"
	GapOutputUnfinished   Code = "output-unfinished"
	GapPreloadNotRestored Code = "preload-not-restored"

	GapSinkholeEnded   Code = "sinkhole-ended"
	GapSinkholePartial Code = "sinkhole-partial"
	GapTrafficLost     Code = "traffic-lost"
	GapPayloadOpaque   Code = "payload-opaque"
	GapPayloadNotRead  Code = "payload-not-read"
	GapPayloadSealed   Code = "payload-sealed"
	GapTLSLost         Code = "tls-lost"
	GapTextNotRead     Code = "text-not-read"

	GapStartFailed        Code = "start-failed"
	GapNotStarted         Code = "not-started"
	GapFurtherStartFailed Code = "further-start-failed"
	GapServerEnded        Code = "server-ended"
	GapMemoryUncounted    Code = "memory-uncounted"
	GapLimitReached       Code = "limit-reached"
	GapDiskFull           Code = "disk-full"
	GapInputNotRead       Code = "input-not-read"
	GapSandboxEnded       Code = "sandbox-ended"
	GapSandboxNotStopped  Code = "sandbox-not-stopped"
	GapSandboxNotRemoved  Code = "sandbox-not-removed"
	GapTimerPending       Code = "timer-pending"
	GapClockNotMoved      Code = "clock-not-moved"

	GapHandshakeFailed      Code = "handshake-failed"
	GapNotListed            Code = "not-listed"
	GapNotRelisted          Code = "not-relisted"
	GapSurfaceTooLarge      Code = "surface-too-large"
	GapNothingDeclared      Code = "nothing-declared"
	GapNothingCalled        Code = "nothing-called"
	GapCallsIncomplete      Code = "calls-incomplete"
	GapAttacksIncomplete    Code = "attacks-incomplete"
	GapSequencesIncomplete  Code = "sequences-incomplete"
	GapReplayIncomplete     Code = "replay-incomplete"
	GapCallNotSettled       Code = "call-not-settled"
	GapToolNeverCalled      Code = "tool-never-called"
	GapToolNeverAnswered    Code = "tool-never-answered"
	GapToolOnlyErrors       Code = "tool-only-errors"
	GapCredentialMissing    Code = "credential-missing"
	GapConfigurationMissing Code = "configuration-missing"
	GapDeviceMissing        Code = "device-missing"
	GapProgramMissing       Code = "program-missing"
	GapServiceMissing       Code = "service-missing"

	GapBuildFailed         Code = "build-failed"
	GapBuildSkipped        Code = "build-skipped"
	GapSourceNotAudited    Code = "source-not-audited"
	GapSourcePartlyAudited Code = "source-partly-audited"
	GapCodeNotRun          Code = "code-not-run"
	GapCodeNotRecorded     Code = "code-not-recorded"
)

// unacceptable are the codes that nobody can answer for: the record itself is not whole, or
// no tool was looked at.
var unacceptable = []Code{
	GapOther, GapMarkUnknown, GapEventUnknown, GapLogDamaged, GapLogEmpty, GapLogBeginsLate, GapCutOff, GapFramesMissing, GapDetectorFailed, GapRuleFailed,
	GapNotTraced, GapTracerDied, GapTracerUnfinished, GapRecordsLost, GapRecordsLate, GapAccessesLost, GapClockStepped, GapSinkholeEnded, GapTrafficLost, GapTLSLost,
	GapStartFailed, GapNotStarted, GapFurtherStartFailed, GapSandboxEnded, GapSandboxNotStopped, GapSandboxNotRemoved,
	GapHandshakeFailed, GapNotListed, GapNothingDeclared, GapNothingCalled, GapCodeNotRun, GapPayloadOpaque,
}

// ofOneTool are the codes whose gaps each speak of one tool; one without a tool counts
// those that were too many to be named.
var ofOneTool = []Code{GapToolNeverCalled, GapToolNeverAnswered, GapToolOnlyErrors}

// Acceptable says why gaps of a code cannot be accepted, nil where they can. Whether the
// gap is about a tool is the second argument.
func (c Code) Acceptable(tool string) error {
	_, known := kindOf[c]
	switch {
	case !known:
		return errors.New("is not a code of docs/gaps.md")
	case c == GapCodeNotRun:
		return errors.New("is accepted by function, under accept_unrun")
	case c == GapPayloadOpaque:
		return errors.New("is accepted by host, under accept_opaque")
	case slices.Contains(unacceptable, c):
		return errors.New("says that coalmine did not record the run or did not reach the tools; a policy cannot accept that")
	case tool == "" && slices.Contains(ofOneTool, c):
		return errors.New("needs a tool")
	}
	return nil
}

// GapKind is what is to be said of all gaps of one code.
type GapKind struct {
	Code Code
	// Meaning says what was not seen, Remedy what the user can do about it.
	Meaning, Remedy string
}

// GapKinds lists all codes, in the order of docs/gaps.md.
func GapKinds() []GapKind { return slices.Clone(gapKinds) }

// Kind is what is to be said of gaps of this code. A code that this version does
// not know has the kind GapOther.
func (c Code) Kind() GapKind {
	if k, ok := kindOf[c]; ok {
		return k
	}
	return kindOf[GapOther]
}

var kindOf = func() map[Code]GapKind {
	m := make(map[Code]GapKind, len(gapKinds))
	for _, k := range gapKinds {
		m[k.Code] = k
	}
	return m
}()

// Filled is the gap as a report has it: with a code that this version knows, and
// with a remedy.
func (g Gap) Filled() Gap {
	kind := g.Code.Kind()
	g.Code = kind.Code
	if g.Remedy == "" {
		g.Remedy = kind.Remedy
	}
	return g
}

// Texts are the texts of gaps, in their order.
func Texts(gaps []Gap) []string {
	out := make([]string, len(gaps))
	for i := range gaps {
		out[i] = gaps[i].Text
	}
	return out
}
