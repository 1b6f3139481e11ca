package run

import (
	"context"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// afterCall is how long a server is watched after each call before the next.
var afterCall = sandbox.Rest{Most: 50 * time.Millisecond, Least: 20 * time.Millisecond}

// reach is what a server has made by which it may act, or be made to, though all of its
// tasks sleep and no timeout of theirs is due.
type reach struct {
	// timers are those of setitimer(2), timer_create(2), timerfd_create(2); sockets are
	// those that are not AF_UNIX.
	timers, sockets bool
}

func (r *reach) record(rec *trace.Record) {
	switch {
	case rec.Op == trace.OpOther:
		switch rec.Call {
		case "setitimer", "alarm", "timer_settime", "timer_settime64", "timerfd_settime", "timerfd_settime64":
			r.timers = true
		}
	case rec.Op == trace.OpSocket && rec.Call == "socket":
		r.sockets = r.sockets || rec.Addr == nil || rec.Addr.Family != "unix"
	}
}

// reaches is what the server is known to have made so far.
func (r *recorder) reaches() reach {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reach
}

// sockets reports whether the server may have made sockets that lead out of its processes, by
// the records so far.
func (s *Session) sockets() bool {
	return !s.plan.Watched() || s.plan.Server.Transport != plan.TransportStdio || s.rec.reaches().sockets
}

// awaitRest returns when the server rests and everything that it did is with the log.
// Where it may have a timer that nobody sees, the wait is rest.Least.
func (s *Session) awaitRest(ctx context.Context, rest sandbox.Rest) {
	begin := time.Now()
	has := s.rec.reaches()
	rest.Sockets = s.sockets()
	if s.plan.Watched() && !has.timers {
		bounded, cancel := context.WithTimeout(ctx, rest.Most+syncTimeout)
		defer cancel()
		if err := s.sandbox.Settle(bounded, rest); err != nil && ctx.Err() == nil {
			s.doubt(session.GapRecordsLate, "", "the tracer's records did not come in time: "+err.Error())
		}
		if now := s.rec.reaches(); now == has || rest.Sockets && !now.timers {
			return
		}
	}
	// What was made meanwhile was not looked for.
	select {
	case <-time.After(rest.Least - time.Since(begin)):
	case <-ctx.Done():
	}
	s.sync(ctx)
}
