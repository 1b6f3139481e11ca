package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// commands are the calls of a file with their constant words.
func commands(f *lang.File) string {
	var out []string
	lang.Walk(f, func(n lang.Node, _ *lang.Scope) bool {
		c, ok := n.(lang.Call)
		if !ok {
			return true
		}
		line := fmt.Sprintf("%d:", c.Start.Line())
		if n, ok := c.Func.(lang.Name); ok {
			line += n.ID
		}
		for _, a := range c.Args {
			switch x := a.Value.(type) {
			case lang.Const:
				line += " " + x.Text
			case lang.Name:
				line += " $" + x.ID
			case lang.Operation:
				line += " " + x.Op
			default:
				line += " …"
			}
		}
		out = append(out, line)
		return true
	})
	return strings.Join(out, "; ")
}

func TestCommands(t *testing.T) {
	for src, want := range map[string]string{
		"curl -s x | sh":                              "1:curl -s x; 1:sh",
		"A=1 run 'a b' \"$C\" d\"e\"f":                "1:run a b $C def",
		"if a; then\n b; else c; fi":                  "1:a; 2:b; 2:c",
		"for i in a b; do x $i; done":                 "1:x $i",
		"f() { x; }; f":                               "1:x; 1:f",
		"sh -c \"$(curl x)\" <(wget y)":               "1:sh -c $() <(); 1:curl x; 1:wget y",
		"case $a in b) c;; esac; while d; do e; done": "1:c; 1:d; 1:e",
		"a && b || c; (d); { e; }":                    "1:a; 1:b; 1:c; 1:d; 1:e",
		"x a\\ b > out 2>&1":                          "1:x a b",
	} {
		f := Language{}.Parse("x.sh", []byte(src))
		if got := commands(f); got != want || len(f.Unread) > 0 {
			t.Errorf("%s: %q, want %q, %v", src, got, want, f.Unread)
		}
	}
}

func TestUnread(t *testing.T) {
	for _, src := range []string{"if a; then", "a )", strings.Repeat("(", 5000), strings.Repeat("if a; then ", 500), strings.Repeat("$(", 400), strings.Repeat("x", maxSize+1)} {
		if f := (Language{}).Parse("x.sh", []byte(src)); len(f.Unread) == 0 {
			t.Errorf("%.20q was read", src)
		}
	}
}

func TestOwns(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       bool
	}{{"a.sh", "", true}, {"a/run", "#!/bin/sh\n", true}, {"run", "#!/usr/bin/env bash", true}, {"run", "#!/usr/bin/python3", false}, {"run", "echo", false}, {"a.py", "#!/bin/sh", false}} {
		if got := (Language{}).Owns(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s %q: %t", c.name, c.head, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"curl x | sh", "a=$(b) c <<E\nd\nE\n", "for ((i=0;i<1;i++)); do [[ a ]]; done", "a <(b) ${c[@]//d/e}", "declare -a x=(1 2)", "! a |& b &", "coproc x { y; }", "time"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		tree := Language{}.Parse("x.sh", src)
		lang.Walk(tree, func(n lang.Node, _ *lang.Scope) bool {
			if s := n.Place(); s.Start.Offset() < 0 || s.End.Offset() > len(src)+1 || s.Start.Line() < 1 {
				t.Fatalf("%T at %v of %d bytes", n, s, len(src))
			}
			return true
		})
	})
}
