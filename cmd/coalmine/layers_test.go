package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/coalmine-dev/coalmine/"

// layers is the layer of each package: it imports its own layer and those below.
// docs/architecture.md describes them, and a new package is added there too.
var layers = map[string]int{
	"sandbox/mcp/wire": 0, "analyze/text": 0, "analyze/text/classifier": 0, "analyze/text/gloss": 0, "analyze/opaque": 0, "sandbox/trace": 0, "sandbox/session": 0, "sandbox/mux": 0, "canaries": 0, "canaries/lazyregexp": 0, "analyze/finding": 0, "analyze/policy/yamldoc": 0, "audit/lang": 0, "sandbox/sandboxtest/cputime": 0, "sandbox/sandboxtest/slots": 0, "sandbox/sandboxtest/scale": 0,
	"sandbox/trace/strace": 1, "sandbox/dialect": 1, "sandbox/mcp/tap": 1, "sandbox/mcp/client": 1, "sandbox/mcp/config": 1, "sandbox/mcp/discover": 1, "sandbox/rootfs": 1, "sandbox/seccomp": 1, "sandbox/sinkhole": 1, "sandbox/egress": 1, "sandbox/install": 1, "sandbox/registry": 1, "canaries/secrets": 1, "sandbox/shown": 1, "synth/schema": 1, "synth/literals": 1, "synth/answers": 1, "synth/oracle": 1,
	"audit/lang/python": 1, "audit/lang/javascript": 1, "audit/lang/golang": 1, "audit/lang/shell": 1, "audit/lang/dockerfile": 1, "audit/lang/notebook": 1, "audit/sinks": 1, "audit/taint": 1,
	"sandbox/trace/bpf": 1, "sandbox/spy": 1, "sandbox/spy/reassembly": 1, "sandbox/spy/plaintext": 1, "sandbox/trace/tracetest": 1, "sandbox/trace/tlsread": 1, "sandbox/trace/reached": 1, "sandbox/trace/idle": 1,
	"sandbox/mcp/gate": 1, "sandbox/mcp/proxy": 1,
	"analyze/policy": 1, "analyze/custom": 1, "analyze/scope": 1, "analyze/wirelog": 1, "analyze/pii": 1, "analyze/detect": 1, "analyze/handout": 1, "analyze/drift": 1, "analyze/profile": 1, "analyze/rules": 1,
	"sandbox/agent": 2, "sandbox/agent/stage": 1, "sandbox/service": 2, "sandbox": 2, "sandbox/docker": 2, "sandbox/local": 2, "sandbox/inplace": 2, "sandbox/sandboxtest": 2, "sandbox/sandboxtest/browser": 2, "sandbox/sandboxtest/fake": 2,
	"synth": 2, "analyze": 2, "audit": 2, "audit/coverage": 2, "audit/online": 2, "analyze/report": 2, "analyze/advise": 2, "analyze/analyzetest": 2,
	"cmd/internal/action": 3, "cmd/internal/probe": 3, "cmd/internal/probe/plan": 3, "cmd/internal/probe/plan/plantest": 3, "cmd/internal/probe/run": 3, "cmd/internal/probe/experiment": 3, "cmd/internal/probe/shrink": 3, "cmd/internal/probe/recorder": 3, "cmd/internal/probe/remote": 3, "cmd/internal/probe/probetest": 3, "cmd/internal/probe/probetest/faults": 3, "cmd/internal/probe/probetest/network": 3, "cmd/internal/probe/probetest/packages": 3, "cmd/internal/probe/probetest/servers": 3, "cmd/internal/probe/probetest/verdicts": 3, "cmd/internal/textjudge": 3, "cmd/internal/doctor": 3, "cmd/internal/wiretap": 3, "cmd/internal/serve": 3, "cmd/internal/since": 3, "cmd/internal/bundle": 3, "cmd/internal/prepare": 3, "cmd/internal/sweep": 3, "cmd/internal/sweep/listing": 3, "cmd/internal/sweep/queue": 3, "cmd/internal/sweep/store": 3, "cmd/internal/sweep/site": 3, "cmd/internal/tui": 3, "cmd/internal/tui/frames": 3, "cmd/internal/sweep/sweeptest": 3, "analyze/together": 2, "cmd/internal/attest": 3, "cmd/internal/comment": 3, "cmd/internal/sweep/monitor": 3, "cmd/internal/sweep/tracing": 3, "cmd/internal/spy": 3, "cmd/internal/cli": 3, "cmd/coalmine": 3,
}

// bans are the walls within the layers: who must not import what.
var bans = []struct{ from, to string }{
	{"analyze", "synth"}, {"analyze", "cmd"}, {"audit", "synth"}, {"audit", "sandbox"},
	{"sandbox", "synth"}, {"sandbox", "analyze"}, {"sandbox", "audit"}, {"canaries", "sandbox"}, {"canaries", "analyze"},
}

// wordsOfSandbox are the only parts of sandbox that analyze may know.
var wordsOfSandbox = map[string]bool{"sandbox/mcp/wire": true, "sandbox/trace": true, "sandbox/session": true, "sandbox/mux": true}

// sharedWords are what every part may know of analyze: the gate keeps the same policy as the judge.
var sharedWords = map[string]bool{"analyze/policy": true}

func within(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// imports parses every source below root and calls f for each import of ours.
func imports(t *testing.T, root string, f func(file, from, to string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		src, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(p))
		if err != nil {
			return err
		}
		for _, imp := range src.Imports {
			if to, ok := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module); ok {
				f(p, filepath.ToSlash(rel), to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsGoDownwards(t *testing.T) {
	seen := 0
	imports(t, "../..", func(file, from, to string) {
		seen++
		a, okA := layers[from]
		b, okB := layers[to]
		if !okA || !okB {
			t.Errorf("%s: %s or %s has no layer: add it to the house", file, from, to)
			return
		}
		if b > a {
			t.Errorf("%s: %s (layer %d) imports %s (layer %d)", file, from, a, to, b)
		}
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, ban := range bans {
			if within(from, ban.from) && within(to, ban.to) && !sharedWords[to] {
				t.Errorf("%s: %s must not import %s", file, from, to)
			}
		}
		if within(from, "analyze") && within(to, "sandbox") && !wordsOfSandbox[to] {
			t.Errorf("%s: %s may know only the words of sandbox, not %s", file, from, to)
		}
	})
	if seen < 50 {
		t.Fatalf("only %d imports were seen: the sources were not found", seen)
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for pkg := range layers {
		dir := filepath.Join("..", "..", filepath.FromSlash(pkg))
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "doc.go")); err != nil {
			t.Errorf("%s has no doc.go", pkg)
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "doc.go"))
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(string(data), "\n// ", " "); !strings.Contains(text, "must") {
			t.Errorf("%s: doc.go does not say what the package must never do", pkg)
		}
	}
}
