//go:build linux && e2e

package servers

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// real is a published server and what it takes to be looked at whole.
type real struct {
	needs   string
	command []string
	// cannot are those ("tool fetch") that no input makes succeed here, each with its reason.
	cannot map[string]string
	// holes are the published ones ("CM303 read_file: prefix"), which must be found; a
	// server with none must be quiet.
	holes []string
	// made is how the URIs of resources begin that calls make: the server does not serve
	// each that an odd input named. "" is for none.
	made string
	// calls of each tool, 0 for the default: some of a server's tools are slow.
	calls int
}

const (
	everything = "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
	filesystem = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
)

// oldHoles are CVE-2025-53110 (a sibling of the same prefix) and CVE-2025-53109
// (a link within the root).
var oldHoles = []string{"CM303 read_file sibling", "CM303 read_file link", "CM303 read_multiple_files sibling", "CM303 write_file sibling", "CM303 create_directory sibling"}

const undecoded = "is read by a name that the server does not decode"

var reals = map[string]real{
	"everything": {needs: "node", command: []string{"node", everything, "stdio"}, calls: 4, made: "demo://resource/session/"},
	"filesystem": {needs: "node", command: []string{"node", "npm/" + filesystem, "/data"}},
	// It declares no argument: its refusals have to be understood first.
	"filesystem-2025": {needs: "node", command: []string{"node", "npm-old/" + filesystem, "/data"}, holes: oldHoles},
	"mcp-filesystem-0.6": {needs: "node", command: []string{"node", "npm-other/node_modules/mcp-server-filesystem/dist/index.js", "/data"}, cannot: map[string]string{
		"resource file://data%2Fnotes.txt": undecoded, "resource file://data%2Fdocs%2Freport.md": undecoded, "resource folder://data%2Fdocs": undecoded, "resource file://data%2Fminutes.md": undecoded,
	}, holes: oldHoles},
	"memory":              {needs: "node", command: []string{"node", "npm/node_modules/@modelcontextprotocol/server-memory/dist/index.js"}},
	"sequential-thinking": {needs: "node", command: []string{"node", "npm/node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js"}},
	"time":                {needs: "python", command: []string{"py/bin/python", "-m", "mcp_server_time"}},
	"fetch":               {needs: "python", command: []string{"py/bin/python", "-m", "mcp_server_fetch"}},
	"git":                 {needs: "python", command: []string{"py/bin/python", "-m", "mcp_server_git"}},
}

// in makes the words that name an installed file absolute.
func (r real) in(dir string) []string {
	out := slices.Clone(r.command)
	for i, w := range out {
		if abs := filepath.Join(dir, w); strings.Contains(w, "/") && !filepath.IsAbs(w) {
			out[i] = abs
		}
	}
	return out
}

// sampledReals are the servers that every run of the tests probes.
var sampledReals = []string{"filesystem-2025", "time"}

func TestRealServers(t *testing.T) {
	t.Parallel()
	for name, server := range reals {
		if !scale.Deep() && !slices.Contains(sampledReals, name) {
			continue
		}
		for _, backend := range probetest.Paired(name) {
			t.Run(name+"/"+backend, func(t *testing.T) {
				t.Parallel()
				probetest.Need(t, backend)
				l := probetest.New(t)
				o := l.Options(backend, server.in(probetest.Installed(t, server.needs))...)
				o.Calls, o.Timeout, o.CallTimeout, o.Limits = cmp.Or(server.calls, plan.DefaultCalls), 4*time.Minute, plan.DefaultCallTimeout, plan.DefaultLimits
				o.Alone = true
				if len(server.holes) > 0 {
					o.OracleTime = 2 * time.Minute // a busy machine is no reason to miss one
				}
				checkReal(t, l.ProbeWithin(o.Timeout+2*time.Minute, o), server)
			})
		}
	}
}

