package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sort"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// ErrShrinkBudget says that a sequence could not be made minimal in time.
var ErrShrinkBudget = errors.New("the budget for shrinking was used up")

// Shrinker makes sequences of calls smaller. It remembers what it tried, so that
// it can go on after an error where it was. It is not safe for concurrent use.
type Shrinker struct {
	valid func(Step) bool
	seen  map[string]bool
	// at is where in the list of a step's smaller ones the last success was: what
	// comes next is likelier to succeed than what was tried before it.
	at int
}

// NewShrinker makes a shrinker. valid, if not nil, says which arguments may be tried.
func NewShrinker(valid func(Step) bool) *Shrinker {
	return &Shrinker{valid: valid, seen: map[string]bool{}}
}

// Shrink makes a sequence that shows something smaller, as long as shows says
// that the smaller one shows it too: fewer calls first, then fewer and simpler
// arguments. Without an error the result is locally minimal: none of its parts
// can be left out or made simpler. With one it is the smallest that was seen; the
// sequence of which shows returned an error is tried again the next time.
func (s *Shrinker) Shrink(ctx context.Context, steps []Step, shows func([]Step) (bool, error)) ([]Step, error) {
	s.seen[key(steps)] = true
	shrinker := gen.SliceShrinker(s.stepShrinker)
	for {
		smaller, found := shrinker(steps), false
		for {
			if ctx.Err() != nil {
				return steps, ErrShrinkBudget
			}
			v, ok := smaller()
			if !ok {
				break
			}
			candidate, isSteps := v.([]Step)
			if !isSteps || len(candidate) == 0 || s.seen[key(candidate)] {
				continue
			}
			s.seen[key(candidate)] = true
			again, err := shows(candidate)
			if err != nil {
				delete(s.seen, key(candidate))
				return steps, err
			}
			if again {
				steps, found = candidate, true
				break
			}
		}
		if !found {
			return steps, nil
		}
	}
}

// Shrink is Shrinker.Shrink for one time.
func Shrink(ctx context.Context, steps []Step, valid func(Step) bool, shows func([]Step) (bool, error)) ([]Step, error) {
	return NewShrinker(valid).Shrink(ctx, steps, shows)
}

func key(steps []Step) string {
	raw, err := json.Marshal(steps)
	if err != nil {
		return ""
	}
	return string(raw)
}

// stepShrinker yields a call with simpler arguments.
func (s *Shrinker) stepShrinker(v any) gopter.Shrink {
	step, ok := v.(Step)
	if !ok {
		return gopter.NoShrink
	}
	var list []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(step.Args))
	d.UseNumber()
	var args any
	if d.Decode(&args) == nil {
		simpler(args, func(w any) {
			list = append(list, json.RawMessage(schema.Value{V: w}.String()))
		})
	}
	mustBe := s.valid != nil && s.valid(step)
	from := min(s.at, max(0, len(list)-1))
	i := 0
	return func() (any, bool) {
		for i < len(list) {
			s.at = (from + i) % len(list)
			i++
			next := step
			next.Args = list[s.at]
			if !mustBe || s.valid(next) {
				return next, true
			}
		}
		return nil, false
	}
}

// simpler offers values each of which lacks a part of v, or has a simpler one.
func simpler(v any, offer func(any)) {
	switch v := v.(type) {
	case map[string]any:
		simplerObject(v, offer)
	case []any:
		for i := range v {
			offer(append(append([]any{}, v[:i]...), v[i+1:]...))
		}
		for i := range v {
			simpler(v[i], func(w any) {
				c := append([]any{}, v...)
				c[i] = w
				offer(c)
			})
		}
	case string:
		shorter(v, func(s string) { offer(s) })
	case json.Number:
		for _, n := range []json.Number{"0", "1"} {
			if len(n) < len(v) || n < v && len(n) == len(v) {
				offer(n)
			}
		}
	case bool:
		if v {
			offer(false)
		}
	}
}

func simplerObject(v map[string]any, offer func(any)) {
	names := make([]string, 0, len(v))
	for name := range v {
		names = append(names, name)
	}
	sort.Strings(names)
	without := func(drop map[string]bool) map[string]any {
		c := make(map[string]any, len(v))
		for k, x := range v {
			if !drop[k] {
				c[k] = x
			}
		}
		return c
	}
	for size := max(len(names)/2, 1); size >= 1; size /= 2 {
		for i := 0; i < len(names); i += size {
			drop := map[string]bool{}
			for _, name := range names[i:min(i+size, len(names))] {
				drop[name] = true
			}
			offer(without(drop))
		}
	}
	for _, name := range names {
		simpler(v[name], func(w any) {
			c := without(nil)
			c[name] = w
			offer(c)
		})
	}
}

const (
	// maxShortened bounds the characters that are each tried alone.
	maxShortened = 600
	// leastPiece is the size below which pieces are left out only once no single
	// character can be.
	leastPiece = 8
)

// shorter offers a text without ever smaller pieces of it.
func shorter(s string, offer func(string)) {
	rs := []rune(s)
	if len(rs) == 0 {
		return
	}
	offer("")
	least := max(1, len(rs)/maxShortened)
	var large, small []int
	for size := len(rs) / 2; size > least; size /= 2 {
		if size >= leastPiece {
			large = append(large, size)
		} else {
			small = append(small, size)
		}
	}
	for _, size := range slices.Concat(large, []int{least}, small) {
		for i := 0; i < len(rs); i += size {
			offer(string(rs[:i]) + string(rs[min(i+size, len(rs)):]))
		}
	}
}
