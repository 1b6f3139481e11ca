package synth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// target is one thing to call.
type target struct {
	what   string
	name   string // a template's own text where there is one
	cover  Coverage
	gen    *schema.Generator
	expand func(args json.RawMessage) (uri string)
	of     client.Completion
	calls  int // how often it is to be called
	gone   bool
	// retry are the refused arguments, corrected as the refusal says.
	retry json.RawMessage
	// plain are the required arguments, to which options, the others, were added one at a time.
	plain   map[string]json.RawMessage
	options map[string]bool
	// inferred is the tool's schema with what refusals asked for beside it, nil for none.
	inferred map[string]any
	// before is the tool that the latest refusal says has to be called before, and refusedWith are
	// the arguments of that call.
	before      *target
	refusedWith json.RawMessage
	additions   int
	rank        int
	said        string // the latest refusal, bounded
	answered    string // the latest answer that others may take, "" for none
	turns       branchTurns
	asks        bool // a service was asked in one of its calls
	slow        bool // a call took long: what bounds its duration is always given
	decl        wire.Tool
	// soft counts the answers that are no errors by their form and say that they are.
	soft int
	// base are arguments with which it succeeded, the fullest; nil for none. baseFrom is the
	// call that had them.
	base     json.RawMessage
	baseFrom int
	// first is its first call as it was planned, nil for none.
	first *Call
	// retryFrom is the call that retry corrects, and schemaFrom are those whose answers
	// changed the schema.
	retryFrom  int
	schemaFrom []int
	// worked says that a call without an attack input succeeded. unmade counts the attack inputs that
	// it did not get because it had stopped answering, beyond the arguments that get none.
	worked         bool
	unmade, beyond int
	// excused are timeouts that do not count against it.
	excused int
	// guards counts the calls that pass tests of the source.
	guards int
	// drawn says that a generator can be made from decl when it is needed.
	drawn bool
	inputs
}

// driver is one drive under way.
type driver struct {
	cfg       Config
	ctx       context.Context
	start     time.Time
	deadline  time.Time
	n         int
	tools     []*target
	byName    map[string]*target
	kept      int // bytes of schemas whose generators are kept
	resources []*target
	prompts   []*target
	complete  []*target
	known     map[string]string
	origins   map[string]int      // the call whose answer held a value first, 0 for the declarations
	unknown   map[string]bool     // values that name nothing, as a refusal said
	addresses map[string][]string // addresses that tools took, as JSON, by the argument's name
	print     [32]byte            // fingerprint of the last listing
	report    Report
	unseen    unseen
	relisting time.Duration
	// The same for the calls that carry an oracle's input, and when they began.
	relistingOracles time.Duration
	oraclesFrom      time.Time
	unlisted         bool
	heard            func(name, value string) // is told what an answer names, nil for nobody
	expressions      []fitted                 // those of the source, once they are compiled
	sequencesCut     bool                     // the time for sequences ended before they did
	guardedCalls     []*guardedCall           // in the order in which they are made
	holding          bool                     // tools that take things away wait (see due)
	skipped          int                      // listings that were left out
	stopped          error
	vain             bool                 // no tool has worked for so long that the rest of the drive is left out
	cut              map[session.Code]int // gaps beyond maxShortfalls
}

var (
	errBudget = errors.New("the time for the drive was used up")
	// ErrCrash says that the server ended.
	ErrCrash = errors.New("the server ended")
)

// Drive calls everything that the surface declares, every tool once before any
// tool twice, and those that take things away after all others. The report is
// complete whatever the error: the error is only that of the context or of the
// configuration.
func Drive(ctx context.Context, cfg Config) (Report, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return Report{}, err
	}
	d := newDriver(ctx, cfg)
	d.prepare()
	d.planFirst()
	d.holding = true
	d.run()
	d.work()
	d.removals()
	d.guarded()
	d.trySource()
	d.documents()
	d.sequences()
	d.tenants()
	d.assignments()
	d.lineBreaks()
	d.signatures()
	d.ciphers()
	d.optOuts()
	d.afterVain()
	d.oracles()
	d.allowing()
	d.rows()
	d.long()
	d.usesAgain()
	d.guardedAgain()
	d.hung()
	d.relisting = 0 // the last listing is never left out
	d.listLast()
	return d.finish(), ctx.Err()
}

func newDriver(ctx context.Context, cfg Config) *driver {
	d := &driver{cfg: cfg, ctx: ctx, start: cfg.Now(), known: declarations(cfg.Surface), print: fingerprint(cfg.Surface), byName: map[string]*target{}}
	if cfg.Budget > 0 {
		d.deadline = d.start.Add(cfg.Budget)
	}
	return d
}

func (d *driver) prepare() {
	d.cfg.Hints.Context = schema.Words(d.cfg.Surface.Server.Name)
	d.dictionary()
	for _, t := range d.cfg.Surface.Tools {
		d.addTool(t)
	}
	d.addOthers(d.cfg.Surface)
	d.addCompletions(d.cfg.Surface)
}

