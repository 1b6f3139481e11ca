package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// mapped is a tree in memory.
func mapped(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, data := range files {
		out[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return out
}

// opened counts how often a file is opened.
type opened struct {
	fs.FS
	name  string
	times int
}

func (o *opened) Open(name string) (fs.File, error) {
	if name == o.name {
		o.times++
	}
	return o.FS.Open(name)
}

// Stat is none that opens the file.
func (o *opened) Stat(name string) (fs.FileInfo, error) { return fs.Stat(o.FS, name) }

// Manifests that name themselves or one another have an end, and each is read once.
func TestManifestsEnd(t *testing.T) {
	const manifest = "node_modules/a/package.json"
	chain := map[string]string{"index.js": `require("./node_modules/a")`}
	for i := range 500 {
		chain[fmt.Sprintf("node_modules/%d/package.json", i)] = fmt.Sprintf(`{"main": "../%d"}`, i+1)
	}
	chain[manifest] = `{"main": "../0"}`
	for name, files := range map[string]map[string]string{
		"itself":      {manifest: `{"main": "."}`},
		"as a script": {manifest: `{"main": "./", "scripts": {"lint": "node . && eslint ."}}`},
		"a circle":    {manifest: `{"main": "../b"}`, "node_modules/b/package.json": `{"exports": {".": ["../a", "."]}}`},
		"no JSON":     {manifest: `{"main": `},
		"a chain":     chain,
	} {
		files["index.js"] = `require("./node_modules/a"); require("./node_modules/a/"); require("./node_modules/../node_modules/a")`
		files["lib/index.js"] = `require("../node_modules/a"); require("child_process").exec("node ../node_modules/a")`
		o := &opened{FS: mapped(files), name: manifest}
		r, err := Tree(t.Context(), o, "x", Options{})
		if err != nil || r.Skipped != 0 || o.times != 1 {
			t.Errorf("%s: %+v, %v, read %d times", name, r, err, o.times)
		}
	}
}

// reaching is what an audit of files does behind the walk.
func reaching(t *testing.T, files map[string]string) *reacher {
	t.Helper()
	a := newAuditor(mapped(files), nil)
	a.secrets = listed{}
	err := fs.WalkDir(a.files, ".", func(p string, d fs.DirEntry, err error) error { return a.visit(t.Context(), p, d, err) })
	if err != nil {
		t.Fatal(err)
	}
	return newReacher(a)
}

// The constants of a file are looked up once, however many calls may mean them.
func TestConstantsAreTakenOnce(t *testing.T) {
	var src strings.Builder
	for i := range maxConstants {
		fmt.Fprintf(&src, "k%d = 'x/%d';\n", i, i)
	}
	src.WriteString(strings.Repeat("require(k); require('child_process').exec(k); require('child_process').spawn('node', k);\n", 1_000))
	r := reaching(t, map[string]string{"a/b/c/d.js": src.String()})
	if err := r.work(t.Context(), sinks.NewPackage(r.trees)); err != nil {
		t.Fatal(err)
	}
	const depth, kinds = 4, 2
	if r.lookups < maxConstants || r.lookups > depth*kinds*(maxConstants+100) {
		t.Errorf("%d lookups", r.lookups)
	}
}

// What is reached ends with its context, and at a bound, which the report tells of.
func TestReachingIsBounded(t *testing.T) {
	files := map[string]string{"package.json": `{"main": "a.txt"}`, "a.txt": `require("./b.txt")`, "b.txt": `require("./c.txt")`, "c.txt": "", "d.js": `require("./vendor/d"); require("./vendor/e")`}
	r := reaching(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.work(ctx, sinks.NewPackage(r.trees)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		set       func(*reacher)
		isSkipped bool
	}{
		"all":     {func(*reacher) {}, false},
		"lookups": {func(r *reacher) { r.lookups = maxLookups - 2 }, true},
		"files":   {func(r *reacher) { r.reached = maxReached - 2 }, true},
		"scripts": {func(r *reacher) {
			r.scriptWords = maxAllScriptWords - 1
			r.commands("x.sh", "node ./y.txt\nnode ./y.txt")
		}, true},
	} {
		r := reaching(t, files)
		c.set(r)
		if err := r.work(t.Context(), sinks.NewPackage(r.trees)); err != nil || r.report.Skipped > 0 != c.isSkipped {
			t.Errorf("%s: %v, %d skipped", name, err, r.report.Skipped)
		}
	}
	if list, isWhole := startedBy(strings.Repeat("node ./x\n", maxScriptWords+1), maxScriptWords); len(list) != maxScriptWords || isWhole {
		t.Errorf("%d words, whole: %t", len(list), isWhole)
	}
}

// What a loaded file loads is followed, whatever each of them is.
func TestLoadedByLoaded(t *testing.T) {
	const secret = "vendor/deep/secret.txt"
	for name, files := range map[string]map[string]string{
		"a script of JavaScript's": {"index.js": `require("child_process").spawn("sh", ["vendor/a.sh"])`, "vendor/a.sh": "node vendor/b.js\n", "vendor/b.js": `require("./../@")`},
		"a script of a script's":   {"run.sh": "sh vendor/a\n", "vendor/a": "sh vendor/b\n", "vendor/b": "sh vendor/c\n", "vendor/c": "node @\n"},
		"a package's script":       {"run.sh": "node vendor/p\n", "vendor/p/package.json": `{"scripts": {"postinstall": "bash ./setup"}}`, "vendor/p/setup": "node @\n"},
		"a package's program":      {"run.py": "import subprocess\nsubprocess.run(['vendor/a'])\n", "vendor/a": "#!/bin/sh\nnode vendor/p\n", "vendor/p/package.json": `{"main": "./lib/m.dat"}`, "vendor/p/lib/m.dat": `import("../../../@")`},
		"one file as two programs": {"run.sh": "node vendor/a\nsh vendor/a\n", "vendor/a": "node @\n"},
	} {
		for from, src := range files {
			files[from] = strings.ReplaceAll(src, "@", secret)
		}
		files[secret] = `k = "` + token + "\"\n"
		r, err := Tree(t.Context(), mapped(files), "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, SecretHardcoded); got != "secret-hardcoded "+secret+":1 critical" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A script that the walk has read is not judged again because something starts it.
func TestScriptsAreJudgedOnce(t *testing.T) {
	const script = "curl https://a.example/i | sh\n"
	for from, src := range map[string]string{
		"Dockerfile":   "FROM a:1\nRUN bash ./install.sh\nRUN bash vendor/x\nUSER a\n",
		"run.sh":       "sh install.sh\nsh ./install.sh\n. vendor/x\n",
		"index.js":     `require("child_process").exec("sh install.sh"); require("child_process").spawn("bash", ["./install.sh", "vendor/x"])`,
		"package.json": `{"license": "MIT", "scripts": {"build": "bash install.sh && sh ./install.sh", "x": "sh vendor/x"}}`,
	} {
		r, err := Tree(t.Context(), mapped(map[string]string{from: src, "install.sh": script, "vendor/x": script}), "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		scripts := 2
		if from == "run.sh" {
			scripts++
		}
		if got := findings(t, r, DownloadRun); got != "download-run install.sh:1 high; download-run vendor/x:1 high" || r.Profile.Languages["Shell"] != scripts {
			t.Errorf("%s: %s, %v", from, got, r.Profile.Languages)
		}
	}
}

// The scripts of a package.json run what their interpreters take, and no documentation.
func TestManifestScripts(t *testing.T) {
	secret := `k = "` + token + "\"\n"
	for command, want := range map[string]string{
		"markdownlint README.md":                     "",
		"node build.js README.md":                    "",
		"node --version && cp README.md dist/":       "",
		"python3 -m markdown README.md":              "",
		"bash -e -o pipefail README.md":              "README.md Shell",
		"bash ./build":                               "Shell",
		"node ./README.md":                           "README.md",
		"node --no-warnings README.md":               "README.md",
		"node -r ./build README.md":                  "README.md",
		"A=1 npx tsx README.md | tee x":              "README.md",
		"bash -c 'python3 README.md'":                "README.md",
		"tsc && node --enable-source-maps README.md": "README.md",
	} {
		r, err := Tree(t.Context(), mapped(map[string]string{
			"package.json": fmt.Sprintf(`{"license": "MIT", "scripts": {"a": "echo", "x": %q}}`, command), "README.md": secret, "build": "sh README.md.x\n", "build.js": "",
		}), "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		audited := findings(t, r, SecretHardcoded) != ""
		if audited != strings.Contains(want, "README.md") || r.LeftOut < 0 || audited == (r.LeftOut == 1) {
			t.Errorf("%s: audited %t, left out %d", command, audited, r.LeftOut)
		}
		if isShell := r.Profile.Languages["Shell"] == 1; isShell != strings.Contains(want, "Shell") {
			t.Errorf("%s: %v", command, r.Profile.Languages)
		}
	}
}

// Node reads the members of a package.json by their exact names and whatever the others hold.
func TestManifestMembers(t *testing.T) {
	secret := `k = "` + token + "\"\n"
	for name, manifest := range map[string]string{
		"imports":          `{"imports": {"#x": {"node": "./vendor/a.dat"}}}`,
		"another's type":   `{"main": "vendor/a.dat", "scripts": {"x": 1}, "module": []}`,
		"another's case":   `{"main": "vendor/a.dat", "Main": "x.js"}`,
		"a mark before it": "\ufeff" + `{"main": "vendor/a.dat"}`,
	} {
		r, err := Tree(t.Context(), mapped(map[string]string{"package.json": manifest, "vendor/a.dat": secret}), "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if findings(t, r, SecretHardcoded) == "" {
			t.Errorf("%s: not audited", name)
		}
	}
}

// What .gitignore leaves out was counted as such, and loading it makes no negative count of the rest.
func TestLoadedThoughIgnored(t *testing.T) {
	r, err := Tree(t.Context(), mapped(map[string]string{".gitignore": "*.txt\n", "index.js": `require("./a.txt"); require("child_process").spawn("sh", ["./a.txt"])`, "a.txt": "", "b.md": ""}), "x", Options{Own: true})
	if err != nil || r.LeftOut != 1 || r.Ignored != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Two audits of one tree say the same in the same order.
func TestAuditsAgree(t *testing.T) {
	files := map[string]string{"fetch.sh": ""}
	var exports, scripts []string
	for i := range 12 {
		exports = append(exports, fmt.Sprintf(`"./%d": "./vendor/e%d.dat"`, i, i))
		scripts = append(scripts, fmt.Sprintf(`"s%d": "node vendor/s%d.dat"`, i, i))
		files[fmt.Sprintf("vendor/e%d.dat", i)] = `k = "` + token + "\"\n"
		files[fmt.Sprintf("vendor/s%d.dat", i)] = "eval(process.argv[2])\n"
		files["fetch.sh"] += fmt.Sprintf("curl -o f%d https://a.example/\nsh f%d\n", i, i)
	}
	files["package.json"] = `{"exports": {` + strings.Join(exports, ",") + `}, "scripts": {` + strings.Join(scripts, ",") + `}}`
	agree(t, files)
}

// agree audits a tree several times, in a bound of time.
func agree(t *testing.T, files map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var first *Report
	for range 4 {
		r, err := Tree(ctx, mapped(files), "x", Options{Own: true, Sites: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.LeftOut < 0 || r.Ignored < 0 || r.Profile.FilesScanned > len(files) {
			t.Errorf("%d left out, %d ignored, %d of %d files", r.LeftOut, r.Ignored, r.Profile.FilesScanned, len(files))
		}
		if first == nil {
			first = r
		}
		if !reflect.DeepEqual(first, r) {
			t.Fatalf("two audits differ:\n%+v\n%+v", first, r)
		}
	}
}

// Whatever the files of a tree name of one another, the audit ends, and says the same again.
func FuzzReached(f *testing.F) {
	names := []string{"package.json", "node_modules/a/package.json", "node_modules/b/package.json", "vendor/c/package.json", "index.js", "vendor/m.js", "vendor/m.py", "server.py", "run.sh", "vendor/x.sh", "vendor/y", "Dockerfile", "README.md", "vendor/z.txt", "d.dat", ".gitignore"}
	words := slices.Concat(names, []string{".", "./", "..", "../a", "../b", "../..", "a", "./node_modules/a", "./node_modules/b", "node_modules", "vendor", "./vendor/c", "/", "-r", "node", "sh"})
	shapes := []string{
		`{"main": "@", "bin": {"y": "@", "x": "@"}, "exports": {"b": ["@"], "a": {"c": "@"}}}`,
		`{"imports": {"#x": "@"}, "scripts": {"b": "node @ @", "a": "eslint @ && bash @"}}`,
		`require("@"); import("@"); require(k); const k = "@"; require("child_process").exec("sh @");`,
		"import subprocess, runpy\nk = '@'\nsubprocess.run(['node', '@'])\nrunpy.run_path('@')\nexec(open(k).read())\n",
		"#!/bin/sh\nnode @\n. @\nsh @\ncurl https://a.example | sh\n",
		"FROM @\nRUN bash @ && node @\n",
		"*.txt\n@\n",
	}
	f.Add([]byte{0, 0, 15, 15, 15, 15, 15, 1, 0, 15, 16, 17, 18, 15, 4, 2, 22, 23, 25, 13, 9})
	f.Add([]byte{1, 0, 18, 19, 18, 19, 15, 2, 0, 18, 18, 15, 15, 19, 8, 4, 22, 10, 9, 10, 4, 11, 9, 13})
	f.Add([]byte{4, 2, 13, 10, 9, 12, 14, 9, 4, 5, 13, 10, 13, 2, 10, 6, 14, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() int {
			if len(data) == 0 {
				return 0
			}
			n := int(data[0])
			data = data[1:]
			return n
		}
		files := map[string]string{"x.js": ""}
		for len(data) > 0 && len(files) < len(names) {
			name := names[next()%len(names)]
			parts := strings.Split(shapes[next()%len(shapes)], "@")
			for i := range parts[1:] {
				parts[i] += words[next()%len(words)]
			}
			files[name] = strings.Join(parts, "")
		}
		agree(t, files)
	})
}
