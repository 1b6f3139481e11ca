//go:build linux && e2e

package servers

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/shrink"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// holes are the cases of testdata/servers/oracles and the rule that finds each;
// "" is a case that gives nothing, whichever twin it is.
var holes = map[string]map[string]string{
	"python": {
		"command-bare": "CM301", "command-single-quoted": "CM301", "command-double-quoted": "CM301", "command-newline": "CM301", "command-substitution": "CM301",
		"command-backticks": "CM301", "command-pipe": "CM301", "command-and": "CM301", "command-no-blank": "CM301", "command-no-dollar": "CM301",
		"argument-output": "CM302", "argument-split": "CM302",
		"path-absolute": "CM303", "path-dot-dot": "CM303", "path-encoded": "CM303", "path-encoded-twice": "CM303", "path-backslashes": "CM303", "path-filter": "CM303",
		"path-nul": "CM303", "path-prefix": "CM303", "path-link": "CM303", "path-suffix": "CM303", "path-create": "CM303",
		"fetch-hidden": "CM304", "fetch-metadata": "CM304", "fetch-private": "CM304", "fetch-decimal": "CM304", "fetch-loopback": "CM304", "fetch-name": "CM304", "fetch-redirect": "CM304",
		"code-eval": "CM305", "code-text": "CM305", "code-quoted-text": "CM305", "code-format": "CM305", "code-attributes": "CM305", "code-template": "CM305", "code-pickle": "CM305", "code-yaml": "CM305",
		"archive-dot-dot": "CM313", "archive-link": "CM313", "served-code": "CM310",
		"hidden-tool": "CM306", "hidden-argument": "CM308", "echo": "", "crash": "CM601", "asks": "", "asks-ungranted": "CM404", "repeat": "CM213",
		"trigger-third-call": "CM101", "trigger-length": "CM101", "trigger-magic": "CM101", "trigger-second-start": "CM101", "trigger-previous-result": "CM101", "trigger-sequence": "CM101",
	},
	"node": {
		"command-bare": "CM301", "command-single-quoted": "CM301", "command-double-quoted": "CM301", "command-newline": "CM301", "command-substitution": "CM301",
		"command-backticks": "CM301", "command-pipe": "CM301", "command-and": "CM301",
		"argument-output": "CM302", "argument-split": "CM302",
		"path-absolute": "CM303", "path-dot-dot": "CM303", "path-encoded": "CM303", "path-backslashes": "CM303", "path-filter": "CM303",
		"path-nul": "CM303", "path-prefix": "CM303", "path-link": "CM303", "path-suffix": "CM303", "path-create": "CM303",
		"fetch-hidden": "CM304", "fetch-metadata": "CM304", "fetch-private": "CM304", "fetch-decimal": "CM304", "fetch-loopback": "CM304", "fetch-name": "CM304", "fetch-redirect": "CM304",
		"code-eval": "CM305", "code-function": "CM305", "code-vm": "CM305", "code-text": "CM305", "code-quoted-text": "CM305", "code-literal": "CM305",
		"code-embedded": "CM305", "code-template": "CM305", "code-serialized": "CM305", "code-yaml": "CM305",
		"archive-base64": "CM313", "served-code": "CM310", "served-vm": "CM310",
		"hidden-tool": "CM306", "hidden-argument": "CM308", "prototype": "CM307", "prototype-path": "CM307", "echo": "",
		"trigger-third-call": "CM101", "trigger-length": "CM101", "trigger-magic": "CM101", "trigger-second-start": "CM101", "trigger-previous-result": "CM101", "trigger-sequence": "CM101",
	},
}

// sampled are the cases that every run of the tests looks at, each in one language; all
// of them take minutes.
var sampled = map[string]string{
	"path-link": "node", "trigger-third-call": "python", "served-code": "node",
}

// reported says that all cases are to be looked at, and each is to be told.
var reported = os.Getenv("COALMINE_ORACLES") == "all"

// oracleCase is one twin of a case, and the rule that is to find it.
type oracleCase struct{ language, name, twin, want string }

// oracleCases are the twins to look at, in one order: those of the sample, or of the shard.
func oracleCases(t *testing.T) []oracleCase {
	t.Helper()
	var out []oracleCase
	for _, language := range slices.Sorted(maps.Keys(holes)) {
		for _, name := range slices.Sorted(maps.Keys(holes[language])) {
			if !reported && sampled[name] != language {
				continue
			}
			out = append(out, oracleCase{language, name, "hole", holes[language][name]})
			if reported || name == "trigger-third-call" {
				out = append(out, oracleCase{language, name, "fixed", ""})
			}
		}
	}
	if !reported {
		return out
	}
	return probetest.Shard(t, out)
}

