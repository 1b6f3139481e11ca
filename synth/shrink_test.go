package synth

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func steps(args ...string) []Step {
	var out []Step
	for i, a := range args {
		out = append(out, Step{What: WhatTool, Name: string(rune('a' + i)), Args: json.RawMessage(a)})
	}
	return out
}

func joined(s []Step) string {
	var b strings.Builder
	for _, x := range s {
		b.WriteString(x.Name + string(x.Args))
	}
	return b.String()
}

func TestShrinkEndsAtTheLeast(t *testing.T) {
	for name, c := range map[string]struct {
		steps []Step
		shows func(string) bool
		want  string
	}{
		"one argument":   {steps(`{"a":"xx;touch k;yy","b":{"c":[1,2]},"d":true}`), func(s string) bool { return strings.Contains(s, ";touch k") }, `a{"a":";touch k"}`},
		"one of a list":  {steps(`{"a":["u","v","w"],"n":77}`), func(s string) bool { return strings.Contains(s, `"w"`) }, `a{"a":["w"]}`},
		"two calls":      {steps(`{}`, `{"x":1}`, `{}`, `{"y":2}`, `{}`), func(s string) bool { return strings.Contains(s, "b{") && strings.Contains(s, "d{") }, `b{}d{}`},
		"a long text":    {steps(`{"a":"` + strings.Repeat("z", 900) + `"}`), func(s string) bool { return strings.Count(s, "z") >= 20 }, `a{"a":"` + strings.Repeat("z", 20) + `"}`},
		"the third call": {steps(`{}`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`), func(s string) bool { return strings.Count(s, "{") >= 3 }, ``},
	} {
		got, err := Shrink(t.Context(), c.steps, nil, func(s []Step) (bool, error) { return c.shows(joined(s)), nil })
		if err != nil || c.want != "" && joined(got) != c.want || c.want == "" && len(got) != 3 {
			t.Errorf("%s: %s %v, want %s", name, joined(got), err, c.want)
		}
	}
}

func TestShrinkKeepsToValidCalls(t *testing.T) {
	valid := func(s Step) bool { return strings.Contains(string(s.Args), `"needed"`) }
	got, err := Shrink(t.Context(), steps(`{"a":"xx","needed":"long text"}`), valid, func([]Step) (bool, error) { return true, nil })
	if err != nil || joined(got) != `a{"needed":""}` {
		t.Errorf("%s %v", joined(got), err)
	}
}

func TestShrinkEndsWithItsBudget(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	got, err := Shrink(ctx, steps(`{"a":"0123456789"}`), nil, func(s []Step) (bool, error) {
		if n++; n == 2 {
			cancel()
		}
		return strings.Contains(joined(s), "789"), nil
	})
	if !errors.Is(err, ErrShrinkBudget) || !strings.Contains(joined(got), "789") || n != 2 {
		t.Errorf("%s %v after %d", joined(got), err, n)
	}
}

func TestReplayKeepsItsSteps(t *testing.T) {
	r := Replay{Rule: "CM301", Tool: "t", Fingerprint: "f", User: "dana", Home: "/home/dana", Steps: steps(`{"a":"<&>\u0000"}`)}
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeReplay(data)
	if err != nil || got.Home != r.Home || len(got.Steps) != 1 || canonical(got.Steps[0].Args) != canonical(r.Steps[0].Args) {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{``, `{}`, `{"schema":"coalmine/replay/v1"}`, `{"schema":"x","steps":[{}]}`, `[]`, strings.Replace(string(data), "/home/dana", "../dana", 1),
		strings.Replace(string(data), `"steps"`, `"stops"`, 1)} {
		if _, err := DecodeReplay([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func FuzzDecodeReplay(f *testing.F) {
	f.Add([]byte(`{"schema":"coalmine/replay/v1","fingerprint":"f","user":"u","home":"/h","steps":[{"what":"tool","name":"a","args":{}}]}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		r, err := DecodeReplay(data)
		if err != nil {
			return
		}
		Aim(r.Steps, func(string) string { return "" })
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = Shrink(ctx, r.Steps[:1], nil, func([]Step) (bool, error) { return false, nil })
	})
}

// A shrinker that is stopped now and then gets to the same end, and tries nothing twice.
func TestShrinkerGoesOnWhereItWas(t *testing.T) {
	errRest := errors.New("a rest is due")
	for _, every := range []int{3, 10, 1000} {
		s := NewShrinker(nil)
		tried := map[string]int{}
		left := 0
		best, err := steps(`{"a":"some text; touch mark; and more of it","b":"none"}`), errRest
		for errors.Is(err, errRest) {
			left = every
			best, err = s.Shrink(t.Context(), best, func(c []Step) (bool, error) {
				if left--; left < 0 {
					return false, errRest
				}
				tried[joined(c)]++
				return strings.Contains(joined(c), "; touch mark"), nil
			})
		}
		if err != nil || joined(best) != `a{"a":"; touch mark"}` {
			t.Errorf("every %d: %s %v", every, joined(best), err)
		}
		for c, n := range tried {
			if n > 1 {
				t.Errorf("every %d: %s was tried %d times", every, c, n)
			}
		}
	}
}
