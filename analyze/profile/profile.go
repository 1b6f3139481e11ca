package profile

import (
	"path"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Context is what must be known to tell the server's own files from others.
type Context struct {
	Home       string
	ServerDir  string
	Workspaces []string
	Canaries   []canaries.Canary
	// Set finds these canaries, nil to have it made.
	Set *canaries.Set
	// Flows says that what was sent outside is told: what is not told was not sent.
	Flows bool
	// Passed is the id of the secrets for which the log holds canaries.Passed in place of the
	// value, "" for none.
	Passed string
	// Runtime is what the server's interpreter does by itself, nil for nothing known.
	Runtime *session.Runtime
	// Helpers are the directories of programs that the run planted beside the server.
	Helpers []string
	// Planted are the files of the user's that stood there before the server started.
	Planted map[string]bool
	// Documents are text files of the user's, each with a line of it.
	Documents []session.Document
	// Given are the server's arguments and the values of the variables that its user gave it.
	Given []string
	// Literals are texts of the server's own source, which a call may give back to it.
	Literals []string
	// Denied reports whether the user denies a tool, "" outside calls, the use of a file, which is then never
	// ordinary. It is nil where the user denies none.
	Denied func(tool, path string, write bool) bool
	// Answers says that the answers to calls are compared with those of other runs.
	Answers bool
}

// Call is one call of the run as its marks tell it.
type Call struct {
	N       int
	Tool    string
	What    string          // "tool", "resource", "prompt", "completion"
	Outcome session.Outcome // "" while it runs
	Start   time.Duration
	End     time.Duration
	// Oracles are what its arguments carried.
	Oracles []session.Injection
	// Turn is the kind of answer that services gave meanwhile, 0 for the one that fits.
	Turn int
	// Repeats is the call just before that it repeats word for word, 0 for none.
	Repeats int
}

// Undeclared says that the call was for a tool that nobody declared.
func (c *Call) Undeclared() bool {
	return slices.ContainsFunc(c.Oracles, func(in session.Injection) bool {
		return in.Oracle == session.OracleTool || in.Oracle == session.OracleControl
	})
}

// Kept is a directory that the server made.
type Kept struct {
	Path string
	// Early says that it did so before the first call.
	Early bool
}

// Profile is what a run did.
type Profile struct {
	Effects []finding.Effect
	// Reads are opens of the user's documents, and of directories of HOME that hold some: the first
	// calls of each tool that read one.
	Reads []finding.Effect
	Calls []Call
	// FrameCall is the call during which a frame of session.jsonl crossed, by seq.
	FrameCall map[uint64]int
	// FramePhase is the phase in which it did, for frames outside calls.
	FramePhase map[uint64]finding.Phase
	// Records and Noise count all records and those that are ordinary.
	Records, Noise int
	// Lost counts what was not seen, in records or lines.
	Lost int64
	// Hits are the effects of oracles' inputs.
	Hits []Hit
	// Refusals are what tools say where they refuse a path that leads out of a directory, by tool.
	Refusals map[string]Refusal
	visited  map[string]bool
	// bases are the directories of the server's own to which it joined arguments, by tool and argument.
	bases  map[string]string
	undone map[fileIn]bool
	// Kept are the directories that the server made, the first of them.
	Kept []Kept
	// Asked are the outside peers ("host:port") that HTTP requests went to, by the
	// call during which they did, a few of each.
	Asked map[int][]string
	// Sent are all requests of HTTP that went outside during a call, except those that hold a decoy or go to the
	// issuer of one, by the call.
	Sent map[int]Sent
	// Requests tell, of the same requests and those outside of calls, the different ones to each registered domain.
	Requests map[string][]uint64
	// Ordered are requests of calls that do more than look, in the order of time.
	Ordered []Ordered
	// Truncated says that there were more distinct effects than maxEffects.
	Truncated bool
	// Opaque are the flows whose payload could not be read, Unread says what of
	// the rest could not be searched whole.
	Opaque []OpaqueFlow
	Unread []string
	// Plain are the peers of flows that were read before they were encrypted, and nowhere else.
	Plain []string
	// Carried are the peers that were sent what a call was given.
	Carried []Carried
	// Relayed are the peers that were sent during a call what that call was not given.
	Relayed []Relayed
	// Answers are the answers to calls, where Context.Answers asks for them.
	Answers map[int]Answer
	// Differences say how files of HOME and the workspaces differ from what they were before the
	// server started, by path.
	Differences map[string]session.EventChanged
	// Stored are the files that the server wrote and left.
	Stored []Stored
	// Spelled are what calls spelled by the names of directories and links that they made.
	Spelled []Names
	// Payloads are what was sent or returned and looks random.
	Payloads []Payload
	// Phases are those that were reached.
	Phases map[finding.Phase]bool
}

// OpaqueFlow is a flow whose payload could not be read.
type OpaqueFlow struct {
	// Peer is "host:port" or "address:port", Tool the tool in whose call it was, "" for none.
	Peer, Tool string
	// Unsent says that the client left after the handshake of TLS, before it sent anything in it.
	Unsent bool
}

// Absent are the programs that some calls tried to run in vain and that ran in
// none of them: a search through the directories of PATH fails before it succeeds.
func (p *Profile) Absent(in func(call int) bool) []string {
	var names []string
	ran := map[string]bool{}
	for i := range p.Effects {
		e := &p.Effects[i]
		if e.Kind != finding.Exec || !in(e.Call) {
			continue
		}
		name := path.Base(e.Target)
		switch {
		case e.Rung != finding.RungAttempted:
			ran[name] = true
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return ran[n] })
}

// Ran says that a program of this base name ran in the run.
func (p *Profile) Ran(name string) bool {
	return slices.ContainsFunc(p.Effects, func(e finding.Effect) bool {
		return e.Kind == finding.Exec && e.Rung != finding.RungAttempted && path.Base(e.Target) == name
	})
}

// phaseOf is the phase in which a frame crossed, "" for one without a mark.
func (p *Profile) phaseOf(seq uint64) finding.Phase {
	phase, ok := p.FramePhase[seq]
	if !ok && p.FrameCall[seq] > 0 {
		return finding.PhaseCall
	}
	return phase
}
