package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Severity says how much a finding matters. The order is Critical, High,
// Medium, Low, Info.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Info     Severity = "info"
)

// Severities lists all severities, worst first.
var Severities = []Severity{Critical, High, Medium, Low, Info}

// Rank orders severities: Critical is 5, Info 1, anything else 0.
func (s Severity) Rank() int {
	for i, v := range Severities {
		if s == v {
			return len(Severities) - i
		}
	}
	return 0
}

// ParseSeverity reads a severity's name.
func ParseSeverity(s string) (Severity, error) {
	if v := Severity(s); v.Rank() > 0 {
		return v, nil
	}
	return "", fmt.Errorf("severity %q is not one of critical, high, medium, low, info", s)
}

// Phase is a part of a run with a profile of its own.
type Phase string

// The phases in the order in which a run goes through them.
const (
	PhaseFetch     Phase = "fetch"
	PhaseBuild     Phase = "build"
	PhaseStart     Phase = "start"     // exec to the first frame sent
	PhaseHandshake Phase = "handshake" // initialize or server/discover
	PhaseList      Phase = "list"
	PhaseCall      Phase = "call"  // one tool, resource or prompt at a time
	PhaseIdle      Phase = "idle"  // between calls: ambiguous, never pinned on a tool
	PhaseCalls     Phase = "calls" // several calls at a time, outside a probe: never pinned on one
	PhaseShutdown  Phase = "shutdown"
	PhaseStatic    Phase = "static" // no run at all: read in the source
)

// Unpinned reports whether no single call can have caused what was done in the phase.
func (p Phase) Unpinned() bool { return p == PhaseIdle || p == PhaseCalls }

// Rung is how far evidence climbed. A higher rung contains the lower ones.
type Rung string

// The rungs, lowest first. The empty Rung is for findings that have no ladder.
const (
	RungAttempted Rung = "attempted" // the call was made, and failed
	RungOpened    Rung = "opened"
	RungRead      Rung = "read"
	RungReturned  Rung = "returned" // seen on the MCP wire
	RungLeft      Rung = "left"     // seen leaving through the network
)

// Rank orders rungs from 1 (attempted) to 5 (left); 0 for none.
func (r Rung) Rank() int {
	switch r {
	case RungAttempted:
		return 1
	case RungOpened:
		return 2
	case RungRead:
		return 3
	case RungReturned:
		return 4
	case RungLeft:
		return 5
	}
	return 0
}

// EffectKind names something that a server can do to the world, or say it does.
type EffectKind string

// The effects. Said and seen share this vocabulary, so that rules can compare them.
const (
	FileRead   EffectKind = "file.read"
	FileWrite  EffectKind = "file.write" // created or opened for writing
	FileDelete EffectKind = "file.delete"
	FileMeta   EffectKind = "file.meta" // attributes, links, renames
	Exec       EffectKind = "exec"
	NetConnect EffectKind = "net.connect" // an attempt to reach an address
	NetListen  EffectKind = "net.listen"
	UnixSocket EffectKind = "net.unix"
	Statement  EffectKind = "statement" // what a service was told to do; Target is "postgres: DROP TABLE notes"
	Secret     EffectKind = "secret"    // a canary; Target is its id
	Tamper     EffectKind = "tamper"    // ptrace, mount, foreign kill, namespaces, refused calls
	Crash      EffectKind = "crash"
	Protocol   EffectKind = "protocol" // what crossed the wire and should not have
)

