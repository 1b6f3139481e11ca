package gate

import (
	"context"
	"encoding/json"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Answer is what a person says of a call that is held.
type Answer string

// The answers. Anything else denies.
const (
	Deny         Answer = "deny"
	AllowOnce    Answer = "once"
	AllowSession Answer = "session" // the tool, for the same reason, in this session
)

// Question is a call that would be blocked. Its texts are the client's and the server's: who
// shows them escapes them.
type Question struct {
	Tool string
	// Reason is for programs, Why for people.
	Reason    Reason
	Why       string
	Arguments json.RawMessage
}

// answered is what AllowSession is remembered by.
type answered struct {
	tool   string
	reason Reason
}

// allowed asks about a call that would be blocked. asked says that a person was asked now.
func (s *Session) allowed(ctx context.Context, m wire.Message, r *refusal) (ok, asked bool) {
	if s.g.opts.Ask == nil || s.g.opts.Observe {
		return false, false
	}
	key := answered{r.tool, r.code}
	s.c.mu.Lock()
	known := s.c.answers[key]
	s.c.mu.Unlock()
	if known {
		return true, false
	}
	_, arguments := callOf(m.Params)
	switch s.g.opts.Ask(ctx, Question{Tool: r.tool, Reason: r.code, Why: r.reason, Arguments: arguments}) {
	case AllowOnce:
		return true, true
	case AllowSession:
		s.c.mu.Lock()
		defer s.c.mu.Unlock()
		if s.c.answers == nil {
			s.c.answers = map[answered]bool{}
		}
		s.c.answers[key] = true
		return true, true
	}
	return false, true
}
