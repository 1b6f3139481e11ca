package gate

import (
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Action is what becomes of a call.
type Action string

// The actions.
const (
	Passed    Action = "passed"
	Unchecked Action = "unchecked" // it passed, and could not be checked
	Allowed   Action = "allowed"   // a person allowed what would have been blocked
	Blocked   Action = "blocked"
	Would     Action = "would block" // Options.Observe let it pass
)

// Decision is what became of one call. Its texts are the client's and the server's: who
// shows them escapes them.
type Decision struct {
	Tool   string
	Action Action
	// Why says why it was not simply passed.
	Why string
	// Asked says that a person was asked about this very call.
	Asked bool
}

// decisionOf is a decision before anybody is asked.
func decisionOf(m wire.Message, r *refusal, skip *session.Gate) Decision {
	name, _ := callOf(m.Params)
	d := Decision{Tool: name, Action: Passed}
	switch {
	case r != nil:
		d.Action, d.Why = Blocked, r.reason
	case skip != nil:
		d.Action, d.Why = Unchecked, skip.Reason
	}
	return d
}

// tell tells the decisions on a line's calls. refused says that one of them is blocked,
// and with it the whole batch.
func (s *Session) tell(decisions []Decision, refused bool) {
	if s.g.opts.Tell == nil {
		return
	}
	for _, d := range decisions {
		switch {
		case s.g.opts.Observe && d.Action == Blocked:
			d.Action = Would
		case !s.g.opts.Observe && refused && d.Action != Blocked:
			d.Action, d.Why = Blocked, "another call of its batch is blocked"
		}
		s.g.opts.Tell(d)
	}
}
