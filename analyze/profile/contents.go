package profile

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const (
	// fileClockTick is how late the clock may be from which a file system takes its
	// times (ktime_get_coarse_real_ts64): a tick, at the slowest of a hundred a second.
	fileClockTick = 10 * time.Millisecond
	// fileClockSlack is how far such a time may lie before the moment of the write.
	fileClockSlack = session.FileClock
)

// noiseUnwritten is a file that was opened for writing, and not written.
const noiseUnwritten = "unwritten"

// contents is what the files themselves tell: how they differ from what they were before
// the server started, and when they were changed last. A log without EventCompared tells
// nothing of the kind, and then system calls alone are believed.
type contents struct {
	compared, missed bool
	// changed are the differences, by path, in order.
	changed map[string]*difference
	order   []string
	// timed is when a file was changed last, as it was found at several moments.
	timed map[string][]timed
	// writes are the successful changes of a path by system calls, removals those that
	// took it away, attributes those of its links and attributes.
	writes               map[string][]write
	removals, attributes map[string]bool
	// movedFrom and movedTo are what was renamed: all below it went along.
	movedFrom, movedTo map[string]bool
	// opens are effects of which all that is known is that a file was opened for
	// writing, by their index; a nil one is a change by other means as well.
	opens map[int]*opens
	// pending are effects that are added if the file turns out to have changed.
	pending []pending
}

// difference is an EventChanged and its moment.
type difference struct {
	session.EventChanged
	seen time.Duration
}

// timed says that at a moment a file had been changed last at another.
type timed struct{ seen, at time.Duration }

// write is a successful change of a file; mere says that it was only opened for it.
type write struct {
	at   time.Duration
	mere bool
}

// opens are those of one effect.
type opens struct {
	path string
	at   []time.Duration
}

// pending is an effect of a call that may have changed a file.
type pending struct {
	path   string
	at     time.Duration
	effect finding.Effect
}

// maxOpens bounds the opens of one effect, maxPending the effects in waiting.
const maxOpens, maxPending = 64, 1000

func newContents() contents {
	return contents{
		changed: map[string]*difference{}, timed: map[string][]timed{}, writes: map[string][]write{}, removals: map[string]bool{}, attributes: map[string]bool{},
		movedFrom: map[string]bool{}, movedTo: map[string]bool{}, opens: map[int]*opens{},
	}
}

// event takes what the agent says of files.
func (c *contents) event(ev *session.Event) {
	switch e := ev.Body.(type) {
	case session.EventCompared:
		c.compared = true
	case session.EventChanged:
		if len(c.changed) < maxEffects && c.changed[e.Path] == nil {
			c.changed[e.Path] = &difference{e, ev.Stamp}
			c.order = append(c.order, e.Path)
		}
	case session.EventLastWrite:
		if len(c.timed) < maxEffects {
			c.timed[e.Path] = append(c.timed[e.Path], timed{ev.Stamp, e.At})
		}
	case session.EventLoss:
		c.missed = c.missed || e.Code == session.GapFilesNotCompared
	}
}

// did takes a successful change of a file, which is the effect at an index where that is
// not negative.
func (c *contents) did(r *trace.Record, kind finding.EffectKind, p string, i int) {
	switch {
	case len(c.writes)+len(c.removals)+len(c.attributes) > maxEffects:
		return
	case kind == finding.FileDelete:
		c.removals[p] = true
		return
	case kind == finding.FileMeta:
		c.attributes[p] = true
		return
	}
	mere := isMereOpen(r)
	c.writes[p] = append(c.writes[p], write{r.Time, mere})
	if i < 0 {
		return
	}
	o, known := c.opens[i]
	switch {
	case !mere || known && (o == nil || len(o.at) >= maxOpens):
		c.opens[i] = nil
	case known:
		o.at = append(o.at, r.Time)
	default:
		c.opens[i] = &opens{p, []time.Duration{r.Time}}
	}
}

// moved takes a rename.
func (c *contents) moved(r *trace.Record, from, to string) {
	if !r.OK() || len(c.movedFrom) > maxEffects {
		return
	}
	c.movedFrom[from], c.movedTo[to] = true, true
	if strings.Contains(r.Flags, "RENAME_EXCHANGE") {
		c.movedFrom[to], c.movedTo[from] = true, true
	}
}

// isMereOpen reports whether a call opened a file for writing and did nothing else to it.
func isMereOpen(r *trace.Record) bool {
	return r.Op == trace.OpOpen && r.Call != "creat" && !strings.Contains(r.Flags, "O_TRUNC") && !strings.Contains(r.Flags, "O_EXCL")
}

