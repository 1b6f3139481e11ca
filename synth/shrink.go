package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sort"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// ErrShrinkBudget says that a sequence could not be made minimal in time.
var ErrShrinkBudget = errors.New("the budget for shrinking was used up")

// Shrink makes a sequence that shows something smaller, as long as shows says
// that the smaller one shows it too: fewer calls first, then fewer and simpler
// arguments. valid, if not nil, says which arguments may be tried. Without an
// error the result is locally minimal: none of its parts can be left out or
// made simpler. With one it is the smallest that was seen.
func Shrink(ctx context.Context, steps []Step, valid func(Step) bool, shows func([]Step) (bool, error)) ([]Step, error) {
	seen := map[string]bool{key(steps): true}
	shrinker := gen.SliceShrinker(stepShrinker(valid))
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
			if !isSteps || len(candidate) == 0 || seen[key(candidate)] {
				continue
			}
			seen[key(candidate)] = true
			again, err := shows(candidate)
			if err != nil {
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

func key(steps []Step) string {
	raw, err := json.Marshal(steps)
	if err != nil {
		return ""
	}
	return string(raw)
}

// stepShrinker yields a call with simpler arguments.
func stepShrinker(valid func(Step) bool) gopter.Shrinker {
	return func(v any) gopter.Shrink {
		s, ok := v.(Step)
		if !ok {
			return gopter.NoShrink
		}
		var list []json.RawMessage
		d := json.NewDecoder(bytes.NewReader(s.Args))
		d.UseNumber()
		var args any
		if d.Decode(&args) == nil {
			simpler(args, func(w any) {
				list = append(list, json.RawMessage(schema.Value{V: w}.String()))
			})
		}
		mustBe := valid != nil && valid(s)
		i := 0
		return func() (any, bool) {
			for i < len(list) {
				i++
				next := s
				next.Args = list[i-1]
				if !mustBe || valid(next) {
					return next, true
				}
			}
			return nil, false
		}
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

// maxShortened bounds the characters of which each is tried alone.
const maxShortened = 600

// shorter offers a text without ever smaller pieces of it.
func shorter(s string, offer func(string)) {
	rs := []rune(s)
	if len(rs) == 0 {
		return
	}
	offer("")
	least := 1
	if len(rs) > maxShortened {
		least = len(rs) / maxShortened
	}
	for size := len(rs) / 2; size >= least; size /= 2 {
		for i := 0; i < len(rs); i += size {
			offer(string(rs[:i]) + string(rs[min(i+size, len(rs)):]))
		}
	}
}