// holds reports whether a finding of high severity is the published hole "rule tool context".
func holds(list []finding.Finding, hole string) bool {
	words := strings.Fields(hole)
	return slices.ContainsFunc(list, func(f finding.Finding) bool {
		return f.Rule == words[0] && f.Tool == words[1] && f.Severity.Rank() >= finding.High.Rank() && strings.Contains(f.Message, words[2])
	})
}

func checkReal(t *testing.T, r *analyze.Result, server real) {
	t.Helper()
	if len(server.holes) == 0 {
		quiet(t, r)
	}
	for _, hole := range server.holes {
		if !holds(r.Findings, hole) {
			t.Errorf("the published hole was not found: %s", hole)
		}
	}
	for _, tool := range r.Coverage.Tools {
		reason, excused := server.cannot[tool.What+" "+tool.Name]
		switch {
		case server.made != "" && tool.What == "resource" && strings.HasPrefix(tool.Name, server.made):
		case tool.Calls == 0:
			t.Errorf("%s %s was never called", tool.What, tool.Name)
		case tool.OK == 0 && !excused:
			t.Errorf("%s %s never succeeded in %d calls (%d errors, %d timeouts)", tool.What, tool.Name, tool.Calls, tool.Errors, tool.Timeouts)
		case tool.OK > 0 && excused:
			t.Errorf("%s %s succeeded, though it %s", tool.What, tool.Name, reason)
		}
	}
	if r.Coverage.Lost > 0 {
		t.Errorf("%d observations were lost", r.Coverage.Lost)
	}
	want := analyze.Clean
	for excused := range server.cannot {
		if strings.HasPrefix(excused, "tool ") {
			want = analyze.Inconclusive
		}
	}
	if len(server.holes) > 0 {
		want = analyze.Findings
	}
	if r.Verdict != want {
		t.Errorf("%s, want %s: %v", r.Verdict, want, r.Inconclusive)
	}
}

// quiet checks that nothing of weight was found, the audit's included.
func quiet(t *testing.T, r *analyze.Result) {
	t.Helper()
	for _, f := range r.All() {
		if f.Severity.Rank() >= finding.Medium.Rank() {
			t.Errorf("%s %s: %s %+v", f.Severity, f.Rule, f.Message, f.Evidence)
		}
	}
}

// twins are the pairs of servers with one declaration.
var twins = map[string]struct {
	needs   string
	command func(t *testing.T, l *probetest.Lab, name string) []string
}{
	"go": {command: func(_ *testing.T, l *probetest.Lab, name string) []string { return []string{l.Path(name)} }},
	"node": {needs: "node", command: func(t *testing.T, l *probetest.Lab, name string) []string {
		return []string{"node", l.Source(t, name, ".mjs")}
	}},
	"python": {needs: "python", command: func(t *testing.T, l *probetest.Lab, name string) []string {
		return []string{"python3", l.Source(t, name, ".py")}
	}},
}

func TestTwins(t *testing.T) {
	t.Parallel()
	for language, twin := range twins {
		if language == "python" && !scale.Deep() {
			continue // most other tests of the sample have a server in Python
		}
		for _, backend := range probetest.Paired(language) {
			t.Run(language+"/"+backend, func(t *testing.T) {
				t.Parallel()
				probetest.Need(t, backend)
				if twin.needs != "" {
					sandboxtest.Need(t, twin.needs)
				}
				declared := map[string]string{}
				for _, name := range []string{"leaky", "honest"} {
					l := probetest.New(t, name)
					o := l.Options(backend, twin.command(t, l, name)...)
					o.Timeout, o.Limits = time.Minute, plan.DefaultLimits // Node takes more than a hostile server is given
					r := l.Probe(o)
					probetest.CheckTwin(t, name, r)
					raw, err := json.Marshal(r.Declared.Tools)
					if err != nil {
						t.Fatal(err)
					}
					declared[name] = string(raw)
				}
				if declared["leaky"] != declared["honest"] || !strings.Contains(declared["honest"], "format_note") {
					t.Errorf("the declarations differ:\n%s\n%s", declared["leaky"], declared["honest"])
				}
			})
		}
	}
}