// TestOracles probes each case's two twins: the hole is to be found, and the
// fixed one is to give nothing.
func TestOracles(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	for _, c := range oracleCases(t) {
		sandboxtest.Need(t, c.language)
		t.Run(c.language+"/"+c.name+"/"+c.twin, func(t *testing.T) {
			t.Parallel()
			got, word := verdictOn(probeCase(t, c.language, c.name, c.twin), c.want), "right"
			if got != "" {
				t.Error(got)
				word = "WRONG: " + got
			}
			if reported {
				fmt.Printf("%-8s %-26s %-6s %s\n", c.language, c.name, c.twin, word)
			}
		})
	}
}

// probeCase probes one twin.
func probeCase(t *testing.T, language, name, twin string) *analyze.Result {
	t.Helper()
	l := probetest.New(t)
	o := l.Options("local", oracles(l, t, language, name, twin)...)
	// The times are generous: calls decide what is found, on a slow machine as well.
	o.Calls, o.Timeout, o.OracleTime, o.CallTimeout, o.ShrinkTime = plan.DefaultCalls, 4*time.Minute, 3*time.Minute, 10*time.Second, time.Nanosecond
	o.Limits, o.Network = plan.DefaultLimits, plan.NetworkSinkhole
	return l.ProbeWithin(o.Timeout+time.Minute, o)
}

// oracles is the command of a twin.
func oracles(l *probetest.Lab, t *testing.T, language, name, twin string) []string {
	t.Helper()
	program, suffix := "node", ".mjs"
	if language == "python" {
		program, suffix = "python3", ".py"
	}
	if name == loaderCase {
		loader(l, t, language)
	}
	return []string{program, l.Source(t, "oracles", suffix), name, twin}
}

// loaderCase needs a library of its language's beside it.
const loaderCase = "code-yaml"

// loader puts the library beside the server (.ci/setup/loaders.sh).
func loader(l *probetest.Lab, t *testing.T, language string) {
	t.Helper()
	dir := filepath.Join(probetest.CacheDir(t), "loaders", "current", language)
	_, err := os.Stat(dir)
	switch {
	case err != nil && strings.Contains(os.Getenv("COALMINE_REQUIRE"), language):
		t.Fatalf("the loaders are not installed (.ci/setup/loaders.sh): %v", err)
	case err != nil:
		t.Skipf("the loaders are not installed (.ci/setup/loaders.sh): %v", err)
	}
	if err := os.CopyFS(l.Path("."), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
}

// verdictOn says what is wrong with a result, "" for nothing: the rule wanted
// must have found something, and where none is, nothing of weight may be found.
func verdictOn(r *analyze.Result, want string) string {
	var got []string
	for _, f := range r.Findings {
		if f.Rule == want && f.Severity.Rank() >= min(finding.Medium.Rank(), ruleSeverity(want).Rank()) {
			return ""
		}
		if f.Severity.Rank() >= finding.Medium.Rank() || strings.HasPrefix(f.Rule, "CM3") {
			got = append(got, f.Rule+" "+f.Message)
		}
	}
	if want != "" {
		return fmt.Sprintf("%s was not found, but %q", want, got)
	}
	if len(got) > 0 {
		return fmt.Sprintf("%q", got)
	}
	return ""
}

// ruleSeverity is what a rule's findings have of themselves.
func ruleSeverity(id string) finding.Severity {
	for _, r := range rules.All() {
		if r.ID == id {
			return r.Severity
		}
	}
	return ""
}

// TestCrashIsGoneRound checks that a server which ends in a call is started again,
// that its other tools are called all the same, and that the finding's replay is
// the smallest call that ends it.
func TestCrashIsGoneRound(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	l := probetest.New(t)
	o := l.Options("local", oracles(l, t, "python", "crash", "hole")...)
	o.Calls, o.Timeout, o.Limits, o.ShrinkTime = 3, time.Minute, plan.DefaultLimits, 10*time.Minute
	res := l.ProbeWithin(o.Timeout+o.ShrinkTime+time.Minute, o)
	r := theReplay(t, l, ofRule(t, res, "CM601"))
	if len(r.Steps) != 1 || strings.Join(strings.Fields(string(r.Steps[0].Args)), "") != `{"who":"|"}` || !r.Minimal || r.Shown != shrink.Confirmations {
		t.Errorf("%+v", r)
	}
	for _, tool := range res.Coverage.Tools {
		if tool.OK == 0 {
			t.Errorf("%s was not called with success: %+v", tool.Name, tool)
		}
	}
}