// Effect is one thing seen, merged over equal occurrences in the same call.
type Effect struct {
	Kind EffectKind `json:"effect"`
	// Target is the object: a path, "host:port", a program's path or a canary's id.
	Target string `json:"target"`
	Phase  Phase  `json:"phase"`
	// Tool is the tool, resource or prompt called, "" outside calls.
	Tool string `json:"tool,omitempty"`
	// Call numbers the run's calls from 1; 0 outside calls.
	Call  int `json:"call,omitempty"`
	Count int `json:"count"`
	// Rung is set for secrets; for other effects it is attempted or opened.
	Rung Rung `json:"rung,omitempty"`
	// Actor is the program that did it: the base name of its binary.
	Actor string `json:"actor,omitempty"`
	// Argv is the command line of an Exec.
	Argv []string `json:"argv,omitempty"`
	// Noise says what makes this ordinary ("runtime", "resolver", "locale", or
	// "unwritten" for a file that was opened for writing and not written), "" when
	// nothing does. A secret is never noise.
	Noise string `json:"noise,omitempty"`
	// Host is the name of the peer of what went over the network, or its address
	// where a secret went to one without a name. Via is the channel ("https",
	// "dns", "tcp" …).
	Host string `json:"host,omitempty"`
	Via  string `json:"via,omitempty"`
	// Encoding is what a secret was hidden in, when it came out.
	Encoding string `json:"encoding,omitempty"`
	// Used says where of the protocol the secret's issuer got it as a credential.
	Used string `json:"used,omitempty"`
	// Request is the first line of the request that carried a secret, of several of one call what they have in common,
	// "" where it is not known.
	Request string `json:"-"`
	// Opaque says that the payload could not be read.
	Opaque bool `json:"opaque,omitempty"`
	// Unsent says that the payload is opaque only because the client left after the
	// handshake of TLS, before it sent anything in it.
	Unsent bool `json:"-"`
	// Asks is what of the user's credentials an Exec asks a helper for ("gh auth token").
	Asks string `json:"-"`
	// Installs is what an Exec has a program start later or obey ("crontab -").
	Installs string `json:"-"`
	// Destroys is what an Exec has a program throw away for good ("git stash clear").
	Destroys string `json:"-"`
	// LoadsFrom is the directory from which an Exec loads code of its own accord, since it was started there
	// ("python3 -m json.tool").
	LoadsFrom string `json:"-"`
	// Ambiguous says that the work could belong to another call.
	Ambiguous bool `json:"ambiguous,omitempty"`
	// Background says that the task that did it was there before the call: what it
	// does on its own account looks like the call's.
	Background bool `json:"-"`
	// Became says that an Exec is what a launcher became when the client had spoken already: the
	// server itself.
	Became bool `json:"-"`
	// Named says that the server's command line or environment names this Exec's program by its path,
	// or that such a program started it.
	Named bool `json:"-"`
	// Told is the statement of a Statement, nil for other kinds.
	Told *trace.Statement `json:"-"`
	// Elsewhere is where a secret's file was looked for in vain, in another user's
	// HOME.
	Elsewhere string `json:"-"`
	// Made says that it made a name that was not there: a link.
	Made bool `json:"-"`
	// Climbed says that a secret's file was found by a search that goes up from the server's own
	// directory, or one that it works in, by one name: as libraries look for .env.
	Climbed bool `json:"-"`
	// Owner says that the program whose own file a secret's is opened it: npm its
	// token, whoever started npm.
	Owner bool `json:"-"`
	// Explained is the reason that was declared for it, nil where nothing explains it.
	Explained *Explanation `json:"explained,omitempty"`
	// Sources are the lines of the audited source that are likely to have caused it.
	Sources []Location `json:"sources,omitempty"`
	// Requests are what the peer of a NetConnect was asked, each path once, at most MaxRequests.
	Requests []Request  `json:"-"`
	Evidence []Evidence `json:"-"`
}

// Class says what kind of reason explains an effect.
type Class string

