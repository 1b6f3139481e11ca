package audit

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// loaded are files that hold a token each, and what loads them.
var loaded = []struct {
	name, from, load, file string
}{
	{"require", "index.js", `require("./@");`, "vendor/a.js"},
	{"require without an ending", "index.js", `require("./vendor/a");`, "vendor/a.js"},
	{"a directory with an index", "index.js", `require("./vendor/a");`, "vendor/a/index.js"},
	{"put together", "lib/index.js", `const d = "../ven"; require(d + "dor/a.js");`, "vendor/a.js"},
	{"by a name", "index.js", `const at = "./@"; require(at);`, "vendor/a.js"},
	{"import", "index.mjs", `import x from "./@";`, "coalmine-out/x.mjs"},
	{"import()", "index.mjs", "const x = await import(`./@`);", "coalmine-out/x.mjs"},
	{"createRequire", "index.mjs", `import { createRequire } from "node:module"; const r = createRequire(import.meta.url); r("./@");`, "a.txt"},
	{"createRequire at once", "index.mjs", `import m from "module"; m.createRequire(import.meta.url)("./@");`, "vendor/a.js"},
	{"the module's require", "index.js", `module.require("./@");`, "vendor/a.js"},
	{"started", "index.js", `require("child_process").spawn("node", ["@"]);`, "venv/x.js"},
	{"in a command", "index.js", `require("child_process").exec("cd . && node @ --now");`, "node_modules/.x/y.js"},
	{"joined", "lib/index.js", `const path = require("path"); require("child_process").fork(path.join(__dirname, "..", "a.html"));`, "a.html"},
	{"Python's import", "server.py", "import vendor.a\n", "vendor/a.py"},
	{"from a package", "server.py", "from vendor import a\n", "vendor/a.py"},
	{"a relative one", "pkg/server.py", "from .vendor.a import b\n", "pkg/vendor/a.py"},
	{"run", "server.py", "import runpy\nrunpy.run_path('@')\n", "a.rst"},
	{"exec", "server.py", "exec(open('@').read())\n", "a.txt"},
	{"started by Python", "server.py", "import subprocess, sys\nsubprocess.run(['python3', '@'])\n", "site-packages/x.py"},
	{"a script", "run.sh", "node @\n", "a.txt"},
	{"a script's own", "run.sh", "./vendor/x\n", "vendor/x"},
	{"an image's command", "Dockerfile", "FROM a\nCMD [\"node\", \"@\"]\n", "vendor/x.js"},
	{"a manifest's bin", "package.json", `{"bin": {"x": "@"}}`, "a.map"},
	{"a manifest's script", "package.json", `{"scripts": {"start": "node ./@"}}`, "vendor/x.js"},
	{"no ending", "index.js", `require("./@");`, "data"},
}

