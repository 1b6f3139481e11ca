package synth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// ClassOracle is the class of a call whose arguments carry an oracle's input.
const ClassOracle = "oracle"

const (
	// oraclesPerCall is how many oracle inputs a tool gets for each ordinary call.
	oraclesPerCall = 15
	// slowOracles is how many inputs a slow tool gets before all others have their share.
	slowOracles = 2
	// shareTime is the time for each tool that the shares of all kinds may take beyond
	// Config.OracleTime, and leastShareTime that of all tools together: the only tool of a
	// server may well be slow. Two minutes and 25 seconds are enough for the sixty inputs of a tool
	// of ten arguments where each takes two seconds, or of three arguments where each takes six.
	shareTime, leastShareTime = 10 * time.Second, 2 * time.Minute
	// placesPerCall is how many of a tool's arguments get attack inputs for each ordinary call:
	// with as many, the inputs of oraclesPerCall are one of each oracle for each.
	placesPerCall, leastPlaces = 3, 24
)

// The kinds of inputs that are no oracle's alone.
const (
	kindArguments = "undeclared arguments"
	kindLiterals  = "literals of the source"
	kindPrefixes  = "inputs behind a prefix"
	kindInner     = "inputs within an object or a JSON text"
	kindGuarded   = "inputs behind a test of the source"
)

// probeInput is one oracle input for one tool.
type probeInput struct {
	args json.RawMessage
	in   []session.Injection
	// prefixed says that a literal of the source stands before the input.
	prefixed bool
	// inner says that it lies within an object or a JSON text of no schema.
	inner bool
	// guarded says that the other arguments pass a test of the source.
	guarded bool
}

// kind is what the inputs of a tool are shared out by.
func (p *probeInput) kind() string {
	switch {
	case len(p.in) == 0:
		return kindLiterals
	case p.prefixed:
		return kindPrefixes
	case p.inner:
		return kindInner
	case p.guarded:
		return kindGuarded
	case len(p.in) > 1:
		return kindArguments
	}
	return p.in[0].Oracle
}

// shown is what the first of some inputs proves and the others no more: an oracle's at one argument.
// What the source's literals and tests lead to counts once for each kind.
func (p *probeInput) shown() string {
	kind := p.kind()
	if len(p.in) != 1 || p.prefixed || p.guarded || p.in[0].Undeclared {
		return kind
	}
	return strings.Join([]string{kind, p.in[0].Oracle, p.in[0].At}, "\x00")
}

// oracleQueue is what one tool is still to be given.
type oracleQueue struct {
	t *target
	// share has one input of each kind, and then one of each oracle for each argument; rest has
	// the others, the most promising first.
	share, rest []probeInput
	// through says that the tool took the latest input without an error.
	through bool
}

// oracles gives every tool its oracle inputs. One of each kind comes first, and one of each
// oracle for each argument, in turns: each tool one before any tool the next, and undeclared tools
// between them. The time that is left goes to the tools that take such inputs.
func (d *driver) oracles() {
	w := d.cfg.World
	if w == nil || d.stopped != nil {
		return
	}
	d.oraclesFrom = d.cfg.Now()
	end := d.oraclesFrom.Add(d.cfg.OracleTime)
	queues := d.oracleQueues()
	hidden := d.hiddenTools()
	d.shares(queues, hidden, end.Add(max(leastShareTime, time.Duration(len(queues))*shareTime)))
	d.unshared(queues, hidden)
	d.promising(queues, end)
	for _, q := range queues {
		if q.t.hangs() {
			q.t.unmade += len(q.share) + len(q.rest)
		}
	}
	if d.stopped != nil {
		return
	}
	d.takeBack()
	d.relistingOracles = 0 // the last listing is never left out
	d.relist(Call{N: d.n, Class: ClassOracle})
}

// oracleQueues plans the inputs of all tools. Each tool begins with another kind, so
// that none is left out of all tools where the time ends early.
func (d *driver) oracleQueues() []*oracleQueue {
	var out []*oracleQueue
	for i, t := range order(d.tools) {
		if t.base != nil { // a tool that waits as long as it is told answers to what worked
			t.excused = t.cover.Timeouts
		}
		plan := d.oraclePlan(t)
		t.cover.OraclesPlanned = len(plan)
		out = append(out, queueOf(t, plan, i))
	}
	return out
}