// addTool takes a tool into the drive; a name that is known is brought up to date.
func (d *driver) addTool(t wire.Tool) {
	if have := d.byName[t.Name]; have != nil {
		if have.redeclare(t) {
			have.schemaFrom = append(have.schemaFrom, d.n)
		}
		return
	}
	if len(d.tools) >= maxTools || slices.Contains(d.cfg.Skip, t.Name) || d.cfg.Only != "" && t.Name != d.cfg.Only {
		return
	}
	to := &target{what: WhatTool, name: t.Name, calls: d.cfg.Calls, cover: Coverage{Name: t.Name}, rank: rankOf(t.Name), decl: t, drawn: true}
	to.sourced = !d.cfg.Hints.Literals.Empty()
	d.tools = append(d.tools, to)
	d.byName[t.Name] = to
}

// addOthers takes what is no tool into the drive.
func (d *driver) addOthers(s *wire.Surface) {
	if d.cfg.Only == "" {
		d.addResources(s)
		d.addPrompts(s)
	}
}

// maxKept bounds the schemas whose generators are kept between calls; beyond
// it they are made anew for each.
const maxKept = 16 << 20

// generator is what draws a target's arguments, nil if nothing can.
func (d *driver) generator(t *target) *schema.Generator {
	if t.gen != nil || !t.drawn {
		return t.gen
	}
	gen, err := schema.New(t.schema(), schema.Options{Tool: t.decl.Name, Description: t.decl.Description, Hints: d.cfg.Hints, Object: true})
	if err != nil {
		t.cover.Problem = err.Error()
		return nil
	}
	if notes := gen.Notes(); len(notes) > 0 {
		t.cover.Problem = notes[0]
	}
	if d.kept+len(t.decl.InputSchema) <= maxKept {
		d.kept += len(t.decl.InputSchema)
		t.gen = gen
		t.recount()
	}
	return gen
}

// work calls tools that have had their rounds with what those do not draw.
func (d *driver) work() {
	d.examples()
	d.rescue()
	d.choices()
}

// due says whether it is a tool's turn. One that takes things away waits until the others have had their calls, which
// may need them; in the second half of the time none waits.
func (d *driver) due(t *target) bool {
	if !d.holding {
		return t.rank == takesAway
	}
	late := !d.deadline.IsZero() && d.deadline.Sub(d.cfg.Now()) < d.cfg.Budget/2
	return late || t.rank != takesAway
}

// removals has the tools make their calls that have waited.
func (d *driver) removals() {
	d.holding = false
	for round := 0; round < d.cfg.Calls && d.stopped == nil; round++ {
		d.round(round)
	}
	d.work()
}

// run goes through the rounds. Resources and prompts come after the first. Tools that are
// found when all of them are over have theirs then.
func (d *driver) run() {
	d.rounds()
	if d.listLast() {
		for round := 0; round < d.cfg.Calls && d.stopped == nil; round++ {
			d.round(round)
		}
	}
}

func (d *driver) rounds() {
	for round := 0; round < d.cfg.Calls || round == 0; round++ {
		d.round(round)
		if round == 0 {
			d.each(d.resources)
			d.each(d.prompts)
			d.each(d.complete)
		}
		if d.stopped != nil {
			return
		}
	}
}

// round calls each tool once. Tools that appear meanwhile join at its end.
func (d *driver) round(round int) {
	done := map[*target]bool{}
	for {
		var todo []*target
		for _, t := range order(d.tools) {
			if !done[t] && t.cover.Calls <= round && d.due(t) {
				todo = append(todo, t)
			}
		}
		if len(todo) == 0 {
			return
		}
		for i, t := range todo {
			done[t] = true
			if !d.more() {
				return
			}
			if t.leftAlone() || t.slow && t.cover.OK > 0 && round >= d.slowRounds() {
				continue
			}
			d.call(t, len(todo)-i)
		}
		if round == 0 {
			d.listLast()
		}
	}
}

// leastCalls is how often each tool is called however slow it is.
const leastCalls = 3

// slowRounds is in how many rounds a slow tool is called that has answered: what
// it would do in the others is not worth the time of all.
func (d *driver) slowRounds() int { return max(leastCalls, d.cfg.Calls/3) }

// each calls every target of a list as often as it is to be called.
func (d *driver) each(list []*target) {
	left := 0
	for _, t := range list {
		left += t.calls
	}
	for _, t := range list {
		for k := 0; k < t.calls || (k < t.calls+2 && t.retry != nil && !t.succeeded()); k++ {
			if !d.more() {
				return
			}
			d.call(t, left)
			left--
		}
	}
}

