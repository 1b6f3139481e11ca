package spy

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/bpf"
)

// Outcome is what a watch came to.
type Outcome struct {
	Conversations, Messages int
	// Effects counts what servers did that is not ordinary.
	Effects int
	// Lost counts bytes of conversations, Dropped records of session logs, Cut messages that were too
	// long to be kept whole.
	Lost, Dropped, Cut int64
	// Kernel says what the kernel's side lost, by reason.
	Kernel map[string]uint64
	// Found says that a detector or a rule found more than information.
	Found bool
}

// Complete reports whether nothing was lost.
func (o *Outcome) Complete() bool {
	return o.Lost == 0 && o.Dropped == 0 && o.Cut == 0 && len(o.Kernel) == 0
}

// watch is one run of coalmine spy.
type watch struct {
	o      Options
	out    *bufio.Writer
	engine *reassembly.Engine
	// effects is nil without Options.Effects.
	effects *effects
	// logs are the open session logs by the number of their conversation, closing those of
	// conversations that are over.
	logs    map[int]*session.WireLog
	closing []ending
	began   time.Time // when the kernel's clock stood at 0
	hides   hides
	result  Outcome
	broken  error // the output's first error
}

// Run watches until ctx is done or the time is over.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	c, err := spy.Open(spy.Options{PIDs: o.PIDs, Ring: o.Ring, AnyAddress: o.AnyAddress})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	w := newWatch(o)
	var tracer *bpf.Tracer
	endFollowing := func() {}
	if o.Effects {
		if tracer, err = w.trace(); err != nil {
			return nil, err
		}
		defer tracer.Close()
		endFollowing = w.effects.following(ctx, tracer)
		defer endFollowing() // before the tracer is closed
	}
	var tls *secure
	if o.TLS {
		if tls, err = w.secured(ctx); err != nil {
			return nil, err
		}
		defer tls.reader.Close()
	}
	if !o.KeepRoot {
		if err := spy.Drop(o.UID, o.GID, o.TLS); err != nil {
			w.say("warning: " + err.Error())
		}
	}
	w.engine = reassembly.New(reassembly.Options{Known: spy.Known, Holder: spy.Holder, Alive: spy.Alive, Verdict: tls.judge(c), Emit: w.message, Ended: w.ended})
	if o.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
	}
	stop := context.AfterFunc(ctx, c.Stop)
	defer stop()
	if o.Ready != nil {
		o.Ready()
	}
	err = c.Read(w.take, func(now time.Duration, drained bool) {
		if tls != nil {
			tls.handOn()
		}
		w.engine.Advance(now, drained)
		if w.effects != nil && drained {
			w.effects.advance(now)
			w.closeEnded(now)
		}
		if w.flush() != nil {
			c.Stop()
		}
	})
	w.result.Kernel = c.Lost()
	if tls != nil {
		tls.finish(w.result.Kernel)
	}
	w.engine.Close()
	if tracer != nil {
		endFollowing()
		w.drain(tracer)
		w.effects.finish()
		w.closeEnded(forever)
	}
	w.result.Lost, w.result.Cut = w.engine.Lost, w.engine.Cut
	if err == nil {
		err = w.flush()
	}
	w.tell()
	return &w.result, err
}

// trace begins to trace the servers that will be found.
func (w *watch) trace() (*bpf.Tracer, error) {
	t, err := bpf.Open(bpf.Options{PID: os.Getpid(), Set: trace.Core, Chosen: true, Ring: w.o.Ring})
	if err != nil {
		return nil, fmt.Errorf("watch what servers do: %w", err)
	}
	w.effects = newEffects(w, t)
	t.StartChosen(w.effects.record, w.effects.lose)
	return t, nil
}

// drain waits for what the servers have done by now.
func (w *watch) drain(t *bpf.Tracer) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.Drain(ctx); err != nil {
		w.effects.lose(1, "the last system calls: "+err.Error())
	}
}

// take hands a piece of a stream on.
func (w *watch) take(c *reassembly.Chunk) {
	if w.effects != nil {
		w.effects.try(c.Process.PID)
	}
	w.engine.Take(c)
}

func newWatch(o Options) *watch {
	return &watch{o: o, logs: map[int]*session.WireLog{}, out: bufio.NewWriterSize(o.Out, 64<<10), began: time.Now().Add(-trace.Clock()), hides: o.hides()}
}

// flush writes what was printed so far.
func (w *watch) flush() error {
	if err := w.out.Flush(); err != nil && w.broken == nil {
		w.broken = fmt.Errorf("write what was seen: %w", err)
	}
	return w.broken
}

// tell says what the watch came to.
func (w *watch) tell() {
	r := &w.result
	w.say(fmt.Sprintf("%d messages in %d conversations", r.Messages, r.Conversations))
	if w.effects != nil {
		w.say(fmt.Sprintf("%d effects of servers", r.Effects))
	}
	if r.Lost > 0 {
		w.say(fmt.Sprintf("lost: %d bytes of streams that were followed", r.Lost))
	}
	for _, why := range slices.Sorted(maps.Keys(r.Kernel)) {
		w.say(fmt.Sprintf("lost: %s (%d times)", why, r.Kernel[why]))
	}
	if r.Cut > 0 {
		w.say(fmt.Sprintf("lost: all but the beginnings of %d messages longer than 8 MB", r.Cut))
	}
	if r.Dropped > 0 {
		w.say(fmt.Sprintf("lost: %d records are not in the session logs", r.Dropped))
	}
}