// The classes of explanations.
const (
	// ClassOrdinary is what any program of its kind does: Effect.Noise says what.
	ClassOrdinary Class = "ordinary"
	// ClassPolicy is the user's own policy.
	ClassPolicy Class = "policy"
	// ClassArgument is an argument of the call that names the object.
	ClassArgument Class = "argument"
	// ClassOwn is the server's own directory, or a file that an explained effect made.
	ClassOwn Class = "own file"
	// ClassState is a directory of the server's own below the user's state,
	// configuration or cache, or a database's file beside it.
	ClassState Class = "own state"
	// ClassDefault is a hint that the tool leaves out: by the specification such a tool
	// may change its surroundings. It covers new files alone.
	ClassDefault Class = "default"
	// ClassClaim is something that the tool or the server declares.
	ClassClaim Class = "claim"
)

// Strength says how much an explanation is worth.
type Strength string

// The strengths.
const (
	// StrengthCertain is what the run itself shows: whose file it is, what an argument or the policy names.
	StrengthCertain Strength = "certain"
	// StrengthClaimed is what the tool or the server declares to do.
	StrengthClaimed Strength = "claimed"
	// StrengthWeak is a default, a habit or a name: a word that is mentioned gives no leave by itself.
	StrengthWeak Strength = "weak"
)

// Explanation is why an effect is no surprise.
type Explanation struct {
	Class    Class    `json:"class"`
	Strength Strength `json:"strength,omitempty"`
	// Where and Text are the place and the words of a claim, or Text is the noise's kind.
	Where string `json:"where,omitempty"`
	Text  string `json:"text,omitempty"`
}

// MaxRequests bounds the requests that are kept of an effect.
const MaxRequests = 64

// Request is one that a peer was asked.
type Request struct {
	// Path is with the query.
	Path string
	// Given says that an input of the run named it.
	Given bool
}

// Evidence is one fact that a reader can look up in the run's files.
type Evidence struct {
	// Source is "record" (trace.jsonl), "frame" (session.jsonl), "event"
	// (trace.jsonl), "flow" (trace.jsonl: Seq is the flow's number) or "source" (a
	// file of the server).
	Source string `json:"source"`
	// Dir is the directory of a further run below the target's, whose file it is; "" for the
	// target's own.
	Dir string `json:"dir,omitempty"`
	// Seq is the line's own seq in that file, 0 when Source is "source".
	Seq uint64 `json:"seq,omitempty"`
	// Time is the moment on the run's clock.
	Time time.Duration `json:"t,omitempty"`
	// Text says the fact in a line, redacted and escaped for no medium yet.
	Text string `json:"text"`
	// Location is set when Source is "source".
	Location *Location `json:"location,omitempty"`
	// About names the effect that it shows, whosever call that is; "" where it shows none.
	About string `json:"-"`
	// Outside says that it shows a connection to an address that is not the machine's own.
	Outside bool `json:"-"`
}

// Location is a place in a file that a user can open.
type Location struct {
	// Path is relative to the audited root, with forward slashes.
	Path string `json:"path"`
	// Line and Column count from 1; 0 is unknown.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Confidence says how surely an observation belongs where it was put.
type Confidence string

// The confidences.
const (
	Certain   Confidence = "certain"
	Probable  Confidence = "probable"
	Ambiguous Confidence = "ambiguous"
)

// Finding is an observation that differs from what was declared. It never accuses.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Tool     string   `json:"tool,omitempty"`
	Call     int      `json:"call,omitempty"`
	Phase    Phase    `json:"phase,omitempty"`
	Rung     Rung     `json:"rung,omitempty"`
	// Evidence is the chain, in the order of time.
	Evidence []Evidence `json:"evidence"`
	// Reproduce is the command that shows it again.
	Reproduce string `json:"reproduce,omitempty"`
	// Fingerprint is the finding's identity across runs, seeds and machines.
	Fingerprint string `json:"fingerprint"`
	// PreviousFingerprints are those that the version before gave the same finding,
	// where it made them in another way: a baseline, a suppression or a replay that
	// names one means this finding. They are kept for one version.
	PreviousFingerprints []string  `json:"previousFingerprints,omitempty"`
	Location             *Location `json:"location,omitempty"`
	// Generated is the place that was read where Location is its original, by a source map. The
	// map is the server's own: nothing is suppressed or compared by what it says.
	Generated  *Location  `json:"generated,omitempty"`
	Confidence Confidence `json:"confidence"`
	// Run says what the run shows of a finding in the source, "" where that cannot be compared.
	Run Joined `json:"joined,omitempty"`
	// RunText is the end of Message that says so.
	RunText string `json:"-"`
	// Object is what a finding in the source is about, where the run may tell more of it: the parameter that reaches a
	// sink, the variable that holds a credential. It is "" for others.
	Object string `json:"object,omitempty"`
	// Whole says that the parameter chooses the whole of a path or an address.
	Whole bool `json:"whole,omitempty"`
	// Sources are the lines of the audited source that are likely to have caused a finding of a run.
	Sources []Location `json:"sources,omitempty"`
	// EvidenceLevel is what a session log proves of the finding, "" for a run's: see
	// session.EvidenceLevel.
	EvidenceLevel string `json:"evidence_level,omitempty"`
}