// queueOf sorts the inputs of a tool; the share begins with the kind of number first.
func queueOf(t *target, plan []probeInput, first int) *oracleQueue {
	q := &oracleQueue{t: t}
	var kinds, arguments []probeInput
	seen := map[string]bool{}
	for _, p := range plan {
		// No kind has the form of what is shown at an argument.
		kind, shown := p.kind(), p.shown()
		switch {
		case !seen[kind]:
			kinds = append(kinds, p)
		case !seen[shown]:
			arguments = append(arguments, p)
		default:
			q.rest = append(q.rest, p)
		}
		seen[kind], seen[shown] = true, true
	}
	if n := len(kinds); n > 0 {
		kinds = slices.Concat(kinds[first%n:], kinds[:first%n])
	}
	q.share = slices.Concat(kinds, arguments)
	return q
}

// shares gives each tool its share. Slow tools wait until the others have
// theirs; a part of the undeclared tools follows each round.
func (d *driver) shares(queues []*oracleQueue, hidden *hiddenCalls, end time.Time) {
	for _, slow := range []bool{false, true} {
		for round := 0; ; round++ {
			left := 0
			for _, q := range queues {
				wait := !slow && q.t.slow && round >= slowOracles
				if len(q.share) == 0 || wait || q.t.leftAlone() {
					continue
				}
				if !d.more() || d.cfg.Now().After(end) {
					return
				}
				p := q.share[0]
				q.share = q.share[1:]
				d.try(q, p)
				left = max(left, len(q.share))
			}
			if !d.callHidden(hidden, left, end) {
				return
			}
			if left == 0 {
				break
			}
		}
	}
}

// promising spends what is left of the time: a tool that took its latest input
// without an error gets twice as many of the next as one that refused it.
func (d *driver) promising(queues []*oracleQueue, end time.Time) {
	for round := 0; ; round++ {
		left := false
		for _, q := range queues {
			if len(q.rest) == 0 || q.t.leftAlone() || q.t.slow {
				continue
			}
			left = true
			if !q.through && round%2 == 1 {
				continue
			}
			if d.stopped != nil || d.cfg.Now().After(end) || !d.more() {
				return
			}
			p := q.rest[0]
			q.rest = q.rest[1:]
			d.try(q, p)
		}
		if !left {
			return
		}
	}
}

// try makes the call of one input.
func (d *driver) try(q *oracleQueue, p probeInput) {
	c := Call{What: WhatTool, Tool: q.t.name, Args: p.args, Class: ClassOracle, Oracles: p.in}
	q.through = d.carryOut(q.t, c, 1) == OK
	q.t.cover.OraclesTried++
	if len(p.in) == 1 && p.in[0].Oracle == session.OraclePrototype && q.through {
		d.readBack(p.in[0].Token)
	}
}

// maxReaders bounds the tools that are asked for what a prototype lends.
const maxReaders = 2

// readBack asks tools that take a way through objects for what a changed prototype lends to an object that nobody
// changed, and first for what none can lend.
func (d *driver) readBack(token string) {
	asked := 0
	for _, t := range order(d.tools) {
		if asked == maxReaders || d.stopped != nil || !d.more() {
			return
		}
		if t.base == nil || t.leftAlone() {
			continue
		}
		args, control, in, ok := oracle.Inherited(d.baseOf(t), token)
		if !ok {
			continue
		}
		asked++
		other := in
		other.Context = session.PrototypeControl
		d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: control, Class: ClassOracle, Oracles: []session.Injection{other}}, 1)
		d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: args, Class: ClassOracle, Oracles: []session.Injection{in}}, 1)
	}
}

// leftAlone says that a tool is not called any more.
func (t *target) leftAlone() bool { return t.gone || t.hangs() }

