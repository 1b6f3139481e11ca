package literals

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"
)

func source(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

const script = `import { Server } from "the-sdk";
const fs = require('node:fs');
// if (x === "in a comment") {}
/* or "in this one" */
const modes = ["fast", 'slow', "café\n"];
const greeting = "An answer that is written in many words, which nothing is compared with";
if (args.code === "open sesame" || 'second \'word\'' == args.code) launch();
switch (args.mode) { case "hidden-mode": stop(); }
if (text.includes("needle") && text.length > 120) other(` + "`template`, `with ${hole}`" + `);
if (n > 4711 || n === -12 || n == 1_000) again(0xff, 3.5e3, 7);
const re = /["']/; const tail = "after an expression";
const object = { retries: 3 };
if (key === "AKIA2E7QXJ4LMN8PRSTU" || key === "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z") {}
`

func TestRead(t *testing.T) {
	got := Read(source(map[string]string{
		"index.js": script, "node_modules/x/index.js": `if (a === "foreign") {}`, "README.md": `"prose"`, ".git/x.js": `"git"`, "types.d.ts": `"types"`,
		"sub/tool.py": "def f(x):\n    '''doc \"string\"'''\n    # \"comment\"\n    if x == \"python word\" or \"inner\" in x or len(x) >= 64:\n        return x.startswith('pre-')\n    return {'key': 12}\n",
	}))
	for _, want := range []string{"open sesame", "second 'word'", "hidden-mode", "needle", "python word", "inner", "pre-", "fast", "slow", "after an expression", "template", "key"} {
		if !slices.Contains(got.Texts, want) {
			t.Errorf("%q is missing from %q", want, got.Texts)
		}
	}
	for _, not := range []string{"the-sdk", "node:fs", "in a comment", "in this one", "with ${hole}", "foreign", "AKIA2E7QXJ4LMN8PRSTU", "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z", "prose", "git", "types", "comment"} {
		if slices.Contains(got.Texts, not) {
			t.Errorf("%q is among %q", not, got.Texts)
		}
	}
	first := got.Texts[:7]
	for _, want := range []string{"open sesame", "second 'word'", "hidden-mode", "needle", "python word", "inner", "pre-"} {
		if !slices.Contains(first, want) {
			t.Errorf("%q is not among the first, %q", want, first)
		}
	}
	if want := []string{"4711", "-12", "1000"}; !slices.Equal(got.Numbers[:3], want) {
		t.Errorf("numbers %q, want first %q", got.Numbers, want)
	}
	if want := []int{120, 64}; !slices.Equal(got.Lengths, want) {
		t.Errorf("lengths %v, want %v", got.Lengths, want)
	}
	if got.Files != 2 || got.Cut || !slices.Contains(got.Names, "hidden-mode") || slices.Contains(got.Names, "open sesame") {
		t.Errorf("%+v", got)
	}
}

func TestBounds(t *testing.T) {
	var big strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&big, "if (x === %q || n > %d) {}\n", fmt.Sprint("word", i), i)
	}
	files := map[string]string{"huge.js": big.String() + strings.Repeat("x", 5<<20)}
	for i := range 2_100 {
		files[fmt.Sprintf("f%04d.js", i)] = `"abc"`
	}
	got := Read(source(files))
	if len(got.Texts) > maxTexts || len(got.Numbers) > maxNumbers || len(got.Names) > maxNames || got.Files != maxFiles || !got.Cut {
		t.Errorf("%d texts, %d numbers, %d names, %d files, cut %v", len(got.Texts), len(got.Numbers), len(got.Names), got.Files, got.Cut)
	}
}

// TestHostileSource holds the time for files that are made to be scanned over and over.
func TestHostileSource(t *testing.T) {
	for name, text := range map[string]string{
		"slashes": strings.Repeat("/", 4<<20), "expressions": strings.Repeat("=/[", 1<<20), "escaped quotes": strings.Repeat(`'\`, 1<<20) + "\n",
		"quotes": strings.Repeat(`'`, 4<<20), "backquotes": strings.Repeat("`\\", 1<<20), "numbers": strings.Repeat("1.", 2<<20),
	} {
		start := time.Now()
		Read(source(map[string]string{"a.js": text}))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
}

func TestSameSourceSameSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.MapOf(rapid.StringMatching(`[a-c]/[a-z]{1,3}\.(js|py|go)`), rapid.StringMatching("([a-z =<>\n\"'`\\\\(),0-9/*#]|===|\"[a-z]*\"){0,60}")).Draw(t, "files")
		a, b := Read(source(files)), Read(source(files))
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

func FuzzScan(f *testing.F) {
	f.Add(script, true)
	f.Add("\"unterminated\n'x' `y", false)
	f.Fuzz(func(t *testing.T, text string, python bool) {
		name := "a.js"
		if python {
			name = "a.py"
		}
		got := Read(source(map[string]string{name: text}))
		for _, s := range got.Texts {
			if len(s) > maxText || s == "" {
				t.Fatalf("%q", s)
			}
		}
	})
}

// A source of little beside short texts is read to its end.
func TestDenseSourceIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "f(%q, /[a-z]/.test(v));\n", fmt.Sprintf("w%d", i))
	}
	b.WriteString("if (v === \"last-of-all\") g();\n")
	if got := Read(fstest.MapFS{"index.js": {Data: []byte(b.String())}}).Texts; len(got) == 0 || got[0] != "last-of-all" {
		t.Errorf("%.3q", got)
	}
}
