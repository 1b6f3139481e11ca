package agent

import (
	"fmt"
	"math"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// shortestLook and longestLook are the times between two looks at a target that
	// does not rest yet: each is twice as long as the last.
	shortestLook, longestLook = 250 * time.Microsecond, 4 * time.Millisecond
	// never is when a wait ends that has no timeout.
	never = time.Duration(math.MaxInt64)
)

// stillness is what one look at all tasks found.
type stillness struct {
	// busy says that a task runs or is about to, doubt that it cannot be known what
	// one waits for.
	busy, doubt bool
	// due are the sleeps that a timer may end within the window, by task.
	due map[int]sleep
}

// rests says that nothing happens within the window, unless something comes from outside.
func (s *stillness) rests() bool { return !s.busy && !s.doubt && len(s.due) == 0 }

// pending reports whether one of the sleeps goes on that were found at first: a
// timer that was set anew since then is a periodic one.
func (s *stillness) pending(first map[int]sleep) bool {
	for tid, now := range s.due {
		if was, ok := first[tid]; ok && was.runs == now.runs {
			return true
		}
	}
	return false
}

// tellFar tells the nearest moment further away than far for which a task waits, by the look
// before; 0 tells nothing.
func (a *agent) tellFar(far time.Duration) {
	if left, ok := a.rest.beyond(far); ok && far > 0 {
		a.emit(session.EventLoss{Code: session.GapTimerPending, N: 1, Reason: fmt.Sprintf("the server waits for another %s: what it does then was not seen", left.Round(time.Minute))})
	}
}

// awaitRest returns when the target rests: when each of its tasks sleeps, and no timer
// is due within c.Most. It waits c.Most at the longest, and c.Least where rest cannot
// be shown or nothing but periodic timers keep the target from it.
func (a *agent) awaitRest(c Command) {
	begin := clock()
	var first map[int]sleep
	for pause := shortestLook; ; pause = min(2*pause, longestLook) {
		now := a.rest.look(c.Most, c.Sockets)
		now.busy = now.busy || a.stdin.written.Load() < c.Written
		if now.rests() {
			return
		}
		if first == nil {
			first = now.due
		}
		waited := clock() - begin
		left := c.Most - waited
		if !now.busy && !now.pending(first) {
			left = c.Least - waited
		}
		if left <= 0 {
			return
		}
		trace.Pause(min(pause, left))
		select {
		case <-a.finish:
			return
		default:
		}
	}
}