// hangs says that a tool has not answered so often that it is left alone.
func (t *target) hangs() bool { return t.cover.Timeouts-t.excused >= maxTimeouts }

// oraclePlan lists a tool's inputs: each place gets its next before any place
// the one after.
func (d *driver) oraclePlan(t *target) []probeInput {
	base := d.baseOf(t)
	n := 0
	token := func(int) string {
		n++
		return oracle.Token(d.cfg.Seed, t.name, n)
	}
	out := d.wholeInputs(base, token)
	most := oraclesPerCall*d.cfg.Calls - len(out)
	places, beyond := d.placesOf(base)
	missing := d.absentOf(t)
	room := min(len(missing), max(0, d.mostPlaces()-len(places)))
	t.beyond = beyond + len(missing) - room
	most = max(most, oracle.Oracles()*len(places))
	out = append(out, readerInputs(base, places, token)...)
	out = append(out, d.entityInputs(t, base, places, token)...)
	out = append(out, d.archiveInputs(t, base, places)...)
	out = append(out, placed(base, places, oracle.Count(), most, d.oracleAt(t, token))...)
	out = append(out, d.absentInputs(t, missing[:room], token)...)
	out = append(out, d.guardedInputs(t, base, token)...)
	out = append(out, d.statementInputs(base, places, token)...)
	out = append(out, d.prefixedInputs(base, places, token)...)
	out = append(out, d.innerInputs(base, token)...)
	return append(out, d.literalInputs(base, places)...)
}

// readerInputs are whole command lines of programs that read, with options by which they write.
func readerInputs(base json.RawMessage, places []oracle.Place, token func(int) string) []probeInput {
	places = slices.DeleteFunc(slices.Clone(places), func(p oracle.Place) bool { return !oracle.TakesCommand(p) })
	return placed(base, places, oracle.Readers(), oracle.Readers(), func(k int, _ oracle.Place) oracle.Input { return oracle.Reader(k, token(k)) })
}

// entityInputs are XML documents with external entities, for each place that takes a document.
func (d *driver) entityInputs(t *target, base json.RawMessage, places []oracle.Place, token func(int) string) []probeInput {
	var out []probeInput
	for _, p := range places {
		if !oracle.TakesXML(p, describedAs(t, p.Name)) {
			continue
		}
		for _, in := range oracle.Entities(d.cfg.World, p.Value, token(0)) {
			in.At = p.At
			if args, ok := oracle.Put(base, p.At, in.Text); ok {
				out = append(out, probeInput{args: args, in: []session.Injection{in.Injection}})
			}
		}
	}
	return out
}

// maxStatements bounds a tool's inputs for statements.
const maxStatements = 24

// statementInputs put parts of statements into each place, where there is a service to be told.
func (d *driver) statementInputs(base json.RawMessage, places []oracle.Place, token func(int) string) []probeInput {
	if len(d.cfg.World.Services) == 0 {
		return nil
	}
	return placed(base, places, oracle.Statements, maxStatements, func(k int, p oracle.Place) oracle.Input { return oracle.Statement(k, p.Name, token(k)) })
}

const (
	// maxPrefixed bounds a tool's inputs behind prefixes, and perPrefix those of one place.
	maxPrefixed = 16
	perPrefix   = 2
)

// prefixText is a literal behind which something else is to follow, as "exec:".
var prefixText = lazyregexp.New(`^[A-Za-z@!#/][\w./-]{0,20}(?:[:=|>!#@]|://|: )$|^[!#@>:/]{1,2}$`)

// prefixedInputs put likely inputs behind the literals of the source that look like the
// beginning of a value: code that asks how a text begins does something with its rest.
func (d *driver) prefixedInputs(base json.RawMessage, places []oracle.Place, token func(int) string) []probeInput {
	var out []probeInput
	for _, prefix := range d.cfg.Hints.Literals.Texts {
		if !prefixText.MatchString(prefix) {
			continue
		}
		for _, p := range places {
			for _, in := range oracle.Bare(d.cfg.World, oracle.MeaningOf(p.Name), perPrefix, token) {
				in.At = p.At
				if args, ok := oracle.Put(base, p.At, prefix+in.Text); ok && len(out) < maxPrefixed {
					out = append(out, probeInput{args: args, in: []session.Injection{in.Injection}, prefixed: true})
				}
			}
		}
	}
	return out
}