// What the source loads is audited wherever it lies; what nothing loads is left out, and counted.
func TestLoadedIsAudited(t *testing.T) {
	for _, c := range loaded {
		source := strings.ReplaceAll(c.load, "@", c.file)
		secret := `k = "` + token + "\"\n"
		r, err := Dir(t.Context(), write(t, map[string]string{c.from: source, c.file: secret}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, SecretHardcoded); got != "secret-hardcoded "+c.file+":1 critical" || r.LeftOut > 1 {
			t.Errorf("%s: %q, %d left out", c.name, got, r.LeftOut)
		}
		r, err = Dir(t.Context(), write(t, map[string]string{"x.js": "", c.file: secret}))
		if err != nil {
			t.Fatal(err)
		}
		if c.file != "data" && (len(findings(t, r, SecretHardcoded)) > 0 || r.LeftOut != 1) {
			t.Errorf("%s: not loaded, %d left out: %s", c.name, r.LeftOut, findings(t, r, SecretHardcoded))
		}
	}
}

// A run's files are full of decoys, wherever --out put them. Code that the source loads from there is read.
func TestRunsAreLeftOut(t *testing.T) {
	secret := `k = "` + token + "\"\n"
	files := map[string]string{
		"index.js": `require("./out/x/a.js");`, "out/x/a.js": secret,
		"out/x/plan.json": "{}", "out/x/session.jsonl": "", "out/x/trace.jsonl": secret, "out/x/alone/trace.jsonl": secret,
		"data/session.jsonl": "", "data/trace.jsonl": secret,
	}
	r, err := Dir(t.Context(), write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	got := findings(t, r, SecretHardcoded)
	if strings.Contains(got, "out/x/trace") || strings.Contains(got, "alone") || !strings.Contains(got, "out/x/a.js") || !strings.Contains(got, "data/trace.jsonl") || r.LeftOut != 1 {
		t.Errorf("%d left out: %s", r.LeftOut, got)
	}
}

// Code with an ending of data is followed as code.
func TestLoadedIsParsed(t *testing.T) {
	r, err := Dir(t.Context(), write(t, map[string]string{
		"index.js": `require("./a.txt"); require("./b.dat"); require("./c.json");`,
		"a.txt":    `eval(process.argv[2])`, "b.dat": `eval(process.argv[2])`, "c.json": `{}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := findings(t, r, ExecDynamic); got == "" || r.Profile.Languages["JavaScript"] != 3 || r.Profile.FilesScanned != 4 {
		t.Errorf("%s, %v, %d files", got, r.Profile.Languages, r.Profile.FilesScanned)
	}
}

// What git tracks is a checkout's own, wherever it lies and whatever .gitignore says.
func TestTracked(t *testing.T) {
	files := map[string]string{"x.js": "", ".gitignore": "*.js\nbuilt/\n"}
	for _, name := range []string{"a.js", "built/b.js", "vendor/c.js", "node_modules/d/e.js", "coalmine-out/f.js"} {
		files[name] = `k = "` + token + "\"\n"
	}
	dir := write(t, files)
	tracked := func(name string) bool {
		for f := range files {
			if f == name || strings.HasPrefix(f, name+"/") || name == "." {
				return true
			}
		}
		return false
	}
	for _, own := range []bool{true, false} {
		r, err := Checkout(t.Context(), dir, Options{Own: own, Tracked: tracked})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(findings(t, r, SecretHardcoded), SecretHardcoded); got != 5 || r.Ignored+r.LeftOut != 0 {
			t.Errorf("own %t: %d, ignored %d, left out %d", own, got, r.Ignored, r.LeftOut)
		}
	}
	r, err := Checkout(t.Context(), dir, Options{Own: true, Tracked: func(name string) bool { return name == ".gitignore" }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Ignored != 3 || r.LeftOut != 3 || len(findings(t, r, SecretHardcoded)) != 0 {
		t.Errorf("untracked: ignored %d, left out %d", r.Ignored, r.LeftOut)
	}
}

// A zero byte makes no code a program of a machine; what is one is for a probe.
func TestLoadedWithZeros(t *testing.T) {
	r, err := Dir(t.Context(), write(t, map[string]string{
		"index.js": `require("./a.txt"); require("./b.bin"); require("child_process").spawn("./c")`,
		"a.txt":    "/*\x00*/ eval(process.argv[2])", "b.bin": "\x00\xff\xfe", "c": "\x7fELF\x00\xff",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := findings(t, r, ExecDynamic); got == "" || r.Skipped != 1 {
		t.Errorf("%s, %d skipped", got, r.Skipped)
	}
}

// Bytecode in a source's place is not looked at, and that is no silence.
func TestBytecodeIsCounted(t *testing.T) {
	dir := write(t, map[string]string{"server.py": "import x\n", "x.py": "", "__pycache__/x.cpython-312.pyc": "\xcb\r\r\n\x00\x00\x00\x00"})
	r, err := Checkout(t.Context(), dir, Options{Tracked: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Skipped != 1 {
		t.Errorf("%d skipped", r.Skipped)
	}
}

// A chain of files that load one another ends, and so does a circle.
func TestLoadingEnds(t *testing.T) {
	files := map[string]string{"index.js": `require("./vendor/a0.js")`}
	for i := range 50 {
		next := "./a" + string(rune('0'+(i+1)%10)) + ".js"
		files["vendor/a"+string(rune('0'+i%10))+".js"] = `require("` + next + `"); require("./` + path.Base(next) + `")`
	}
	r, err := Dir(t.Context(), write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if r.Profile.Languages["JavaScript"] != 11 {
		t.Errorf("%v of %v", r.Profile.Languages, slices.Sorted(maps.Keys(files)))
	}
}

func FuzzLoaded(f *testing.F) {
	for _, c := range loaded {
		f.Add(c.from, strings.ReplaceAll(c.load, "@", c.file), c.file)
	}
	f.Fuzz(func(t *testing.T, from, load, file string) {
		if len(load) > 4096 {
			return
		}
		files := archived{path.Clean("/" + from)[1:]: load, path.Clean("/" + file)[1:]: "k = 1"}
		r, err := Archive(t.Context(), "a", zipped(t, files), Options{})
		if (r == nil) == (err == nil) {
			t.Fatal("neither a report nor an error")
		}
		if r != nil && r.LeftOut < 0 {
			t.Errorf("%d left out", r.LeftOut)
		}
	})
}

type archived = map[string]string
