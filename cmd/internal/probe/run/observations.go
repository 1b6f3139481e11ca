package run

import (
	"encoding/json"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/synth"
)

// Observations are what a run learned that further runs depend on. What was seen
// of the server stands in the run's log.
type Observations struct {
	// Shaken says that the handshake succeeded, Silent that no answer came in time, and Listening that a silent server
	// listened on a port of TCP.
	Shaken, Silent, Listening bool
	// Introduced says that the server ended at server/discover and was started again with initialize.
	Introduced bool
	// Steps are the calls of the drive, in order.
	Steps []synth.Step
	// Played are the calls of a plan's Steps that were made.
	Played int
	// Crashed is the tool in whose call the server ended, "" for none.
	Crashed string
	// CrashedWith are the arguments of that call, nil where the tool declares to end the
	// server or is not declared.
	CrashedWith json.RawMessage
	// Took is how long the session lasted.
	Took time.Duration
	// TriedLoopback says that a port of the loopback address was tried on which nothing listens.
	TriedLoopback bool
	// NoNames are names of hosts that the server looked up and that cannot exist, except
	// those that its calls name.
	NoNames []string
	// LookedIn is another user's HOME in which a decoy was looked for, if one was.
	LookedIn plan.Account
	// Guided is what varying the calls of a plan came to, and Unguided what was recorded before.
	Guided   synth.Guided
	Unguided []rootfs.File
	// Recorded are the files of the plan's Drive.Record. The server may have written them.
	Recorded []rootfs.File
	// RecordedWhole says that none of these files is missing.
	RecordedWhole bool
	// Statuses are the exit statuses of a build's scripts, those that came, and Dropped the links
	// that were left out of the tree that they made.
	Statuses []int
	Dropped  []string
	// Exit is how a helper ended, and Lost how many observations were lost.
	Exit sandbox.Exit
	Lost uint64
	// Reached says of each of the plan's Sandbox.Places whether a process came to it, and
	// ReachedErr why that is not known.
	Reached    []bool
	ReachedErr error
	// Left are the files that the server wrote in places that last.
	Left []rootfs.File
}
