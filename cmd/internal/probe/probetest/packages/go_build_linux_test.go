//go:build linux && e2e

package packages

import (
	"archive/zip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// goProxy makes a directory all of go's proxy, with one module, and the test's
// module cache its own.
func goProxy(t *testing.T) {
	t.Helper()
	dir, cache := t.TempDir(), t.TempDir()
	at := filepath.Join("notes.example", "base", "@v")
	put(t, dir, map[string]string{
		at + "/list": "v1.0.0\n", at + "/v1.0.0.info": `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`, at + "/v1.0.0.mod": "module notes.example/base\n",
	})
	f, err := os.Create(filepath.Join(dir, at, "v1.0.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": "module notes.example/base\n", "base.go": "package base\n\nconst Name = \"notes\"\n"} {
		w, err := z.Create("notes.example/base@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []func() error{z.Close, f.Close} {
		if err := c(); err != nil {
			t.Fatal(err)
		}
	}
	proxy := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(proxy.Close)
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", cache)
	t.Cleanup(func() {
		if out, err := exec.Command("go", "clean", "-modcache").CombinedOutput(); err != nil { // it is read-only
			t.Errorf("%v %s", err, out)
		}
	})
}

// goServer is the honest server in one package that a compiler has little to do for.
func goServer(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"go.mod": "module notes.example/notes\n\ngo 1.21\n\nrequire notes.example/base v1.0.0\n",
		"go.sum": "",
		"cmd/notes/main.go": `package main

import (
	"bufio"
	"os"
	"strings"

	"notes.example/base"
)

// after is what stands in s after a key, as it is written there.
func after(s, key string) string {
	_, rest, _ := strings.Cut(s, "\""+key+"\":")
	if strings.HasPrefix(rest, "\"") {
		end := strings.IndexByte(rest[1:], '"')
		return rest[:end+2]
	}
	return rest[:strings.IndexAny(rest+",", ",}")]
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		id, answer := after(lines.Text(), "id"), "\"error\":{\"code\":-32601,\"message\":\"unknown\"}"
		switch after(lines.Text(), "method") {
		case "\"initialize\"":
			answer = "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"" + base.Name + "\",\"version\":\"1\"}}"
		case "\"tools/list\"":
			answer = "\"result\":{\"tools\":[{\"name\":\"count\",\"description\":\"Counts notes.\",\"inputSchema\":{\"type\":\"object\"}}]}"
		case "\"tools/call\"":
			answer = "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"none\"}]}"
		}
		if id != "" {
			os.Stdout.WriteString("{\"jsonrpc\":\"2.0\",\"id\":" + id + "," + answer + "}\n")
		}
	}
}
`,
	}
	dir := t.TempDir()
	put(t, dir, files)
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	files["go.sum"] = string(sum)
	return files
}

// A checkout of a Go module is built in the sandbox from what was fetched before.
// Its compiler opens what its C includes: the build then fails, and what it read is told.
// The compiler shows the credentials' only line whatever it holds, and of the key only what looks like a number.
func TestAGoCheckoutIsBuiltAmongDecoys(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "go", "gcc")
	goProxy(t)
	server := goServer(t)
	for name, c := range map[string]struct{ code, want, state string }{
		"honest": {server["cmd/notes/main.go"], "", session.BuildDone},
		"steals": {"package main\n\n// #include \"../../../../.git-credentials\"\n// #include \"../../../../.ssh/id_rsa\"\nimport \"C\"\nimport _ \"notes.example/base\"\n\nfunc main() {}\n", "CM102 critical, CM101 high", session.BuildFailed},
	} {
		if name == "honest" && !scale.Deep() {
			continue // TestACheckoutIsInstalledAndRun has an honest checkout
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, server)
			put(t, dir, map[string]string{"cmd/notes/main.go": c.code})
			before := listing(t, dir)
			res := packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindDirectory, Name: dir}))
			var got []string
			for _, f := range res.Findings {
				got = append(got, f.Rule+" "+string(f.Severity))
				if f.Phase != finding.PhaseBuild {
					t.Errorf("%s in phase %s: %s", f.Rule, f.Phase, f.Message)
				}
			}
			if strings.Join(slices.Compact(got), ", ") != c.want || (res.Verdict == analyze.Clean) != (c.want == "") {
				t.Errorf("found %q, want %q; %s %q %s", got, c.want, res.Verdict, res.Inconclusive, res.Server.Stderr)
			}
			if c.want == "" && (len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0) {
				t.Errorf("the server did not run from what was built: %+v", res.Coverage.Tools)
			}
			if p := res.Run.Package; p.Name != "notes.example/notes" || p.Packages != 1 || p.Digest == "" || p.Build.State != c.state || len(p.Build.Steps) != 1 {
				t.Errorf("%+v", p)
			}
			if after := listing(t, dir); !slices.Equal(before, after) {
				t.Errorf("the checkout was changed: %q, %q", before, after)
			}
		})
	}
}

func TestAGoCheckoutThatCannotBeFetchedIsSaid(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "go")
	goProxy(t)
	dir, cache := t.TempDir(), t.TempDir()
	spec := install.Spec{Kind: install.KindDirectory, Name: dir}
	outside := "go 1.21\nrequire notes.example/base v1.0.0\nreplace notes.example/base => "
	for text, says := range map[string][2]string{
		"module m\n" + outside + "/etc\n": {"replaced by a directory outside", "within"},
		"module m\n" + outside + "../x\n": {"replaced by a directory outside", "within"},
		"module m\ngo 1.999\n":            {"written for go 1.999", "newer"},
		"module m\ngo 1.21\n":             {"no program to run", "COMMAND"},
		"module m\ngo 1.21\nrequire notes.example/base v1.0.0 // indirect\n\nx y z": {"go failed", "go mod vendor"},
	} {
		put(t, dir, map[string]string{"go.mod": text, "m.go": "package m\n"})
		refused(t, cache, spec, says[0], says[1])
	}
	put(t, dir, map[string]string{"go.mod": "module m\ngo 1.21\n", "m.go": "package main\nfunc main() {}\n"})
	_, err := probetest.Run(t.Context(), probetest.OfPackage(&spec, probetest.In("local", t.TempDir(), cache), probetest.WithoutBuild))
	if err == nil || !strings.Contains(err.Error(), "nothing to run") {
		t.Errorf("%v", err)
	}
}