// Read is the place that was read, nil for none. A source map may name its original.
func (f *Finding) Read() *Location {
	if f.Generated != nil {
		return f.Generated
	}
	return f.Location
}

// Joined is what a run shows of a finding in the source.
type Joined string

// What a run shows of a finding in the source.
const (
	// Confirmed: the effect was seen in a call of the tool, or of the server.
	Confirmed Joined = "confirmed"
	// NotExercised: the tool was not called, or the code did not run.
	NotExercised Joined = "not exercised"
	// Unconfirmed: the code was called, and the effect was not seen.
	Unconfirmed Joined = "unconfirmed"
)

// Fingerprints are all by which the finding is known, its own first.
func (f *Finding) Fingerprints() []string {
	return append([]string{f.Fingerprint}, f.PreviousFingerprints...)
}

// Fingerprint hashes what makes a finding the same finding next time. Parts must hold
// no line number, seed, time, pid, address drawn per run or temporary path.
func Fingerprint(rule string, parts ...string) string {
	h := sha256.New()
	for _, p := range append([]string{rule}, parts...) {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Rule is a rule's own documentation.
type Rule struct {
	// ID is the stable identifier, a number behind the letters CM or a static rule's name.
	ID string
	// Family is what the rule is about.
	Family Family
	// Name is CamelCase, as SARIF wants it.
	Name string
	// Title says the observation in a few words.
	Title string
	// Severity is the default; evidence may change it, as Help says.
	Severity Severity
	// Help is Markdown: what was seen, why it matters, what is a false positive.
	Help string
	// CWE lists numbers ("CWE-200"); OWASP the MCP Top 10 entries ("MCP01").
	CWE   []string
	OWASP []string
	// Advice says what a reader does about a finding.
	Advice Advice
	// Effects are the kinds of effect by which a run shows a finding in the source, nil for none.
	Effects []EffectKind
	// Capability says that a finding in the source tells what a tool is for: any effect of its
	// line shows it.
	Capability bool
}

// Advice says what a reader does about a rule's findings.
type Advice struct {
	// Why says in a sentence why a finding matters.
	Why string
	// Fix says in a sentence how an author changes the server's code.
	Fix string
	// Preview marks a rule whose severity and scope may still change; other rules are stable.
	Preview bool
}

// Tier is "stable" or "preview".
func (a Advice) Tier() string {
	if a.Preview {
		return "preview"
	}
	return "stable"
}

// Family is what a rule is about.
type Family string

// The families. FamilyStatic is that of the rules for the source, FamilyOwn that of the user's own.
const (
	FamilySecrets    Family = "secrets"
	FamilyDeclared   Family = "declared"
	FamilyOracle     Family = "oracle"
	FamilyWire       Family = "wire"
	FamilyDrift      Family = "drift"
	FamilyRobustness Family = "robustness"
	FamilyRemote     Family = "remote"
	FamilyStatic     Family = "static"
	FamilyOwn        Family = "own"
)
