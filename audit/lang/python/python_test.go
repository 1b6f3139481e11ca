package python

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// samples lists the sources of testdata/sample.
func samples(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/sample/*.py")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d samples: %v", len(names), err)
	}
	return names
}

// TestSample compares sources of every kind of syntax with what CPython 3.13 said of
// them: (cd testdata; ls sample/*.py | python3.13 -I facts.py >sample.jsonl).
func TestSample(t *testing.T) {
	data, err := os.ReadFile("testdata/sample.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		var a answer
		if err := json.NewDecoder(bufio.NewReader(bytes.NewReader(line))).Decode(&a); err != nil {
			t.Fatal(err)
		}
		a.Path = "testdata/" + a.Path
		if why := differ(t, a, true); why != "" {
			t.Errorf("%s: %s", a.Path, why)
		}
		n++
	}
	if n != len(samples(t)) {
		t.Errorf("%d answers for %d samples", n, len(samples(t)))
	}
}

func parse(src string) *lang.File { return Language{}.Parse("a.py", []byte(src)) }

// names lists the names that a file uses, in order.
func names(f *lang.File) string {
	var out []string
	lang.Walk(f, func(n lang.Node, _ *lang.Scope) bool {
		switch n := n.(type) {
		case lang.Name:
			out = append(out, n.ID)
		case *lang.Function:
			out = append(out, "def "+n.Name)
		}
		return true
	})
	return strings.Join(out, " ")
}

func whys(f *lang.File) string {
	var out []string
	for _, u := range f.Unread {
		out = append(out, u.Why)
	}
	return strings.Join(out, "; ")
}

func TestRecovery(t *testing.T) {
	for _, c := range []struct{ name, src, names, unread string }{
		{"a line", "a\nb c\nd", "a d", "1"},
		{"of several statements", "a; b; c d; e\nf", "a b f", "1"},
		{"a header and its block", "a\nif b c:\n  d\n  e\nf", "a f", "1"},
		{"within a block", "def f():\n  a\n  b c\n  d\ne", "def f a d e", "1"},
		{"a later clause", "if a:\n  b\nelif c d:\n  e\nf", "a b f", "1"},
		{"a handler", "try:\n  a\nexcept b c:\n  d\ne", "a e", "1"},
		{"a bracket that is never closed", "a\nb = (c,\ndef f():\n  d\n", "a def f d", "1"},
		{"a bracket too many", "a\nb)\nc", "a c", "1"},
		{"the wrong bracket", "a\n(b]\nc", "a c", "1"},
		{"an unexpected indent", "a\n  b\n  c\nd", "a d", "1"},
		{"a dedent to nowhere", "if a:\n    b\n  c\nd", "a b d", "1"},
		{"no block", "def f():\na", "def f a", "1"},
		{"a string without an end", "a\nb = 'c\nd", "a d", "1"},
		{"an f-string without an end", "a\nb = f'c{x}\nd", "a d", "1"},
		{"a field without an end", "a\nb = f'{c'\nd", "a", "1"},
		{"a lone brace", "a\nf'}'\nb", "a b", "1"},
		{"a text without an end", "a\n'''\nb\nc", "a", "1"},
		{"a number", "a\n0b12\n1x\n0x\n1__0\nb", "a b", "4"},
		{"targets", "a\nf() = 1\n(b for b in c) = 1\n1 = 2\n... = 3\nd", "a d", "4"},
		{"escapes", "a\n'\\xg'\n'\\u12'\n'\\N{'\nb'é'\nd", "a d", "4"},
		{"arguments", "a\nf(b=1, c)\nf(**b, c)\ndef g(a=1, b): pass\nd", "a d", "3"},
		{"decorators", "@a\nb\nc", "c", "1"},
		{"a case", "match a:\n  case b:\n    c\n  case d e:\n    f\n  case g:\n    h\ni", "a b c g h i", "1"},
		{"a try without a handler", "try:\n  a\nb", "a b", "1"},
		{"a zero byte", "a\n\x00\nb", "a b", "2"},
		{"no UTF-8", "a\n'\xff'\nb", "a b", "1"},
		{"a character that is invisible", "a\nb\u200b = 1\nc\u00a0= 2\nd", "a d", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := parse(c.src)
			if got := names(f); got != c.names || len(f.Unread) != int(c.unread[0]-'0') {
				t.Errorf("read %q, want %q; unread: %+v", got, c.names, f.Unread)
			}
		})
	}
}

func TestPython2(t *testing.T) {
	for _, src := range []string{
		"print 'x'", "if a:\n  print a", "exec a in b", "raise A, 'b'", "`a`", "a <> b", "0777", "10L", "ur'x'",
		"def f(a, (b, c)): pass", "def f((b, c)): pass", "lambda (a, b): a", "0xFFL",
	} {
		if f := parse("x = 1\n" + src + "\ny\n"); whys(f) != python2 || f.Body != nil || f.Unread[0].Start.Offset() != 0 {
			t.Errorf("%q: %d statements, unread: %s", src, len(f.Body), whys(f))
		}
	}
	if f := parse("try: a\nexcept B, e: c\nd"); whys(f) != python2 || names(f) != "a B e c d" {
		t.Errorf("a clause that Python 3.14 allows: %q, unread: %s", names(f), whys(f))
	}
	for _, src := range []string{"print (a)", "print", "print -a", "exec", "exec(a)", "print >>a, b", "import e\ntry: a\nexcept B, e: c", "try: a\nexcept B, C: c"} {
		if f := parse(src); len(f.Unread) > 0 {
			t.Errorf("%q: %s", src, whys(f))
		}
	}
}

// What Python 3.14 adds, for which no kept answer of CPython's stands.
func TestPython314(t *testing.T) {
	f := parse("t'a{x!r:>{w}}b' f'{y}'\ntry: pass\nexcept A, B.C, D: z\nexcept* E, F: w\n")
	if got := names(f); len(f.Unread) > 0 || got != "x w y A B D z E F w" {
		t.Errorf("%s, unread: %s", got, whys(f))
	}
	parts := f.Body[0].(lang.ExprStmt).X.(lang.Template).Parts
	if len(parts) != 4 || parts[0].(lang.Const).Text != "a" || parts[2].(lang.Const).Text != "b" {
		t.Errorf("parts: %+v", parts)
	}
	types := f.Body[1].(lang.Try).Handlers[0].Type.(lang.Collection)
	if types.Kind != lang.Tuple || len(types.Items) != 3 {
		t.Errorf("types: %+v", types)
	}
}

func TestEncodings(t *testing.T) {
	for _, c := range []struct{ src, text, why string }{
		{"# coding: latin-1\n'\xe9'", "é", ""},
		{"# coding=cp1251\n'\xef'", "п", ""},
		{"\n# -*- coding: ISO_8859_15 -*-\n'\xa4'", "€", ""},
		{"# vim: set fileencoding=koi8-r :\n'\xd2'", "р", ""},
		{"\ufeff'é'", "é", ""},
		{"# coding: gbk\n'a'", "a", ""},
		{"# coding: gbk\n'\xb0\xa1'", "°¡", "coalmine reads only the ASCII part of this encoding: other names and strings are wrong"},
		{"x\n\n# coding: latin-1\n'\xc3\xa9'", "é", ""},
		{"# coding: utf-7\n+AAo-import os", "", "an encoding that is not read"},
		{"# coding: unicode_escape\nx", "", "an encoding that is not read"},
		{"\ufeff# coding: latin-1\n'x'", "", "an encoding that is not read"},
	} {
		f := parse(c.src)
		text := ""
		if len(f.Body) > 0 {
			if k, ok := f.Body[len(f.Body)-1].(lang.ExprStmt).X.(lang.Const); ok {
				text = k.Text
			}
		}
		if text != c.text || whys(f) != c.why {
			t.Errorf("%q: %q, unread: %s", c.src, text, whys(f))
		}
	}
}

func TestOwns(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"a/b.py", "", true}, {"a.pyw", "", true}, {"a.pyi", "", true}, {"bin/a", "#!/usr/bin/env python3\n", true},
		{"bin/a", "#!/bin/sh\npython", false}, {"a.js", "#!/usr/bin/python\n", false}, {"bin/a", "import os", false},
	} {
		if got := (Language{}).Owns(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s %q: %v", c.name, c.head, got)
		}
	}
}

// FuzzParse holds that any bytes are parsed, with places that lie in the source and in
// each other.
func FuzzParse(f *testing.F) {
	for _, name := range samples(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("print 'a'\n"))
	f.Add([]byte("f'{a:{b}}' (\ndef f(:\n  match x:\n case"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file := Language{}.Parse("a.py", src)
		check := func(s lang.Span) {
			if s.Start.Offset() < 0 || s.Start.Offset() > s.End.Offset() || s.End.Offset() > len(src) || s.Start.Line() < 1 || s.Start.Column() < 1 || s.End.Column() < 1 {
				t.Fatalf("%+v in %d bytes", s, len(src))
			}
		}
		lang.Walk(file, func(n lang.Node, _ *lang.Scope) bool {
			check(n.Place())
			return true
		})
		for _, u := range file.Unread {
			check(u.Span)
		}
		lang.CalculateFacts(file)
	})
}