// more says whether there is still a server, and time.
func (d *driver) more() bool {
	switch {
	case d.stopped != nil:
	case d.ctx.Err() != nil:
		d.stopped = d.ctx.Err()
	case !d.deadline.IsZero() && !d.cfg.Now().Before(d.deadline):
		d.stopped = errBudget
		if d.vain {
			d.stopped = errVain
		}
	case !d.vain && d.inVain():
		d.vain, d.stopped = true, errVain
	}
	return d.stopped == nil
}

// timeout is what the next call may take, where left calls are still to be
// made in this round: a few slow tools must not take the time of the others.
func (d *driver) timeout(left int) time.Duration {
	t := d.cfg.CallTimeout
	if d.deadline.IsZero() {
		return t
	}
	rest := d.deadline.Sub(d.cfg.Now())
	share := 4 * rest / time.Duration(max(left, 1))
	return max(min(t, max(share, leastTimeout), rest), time.Millisecond)
}

// seed is a call's own: it depends on the target and on how often it was
// called, never on what else was.
func (d *driver) seed(t *target) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s\x00%d", d.cfg.Seed, t.what, t.name, t.cover.Calls+t.avoided)
	return int64(h.Sum64())
}

// finish writes the report.
func (d *driver) finish() Report {
	r := &d.report
	r.Calls, r.Elapsed = d.n, d.cfg.Now().Sub(d.start)
	for _, list := range []struct {
		from []*target
		to   *[]Coverage
	}{{d.tools, &r.Tools}, {d.resources, &r.Resources}, {d.prompts, &r.Prompts}} {
		for _, t := range list.from {
			d.explain(t)
			t.cover.Inputs, t.cover.Classes = t.counts(), t.classes
			*list.to = append(*list.to, t.cover)
			if t.cover.Calls == 0 {
				r.Unreached = append(r.Unreached, t.what+" "+t.name)
			}
		}
	}
	d.overBounds()
	if d.stopped != nil {
		g := session.Gap{Code: session.GapCallsIncomplete, Text: fmt.Sprintf("not everything was called: %v%s", d.stopped, d.unplayed())}
		if errors.Is(d.stopped, ErrCrash) {
			g.Cause = session.CauseServerEnded
		}
		d.gap(g)
	}
	if d.skipped > 0 {
		d.shortfall(session.GapNotRelisted, "", "the surface was not listed again after %d of %d calls: listing takes too long", d.skipped, d.n)
	}
	d.countCut()
	return *r
}

// explain says why a target was called less often than it was to be.
func (d *driver) explain(t *target) {
	switch {
	case t.cover.Calls >= t.calls:
	case t.gone:
		t.cover.Why = "the server withdrew it"
	case t.cover.Timeouts >= maxTimeouts:
		t.cover.Why = "it did not answer in time"
	case d.stopped != nil:
		t.cover.Why = d.stopped.Error()
	}
}

// overBounds names what lies beyond the bounds of a drive.
func (d *driver) overBounds() {
	s := d.cfg.Surface
	for _, b := range []struct {
		what       string
		have, most int
	}{{"tools", len(s.Tools), maxTools}, {"resources", len(s.Resources), maxResources},
		{"resource templates", len(s.Templates), maxTemplates}, {"prompts", len(s.Prompts), maxPrompts}} {
		if b.have > b.most {
			d.shortfall(session.GapSurfaceTooLarge, "", "only %d of %d %s were called", b.most, b.have, b.what)
		}
	}
}

// maxShortfalls bounds the gaps that are told one by one.
const maxShortfalls = 50

// shortfall notes a gap; tool is what it is about, "" for the whole drive.
func (d *driver) shortfall(code session.Code, tool, format string, args ...any) {
	d.gap(session.Gap{Code: code, Tool: tool, Text: fmt.Sprintf(format, args...)})
}

func (d *driver) gap(g session.Gap) {
	if len(d.report.Shortfalls) < maxShortfalls {
		d.report.Shortfalls = append(d.report.Shortfalls, g)
		return
	}
	if d.cut == nil {
		d.cut = map[session.Code]int{}
	}
	d.cut[g.Code]++
}

// countCut tells of the gaps beyond the bound, one gap of each code: a policy that accepts those
// before the bound accepts none of another kind behind it.
func (d *driver) countCut() {
	for _, code := range slices.Sorted(maps.Keys(d.cut)) {
		d.report.Shortfalls = append(d.report.Shortfalls, session.Gap{Code: code, Text: fmt.Sprintf("not listed one by one: gaps of this kind beyond the first %d of the run: %d", maxShortfalls, d.cut[code])})
	}
}

// outcome reads how a call ended.
func outcome(r client.Result, err error) Outcome {
	switch {
	case err == nil && r.Err == nil && !r.IsError && !r.InputRequired:
		return OK
	case err == nil && r.IsError:
		return IsError
	case errors.Is(err, client.ErrClosed):
		return Crash
	case errors.Is(err, client.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Error
}
