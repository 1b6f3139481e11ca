package profile

import (
	"path"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// clockSlack is how far a tracer's clock may be from that of the run's marks.
const clockSlack = 2 * time.Millisecond

// attribute says in which phase and call a record's effect was: by the birth of
// its task, else by the record's own time. A record may come into the log later
// than the mark of the next call.
func (b *Builder) attribute(e *finding.Effect, r *trace.Record) {
	t := b.task(r.Tid)
	e.Actor = path.Base(t.exe)
	if t.call > 0 && (t.call != b.call || t.early) {
		// Born in a call, and before it was answered: its work stays that call's.
		e.Phase, e.Call = finding.PhaseCall, t.call
		return
	}
	e.Background = t.call == 0
	at := b.intervalOf(r)
	e.Phase, e.Call = at.phase, at.call
	e.Ambiguous = at.call > 0 && at.replied > 0 && r.Time > at.replied
}

// intervalOf is the interval in which a record's system call was made: the current one,
// or an earlier one where the record's time says that it came into the log late.
func (b *Builder) intervalOf(r *trace.Record) interval {
	if n := len(b.timeline); n > 0 && r.Time > 0 && r.Time < b.timeline[n-1].at-clockSlack {
		return b.intervalAt(r.Time)
	}
	return interval{phase: b.phase, call: b.call, replied: b.replied}
}

// background finds what a task of the server's does whether it is called or not:
// what it did between calls, it may have done in a call on its own account, too.
func (b *Builder) background() {
	type doing struct {
		kind          finding.EffectKind
		target, actor string
	}
	between := map[doing]bool{}
	for _, e := range b.out.Effects {
		if e.Phase == finding.PhaseIdle && e.Background {
			between[doing{e.Kind, e.Target, e.Actor}] = true
		}
	}
	for i := range b.out.Effects {
		e := &b.out.Effects[i]
		if e.Call > 0 && e.Background && between[doing{e.Kind, e.Target, e.Actor}] {
			e.Ambiguous = true
		}
	}
}
