package custom

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"github.com/coalmine-dev/coalmine/analyze/text"
)

// The bounds on the evaluation of a ledger. They are counted, not timed: the same ledger
// gives the same answers on a slow machine.
const (
	// maxSpent bounds what one rule costs over all entries, in CEL's units, and maxAll what
	// all rules cost: a second, and ten.
	maxSpent = 20_000_000
	maxAll   = 200_000_000
	// MaxMatches bounds the entries of one rule that are kept.
	MaxMatches = 1_000
	maxShown   = 200 // bytes of one member in a text
	maxText    = 600
)

// Match is an entry that a rule speaks of.
type Match struct {
	Rule *Rule
	// Index is the entry's place in its list.
	Index int
	// Text is the rule's text for the entry, in one line of at most 600 bytes.
	Text string
}

// Failure says what a rule could not tell. The entries after it were not looked at.
type Failure struct {
	Rule *Rule
	// Why is a sentence's end, without a word of an entry's.
	Why string
}

// Eval holds the entries of a ledger against every rule, in the order of the rules and
// of the entries. The same ledger gives the same answers.
func (s *Set) Eval(l *Ledger) ([]Match, []Failure) {
	if s == nil {
		return nil, nil
	}
	vs := values{}
	lists := map[Collection][]*object{
		Effects: objects(vs, l.Effects), Claims: objects(vs, l.Claims), Calls: objects(vs, l.Calls), Findings: objects(vs, l.Findings),
	}
	var matches []Match
	var failures []Failure
	left := uint64(maxAll)
	for _, r := range s.Rules {
		got, spent, why := r.over(lists[r.Over], min(maxSpent, left))
		left -= min(spent, left)
		matches = append(matches, got...)
		if why != "" {
			failures = append(failures, Failure{r, why})
		}
	}
	return matches, failures
}

func objects[T any](vs values, list []*T) []*object {
	out := make([]*object, len(list))
	for i := range list {
		out[i] = vs.of(reflect.ValueOf(list[i]))
	}
	return out
}

// over holds a list against one rule, at a cost of so much.
func (r *Rule) over(list []*object, most uint64) (out []Match, spent uint64, failure string) {
	for i, entry := range list {
		is, cost, err := r.speaks(entry)
		spent += cost
		switch {
		case err != nil:
			return out, spent, fmt.Sprintf("failed at the %s number %d of %d: %v", r.Over, i+1, len(list), err)
		case spent > most:
			return out, spent, fmt.Sprintf("was stopped at the %s number %d of %d: it costs too much", r.Over, i+1, len(list))
		case !is:
			continue
		case len(out) == MaxMatches:
			return out, spent, fmt.Sprintf("speaks of more than %d entries: the rest was left out", MaxMatches)
		}
		out = append(out, Match{r, i, r.say(entry)})
	}
	return out, spent, ""
}

var (
	errCost   = errors.New("the expression costs too much")
	errAnswer = errors.New("it gave no answer")
)

// speaks asks a rule about one entry.
func (r *Rule) speaks(entry *object) (is bool, cost uint64, err error) {
	out, details, err := r.when.Eval(map[string]any{string(r.Over): entry})
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	var ended interpreter.EvalCancelledError
	switch {
	case errors.As(err, &ended) && ended.Cause == interpreter.CostLimitExceeded:
		return false, cost, errCost
	case err != nil:
		return false, cost, errors.New(explain(err))
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, cost, errAnswer
	}
	return bool(b), cost, nil
}

// explain says why an expression failed, without what the library quotes of the entry.
func explain(err error) string {
	for _, known := range []string{"no such key", "no such overload", "index out of bounds", "division by zero", "modulus by zero", "integer overflow"} {
		if strings.Contains(err.Error(), known) {
			return known
		}
	}
	return errAnswer.Error()
}

// say makes a rule's text for an entry.
func (r *Rule) say(entry *object) string {
	var b strings.Builder
	for _, p := range r.text {
		if p.member == nil {
			b.WriteString(p.words)
			continue
		}
		out, _, err := p.member.Eval(map[string]any{string(r.Over): entry})
		if err != nil {
			out = types.String("?")
		}
		b.WriteString(text.Printable(show(out), maxShown))
	}
	return text.Printable(b.String(), maxText)
}

// show is a member in words.
func show(v ref.Val) string {
	switch v := v.(type) {
	case types.String:
		return string(v)
	case types.Int:
		return strconv.FormatInt(int64(v), 10)
	case types.Bool:
		return strconv.FormatBool(bool(v))
	case traits.Lister:
		var words []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			words = append(words, show(it.Next()))
		}
		return strings.Join(words, " ")
	}
	return "?"
}
