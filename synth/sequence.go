package synth

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"
	"github.com/leanovate/gopter/gen"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ClassSequence is the class of a call within a sequence: what it does may hang
// on the calls before it.
const ClassSequence = "sequence"

const (
	// sequenceLen is how many commands one sequence has.
	sequenceLen = 6
	// sequenceShare is the time for all sequences, in parts of the oracles', and
	// maxSequences their number. Where that is less than sequenceCall for each planned call, they get that.
	sequenceShare = 0.4
	maxSequences  = 8
	sequenceCall  = 250 * time.Millisecond
	// makerRank is the highest rank of a tool that makes something new.
	makerRank = 2
)

// idName matches arguments that name something which another tool made.
var idName = lazyregexp.New(`(?i:(^|[_-])(id|uuid|handle|token|session|ref|reference|cursor|number|key)s?$)|[a-z](Id|ID|Handle|Token|Ref|Key)$`)

// sequence is the system that one sequence runs against: the server, and what
// it named since the sequence began.
type sequence struct {
	d    *driver
	end  time.Time
	left *int
	// made are the newest values by the name under which they were answered.
	made map[string]string
}

// bounded is a sequence of at most so many calls, in so much time.
func (d *driver) bounded(calls int, most time.Duration) *sequence {
	return &sequence{d: d, end: d.cfg.Now().Add(most), left: &calls, made: map[string]string{}}
}

// forget begins the sequence anew: what was made before is not used.
func (s *sequence) forget() { clear(s.made) }

// stage is the model's state: whether something was made that can be used.
type stage struct{ made bool }

// sequences makes tools use what was just made, several times and in any
// order, and makes the same call twice where a tool says that this changes
// nothing. Together they take no more calls than one ordinary drive gives to
// the tools that take part.
func (d *driver) sequences() {
	if d.stopped != nil {
		return
	}
	makers, users, same := d.parts()
	if len(users) == 0 {
		makers = nil
	}
	if len(makers) == 0 {
		users = nil
	}
	taking := len(makers) + len(users) + len(same)
	if taking == 0 {
		return
	}
	left := d.cfg.Calls * taking
	planned := min(left, maxSequences*sequenceLen) + 2*len(same)
	end := d.cfg.Now().Add(max(time.Duration(sequenceShare*float64(d.cfg.OracleTime)), time.Duration(planned)*sequenceCall))
	for _, t := range same {
		(&sequence{d: d, end: end, left: &left}).twice(t)
	}
	model := &commands.ProtoCommands{
		NewSystemUnderTestFunc: func(commands.State) commands.SystemUnderTest {
			return &sequence{d: d, end: end, left: &left, made: map[string]string{}}
		},
		InitialStateGen: gen.Const(stage{}),
		GenCommandFunc:  chooser(makers, users, same),
	}
	params := gopter.DefaultTestParametersWithSeed(d.seed(&target{what: ClassSequence}))
	params.MinSuccessfulTests, params.MinSize, params.MaxSize, params.MaxShrinkCount = min(maxSequences, max(1, left/sequenceLen)), sequenceLen, sequenceLen, 0
	defer func() {
		if d.sequencesCut {
			d.shortfall(session.GapSequencesIncomplete, "", "sequences of calls were not completed: there was no time for all of them")
		}
	}()
	if r := commands.Prop(model).Check(params); r.Error != nil {
		d.shortfall(session.GapSequencesIncomplete, "", "sequences of calls were not completed: %v", r.Error)
	}
}

// parts are the tools that make something, those that take what was made, and
// those for which the same call twice is said to be the same as once.
func (d *driver) parts() (makers, users, same []*target) {
	for _, t := range order(d.tools) {
		if t.base == nil || t.gone || t.slow || t.cover.Timeouts > 0 {
			continue
		}
		takes := len(idsOf(t.base)) > 0
		switch {
		case takes:
			users = append(users, t)
		case t.rank <= makerRank:
			makers = append(makers, t)
		}
		if a := t.decl.Annotations; a != nil && a.Idempotent != nil && *a.Idempotent {
			same = append(same, t)
		}
	}
	return makers, users, same
}

