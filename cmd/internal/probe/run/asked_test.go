package run

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

func TestAskedFor(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		`{"url":"https://docs.example/a.html","titles":["Best practices","Naming rules"],"n":3}`: {"Best practices", "Naming rules"},
		`{"b":"Übersicht","a":"en"}`:                                  {"Übersicht"},
		`{"q":"x; touch f","p":"/etc/passwd","t":"{{7*7}}","u":"a"}`:  nil,
		`{"a":"two words","b":"two words","c":{"d":"three of them"}}`: {"two words"},
		`[1]`: nil,
	} {
		if got := askedFor(&synth.Call{Args: json.RawMessage(args)}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if got := askedFor(&synth.Call{Args: json.RawMessage(`{"a":"two words"}`), Oracles: []session.Injection{{}}}); got != nil {
		t.Errorf("an attack asks for %q", got)
	}
}