// maxInnerInputs bounds a tool's inputs within objects and JSON texts.
const maxInnerInputs = 16

// innerInputs put likely inputs into what the schema says nothing of.
func (d *driver) innerInputs(base json.RawMessage, token func(int) string) []probeInput {
	var out []probeInput
	for _, p := range oracle.Inners(base, d.cfg.Words) {
		for _, in := range oracle.Bare(d.cfg.World, oracle.MeaningOf(p.Name), 1, token) {
			in.At = p.At
			if args, ok := p.Put(in.Text); ok && len(out) < maxInnerInputs {
				out = append(out, probeInput{args: args, in: []session.Injection{in.Injection}, inner: true})
			}
		}
	}
	return out
}

// literalInputs put each likely literal of the server's source into each place:
// what it compares with may be what it waits for.
func (d *driver) literalInputs(base json.RawMessage, places []oracle.Place) []probeInput {
	var out []probeInput
	texts := d.cfg.Hints.Literals.Texts
	for _, text := range texts[:min(len(texts), likely)] {
		for _, p := range places {
			if args, ok := oracle.Put(base, p.At, text); ok && len(out) < likely {
				out = append(out, probeInput{args: args})
			}
		}
	}
	return out
}

// wholeInputs are those that add to the arguments as a whole.
func (d *driver) wholeInputs(base json.RawMessage, token func(int) string) []probeInput {
	var out []probeInput
	if args, in, ok := oracle.Extra(base, d.cfg.World, d.cfg.Words, token); ok {
		out = append(out, probeInput{args: args, in: in})
	}
	for k := range oracle.Prototypes {
		if args, in, ok := oracle.Prototype(base, k, token(k)); ok {
			out = append(out, probeInput{args: args, in: []session.Injection{in}})
		}
	}
	return out
}

// hiddenCalls are the calls of tools that were never declared: likely ones, and those
// that the source or the texts of the declarations name.
type hiddenCalls struct {
	names    []string // not called yet
	declared []string
	called   int
	tokens   int
}

func (d *driver) hiddenTools() *hiddenCalls {
	h := &hiddenCalls{}
	if d.cfg.Only != "" {
		return h
	}
	for _, t := range d.tools {
		h.declared = append(h.declared, t.name)
	}
	for _, name := range oracle.HiddenTools(d.cfg.Seed, h.declared, slices.Concat(d.cfg.Words, mentioned(d.cfg.Surface))) {
		if !slices.Contains(d.cfg.Skip, name) { // an earlier start ended at it
			h.names = append(h.names, name)
		}
	}
	return h
}

// callHidden calls a part of the undeclared tools, all of them where rounds is 0: that is
// how many rounds are still to come. It reports whether there is time for more.
func (d *driver) callHidden(h *hiddenCalls, rounds int, end time.Time) bool {
	token := func(int) string {
		h.tokens++
		return oracle.Token(d.cfg.Seed, "a tool of no declaration", h.tokens)
	}
	for n := (len(h.names) + rounds) / (rounds + 1); n > 0; n-- {
		if !d.more() || d.cfg.Now().After(end) {
			return false
		}
		name, k := h.names[0], h.called
		h.names, h.called = h.names[1:], h.called+1
		args, in := json.RawMessage(`{}`), []session.Injection(nil)
		if k > 0 {
			args, in, _ = oracle.Extra(args, d.cfg.World, nil, token)
		}
		t := &target{what: WhatTool, name: name, cover: Coverage{Name: name}}
		d.carryOut(t, Call{What: WhatTool, Tool: name, Args: args, Class: ClassOracle, Oracles: append([]session.Injection{oracle.HiddenTool(k)}, in...)}, 1)
	}
	return d.stopped == nil
}

// String names a call for a reader.
func (c Call) String() string { return fmt.Sprintf("%s %s %s", c.What, c.Tool, c.Args) }