// wait keeps an effect until it is known whether the file changed.
func (c *contents) wait(p string, at time.Duration, e finding.Effect) {
	if len(c.pending) < maxPending {
		c.pending = append(c.pending, pending{p, at, e})
	}
}

// unwritten reports whether nothing was written by an open of a moment: the file had been
// changed last before it when it was looked at next, and if it was changed after that,
// another call can have done it.
func (c *contents) unwritten(p string, opened time.Duration) bool {
	if !c.compared || c.missed {
		return false
	}
	list := c.timed[p]
	i := slices.IndexFunc(list, func(t timed) bool { return t.seen >= opened })
	if i < 0 || list[i].at >= opened-fileClockSlack {
		return false
	}
	last := list[len(list)-1].at
	if d := c.changed[p]; d != nil {
		if d.At == 0 {
			return false // by a mapping of memory, or nobody knows when
		}
		last = max(last, d.At)
	}
	return last < opened-fileClockSlack || slices.ContainsFunc(c.writes[p], func(w write) bool {
		return w.at > opened && w.at >= list[i].seen && w.at <= last+fileClockSlack
	})
}

// explains reports whether a system call is known that can have made a difference.
func (c *contents) explains(d *difference) bool {
	p := d.Path
	removed := c.removals[p] || isBelow(p, c.movedFrom)
	if d.Change == session.ChangeDeleted {
		return removed
	}
	written := isBelow(p, c.movedTo) || slices.ContainsFunc(c.writes[p], func(w write) bool { return !w.mere || !c.unwritten(p, w.at) })
	switch d.Change {
	case session.ChangeWritten, session.ChangeTruncated:
		return written
	case session.ChangeTouched:
		return true
	}
	return written || removed || c.attributes[p]
}

// isBelow reports whether a path, or a directory around it, is one of a set.
func isBelow(p string, set map[string]bool) bool {
	for ; len(p) > 1; p = path.Dir(p) {
		if set[p] {
			return true
		}
	}
	return false
}

// compareContents has the files' contents decide on what system calls leave open: what was opened
// for writing and not written is no change, and what changed without a call is one.
func (b *Builder) compareContents() {
	c := &b.contents
	for i, o := range c.opens {
		e := &b.out.Effects[i]
		if o != nil && !slices.ContainsFunc(o.at, func(at time.Duration) bool { return !c.unwritten(o.path, at) }) {
			e.Noise = noiseUnwritten
			b.out.Noise += e.Count
		}
	}
	found := map[string]bool{}
	for _, w := range c.pending {
		if d := c.changed[w.path]; d != nil && (d.Change == session.ChangeDeleted) == (w.effect.Kind == finding.FileDelete) && !c.unwritten(w.path, w.at) {
			class, _ := b.writeNoise(w.path, w.effect.Actor, nil)
			b.add(b.noisy(w.effect, class))
			found[w.path] = true
		}
	}
	for _, p := range c.order {
		if b.out.Differences == nil {
			b.out.Differences = map[string]session.EventChanged{}
		}
		b.out.Differences[p] = c.changed[p].EventChanged
		if d := c.changed[p]; !found[p] && !c.explains(d) {
			b.unseen(d)
		}
	}
}

// unseen adds the effect of a difference that no system call explains.
func (b *Builder) unseen(d *difference) {
	kind, verb := finding.FileWrite, "changed "
	switch d.Change {
	case session.ChangeCreated:
		verb = "created "
	case session.ChangeDeleted:
		kind, verb = finding.FileDelete, "deleted "
	case session.ChangeMode:
		kind, verb = finding.FileMeta, fmt.Sprintf("set the mode %#o of ", d.After.Mode)
	}
	at := d.seen
	if d.At > 0 {
		at = d.At
		// The file's clock is late by a tick: what it puts just before a call was in it.
		if later := at + fileClockTick; b.intervalAt(at).call == 0 && b.intervalAt(later).call > 0 {
			at = later
		}
	}
	class, root := b.writeNoise(d.Path, "", nil)
	if b.ctx.Denied != nil && b.deniedIn(b.intervalAt(at).call, d.Path, true) {
		class = ""
	}
	to := d.Path
	if class != "" {
		to = root
		b.out.Noise++
	}
	ev := finding.Evidence{Source: "event", Time: at, Text: verb + b.short(d.Path) + ", and no system call that did it was seen"}
	b.add(b.noisy(b.put(finding.Effect{Kind: kind, Target: to, Rung: finding.RungOpened, Evidence: []finding.Evidence{ev}}, at), class))
}
