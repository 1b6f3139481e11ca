package analyze_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// behaviours are what a tool does in its call, and in the same call made again.
var behaviours = map[string]func(l *analyzetest.Log, again bool){
	"nothing": func(*analyzetest.Log, bool) {},
	"write":   func(l *analyzetest.Log, _ bool) { l.Open("/var/lib/app/x", "O_WRONLY|O_CREAT", "") },
	"delete": func(l *analyzetest.Log, _ bool) {
		l.Record(trace.Record{Op: trace.OpUnlink, Call: "unlinkat", Path: "/home/dana/notes.txt"})
	},
	"egress": func(l *analyzetest.Log, _ bool) { l.Connect("93.184.216.34", 80, "ENETUNREACH") },
	"another each time": func(l *analyzetest.Log, again bool) {
		l.Open(map[bool]string{false: "/var/lib/app/1", true: "/var/lib/app/2"}[again], "O_WRONLY|O_CREAT", "")
	},
	"its own, made and removed": func(l *analyzetest.Log, _ bool) {
		l.Open("/tmp/x", "O_WRONLY|O_CREAT", "")
		l.Record(trace.Record{Op: trace.OpUnlink, Call: "unlinkat", Path: "/tmp/x"})
	},
	"read": func(l *analyzetest.Log, _ bool) { l.Open("/var/lib/app/x", "O_RDONLY", "") },
}

// hints is what one tool declares; an absent hint is missing.
type hints map[string]bool

// is reports that a hint is there and has this value.
func (h hints) is(name string, value bool) bool {
	v, ok := h[name]
	return ok && v == value
}

// truth is what the rules must say, from the specification and from nothing of
// theirs: its defaults (readOnly false, destructive true, openWorld true) tell a
// client what to expect, an absent hint is no declaration that could be broken, and
// destructiveHint and idempotentHint mean nothing where readOnlyHint is true.
func truth(h hints, behaviour string) []string {
	var out []string
	say := func(when bool, what string) {
		if when {
			out = append(out, what)
		}
	}
	readOnly := h.is("readOnlyHint", true)
	switch behaviour {
	case "write":
		say(readOnly, "medium CM201")
	case "another each time":
		say(readOnly, "medium CM201")
		say(!readOnly && h.is("idempotentHint", true), "low CM213")
	case "delete":
		say(readOnly, "medium CM201")
		switch {
		case readOnly, h.is("destructiveHint", false):
			say(true, "high CM203")
		case !h.is("destructiveHint", true):
			say(true, "medium CM203")
		}
	case "egress":
		switch {
		case h.is("openWorldHint", false):
			say(true, "high CM202")
		case !h.is("openWorldHint", true):
			say(true, "low CM209")
		}
	}
	slices.Sort(out)
	return out
}

// allHints are the hints of the specification, each absent, true and false.
func allHints() []hints {
	out := []hints{{}}
	for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		for _, h := range out {
			for _, v := range []bool{true, false} {
				more := maps.Clone(h)
				more[name] = v
				out = append(out, more)
			}
		}
	}
	return out
}

func (h hints) String() string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		members = append(members, fmt.Sprintf("%q:%t", name, h[name]))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestTheTruthTableOfAnnotations(t *testing.T) {
	all := allHints()
	if len(all) != 81 {
		t.Fatalf("%d combinations", len(all))
	}
	for _, h := range all {
		for name, does := range behaviours {
			l := analyzetest.New(t, nil)
			l.Begin(`{"name":"do","description":"Does it.","annotations":` + h.String() + `}`)
			l.Call("do", `{}`, func() { does(l, false) }, nil)
			l.Again("do", `{}`, func() { does(l, true) })
			l.End()
			var got []string
			for _, f := range l.Judge(analyze.Options{}).Findings {
				got = append(got, string(f.Severity)+" "+f.Rule)
			}
			slices.Sort(got)
			if want := truth(h, name); !slices.Equal(got, want) {
				t.Errorf("%s, %s: said %q, want %q", h, name, got, want)
			}
		}
	}
}

// Null is how serialisers write an absent hint.
func TestANullHintIsAbsent(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(`{"name":"do","description":"Does it.","annotations":{"readOnlyHint":null,"openWorldHint":null}}`)
	l.Call("do", `{}`, func() { behaviours["write"](l, false) }, nil)
	l.End()
	if fs := l.Judge(analyze.Options{}).Findings; len(fs) > 0 {
		t.Errorf("%+v", fs)
	}
}
