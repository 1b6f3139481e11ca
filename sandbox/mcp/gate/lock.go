package gate

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// pinned says how a declaration differs from the lock, "" if it does not.
func (s *Session) pinned(t *wire.Tool) string {
	lock := s.g.opts.Lock
	if lock == nil {
		return ""
	}
	s.c.mu.Lock()
	said := s.c.said
	s.c.mu.Unlock()
	if said != nil && wire.InstructionsPin(said.RawInstructions) != lock.Instructions {
		return "the server's instructions are not as they were locked"
	}
	pin, ok := lock.Tools[t.Name]
	if !ok {
		return "the tool is not in the lock"
	}
	now := wire.PinOf(t.Raw)
	var differ []string
	for _, member := range wire.PinnedMembers {
		if now[member] != pin[member] {
			differ = append(differ, member)
		}
	}
	if len(differ) > 0 {
		return "not as it was locked: " + strings.Join(differ, ", ")
	}
	return ""
}

// Declared reads a session's log for what the server declared last. It is an
// error if no complete list of tools is in it.
func Declared(frames iter.Seq2[session.Frame, error]) (*wire.Surface, error) {
	s := New(Options{}).Session()
	// A log is not waited for.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for f, err := range frames {
		switch {
		case err != nil:
			return nil, err
		case f.Dir == session.C2S:
			s.Client(ctx, f.Bytes())
		default:
			s.Server(f.Bytes())
		}
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	tools := s.c.state.Surface
	if tools == nil {
		tools = s.c.state.Last
	}
	if tools == nil {
		return nil, errors.New("no complete tools/list is in the log")
	}
	out := &wire.Surface{}
	for _, name := range tools.Names {
		out.Tools = append(out.Tools, *tools.Tools[name])
	}
	if said := s.c.said; said != nil {
		out.Server, out.Instructions = said.Server, said.Instructions
	}
	return out, nil
}