// chooser draws the next command: nothing is used before something is made,
// and what was made is used more often than something new is made.
func chooser(makers, users, same []*target) func(commands.State) gopter.Gen {
	const makerWeight, userWeight, sameWeight = 1, 4, 1
	return func(s commands.State) gopter.Gen {
		st, _ := s.(stage)
		var list []gen.WeightedGen
		add := func(weight int, of []*target, command func(*target) *commands.ProtoCommand) {
			if len(of) == 0 {
				return
			}
			list = append(list, gen.WeightedGen{Weight: weight, Gen: gen.IntRange(0, len(of)-1).Map(func(i int) *commands.ProtoCommand { return command(of[i]) })})
		}
		add(makerWeight, makers, makeOne)
		add(sameWeight, same, callTwice)
		if st.made {
			add(userWeight, users, useOne)
		}
		return gen.Weighted(list)
	}
}

func makeOne(t *target) *commands.ProtoCommand {
	return command("make with "+t.name, func(s *sequence) { s.make(t, t.base) }, func(stage) stage { return stage{made: true} })
}

func useOne(t *target) *commands.ProtoCommand {
	c := command("use with "+t.name, func(s *sequence) { s.call(t, s.filled(t.base)) }, nil)
	c.PreConditionFunc = func(s commands.State) bool { st, ok := s.(stage); return ok && st.made }
	return c
}

func callTwice(t *target) *commands.ProtoCommand {
	return command("call twice "+t.name, func(s *sequence) { s.twice(t) }, nil)
}

// twice makes the same call twice in a row.
func (s *sequence) twice(t *target) {
	args := s.filled(t.base)
	if s.repeat(t, args, 0) {
		s.repeat(t, args, s.d.n)
	}
}

// command is one command of the model; next is nil where the state stays.
func command(name string, run func(*sequence), next func(stage) stage) *commands.ProtoCommand {
	return &commands.ProtoCommand{Name: name,
		RunFunc: func(sut commands.SystemUnderTest) commands.Result {
			if s, ok := sut.(*sequence); ok {
				run(s)
			}
			return nil
		},
		NextStateFunc: func(s commands.State) commands.State {
			if st, ok := s.(stage); ok && next != nil {
				return next(st)
			}
			return s
		},
	}
}

// make calls a tool and keeps what its answer names; of several of one name the first.
func (s *sequence) make(t *target, args json.RawMessage) {
	made := map[string]string{}
	s.d.heard = func(name, value string) {
		if _, have := made[plainName(name)]; !have {
			made[plainName(name)] = value
		}
	}
	s.call(t, args)
	s.d.heard = nil
	maps.Copy(s.made, made)
}

// call makes one call, if there is one left.
func (s *sequence) call(t *target, args json.RawMessage, in ...session.Injection) {
	s.carryOut(t, Call{Args: args, Oracles: in})
}

// callWith is call with one of some arguments replaced, for the input that an oracle puts there.
func (s *sequence) callWith(t *target, args map[string]any, name string, value any, in session.Injection) {
	given := maps.Clone(args)
	given[name], in.At = value, "/"+session.EscapePointer(name)
	if raw, err := json.Marshal(given); err == nil {
		s.call(t, raw, in)
	}
}

// repeat is call for one that repeats another, if that is not 0. It reports
// whether the call was made.
func (s *sequence) repeat(t *target, args json.RawMessage, other int) bool {
	return s.carryOut(t, Call{Args: args, Repeats: other})
}

func (s *sequence) carryOut(t *target, c Call) bool {
	if *s.left <= 0 || t.gone || t.cover.Timeouts >= maxTimeouts || !s.d.more() {
		return false
	}
	if s.d.cfg.Now().After(s.end) {
		s.d.sequencesCut = true
		return false
	}
	*s.left--
	c.What, c.Tool, c.Class = WhatTool, t.name, ClassSequence
	s.d.carryOut(t, c, 1)
	return true
}

// idsOf are the members at the top of arguments that name something made elsewhere.
func idsOf(args json.RawMessage) []string {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return nil
	}
	var out []string
	for name, v := range given {
		if v = bytes.TrimSpace(v); idName.MatchString(name) && len(v) > 0 && strings.IndexByte("{[tfn", v[0]) < 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// filled are the arguments with the newest ids for the older ones: those that their names tell, and some others.
func (s *sequence) filled(base json.RawMessage, also ...string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(base, &given) != nil {
		return base
	}
	for _, name := range append(idsOf(base), also...) {
		for _, from := range []string{plainName(name), "id"} {
			if v, ok := s.made[from]; ok {
				given[name] = likeOld(given[name], v)
				break
			}
		}
	}
	out, err := json.Marshal(given)
	if err != nil {
		return base
	}
	return out
}

// plainName is a name without its separators and case.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}
