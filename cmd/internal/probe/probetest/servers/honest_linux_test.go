//go:build linux && e2e

package servers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// honest is a server that should be quiet, as testdata/honest.json lists it or the
// list of public servers beside the project.
type honest struct {
	ID string `json:"id"`
	// Command's words are paths below the cache where they begin with npm/, go/,
	// pysdk/ or servers/.
	Command   []string          `json:"command"`
	Transport string            `json:"transport"`
	Env       map[string]string `json:"env"`
	// Needs are what it lacks here: "tool NAME", "*" for all tools, "server" for what
	// keeps it from starting, "limit" for a limit of the sandbox, "code FILE:FUNCTION" for what does not run without it and
	// "opaque HOST" for what cannot be decrypted, each with the reason.
	Needs map[string]string `json:"needs"`
	// Facts are findings that a reading of the source confirms, by their rule, each with what was read. One that
	// is not found any more is loud.
	Facts map[string]string `json:"facts"`
	// More are further arguments.
	More []string `json:"more"`
	// Slow ones begin first, so that none is left alone at the end.
	Slow bool `json:"slow"`
}

// excusable are the reasons that a listed need may give.
var excusable = regexp.MustCompile(`answered every call with an error|never answered|needs a program|needs the service|says that it needs|was never called|were never called`)

// unstarted are those of a server that needs something before it speaks.
var unstarted = regexp.MustCompile(`says that it needs|needs a program|handshake|exited unexpectedly|coalmine called nothing|coalmine made no call|not everything was called: the server ended`)

// loud says what is not quiet about a result, nothing where it is: findings of
// weight that no listed fact is, tools that need nothing and never answered
// well, and doubts that no listed need explains.
func loud(r *analyze.Result, needs, facts map[string]string) []string {
	var out []string
	found := map[string]bool{}
	for _, f := range r.All() {
		found[f.Rule] = true
		if f.Rule != "CM207" && facts[f.Rule] == "" && f.Severity.Rank() >= finding.Medium.Rank() {
			out = append(out, fmt.Sprintf("%s %s: %s", f.Severity, f.Rule, f.Message))
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(facts)) {
		if !found[rule] {
			out = append(out, rule+" is no fact any more")
		}
	}
	for _, t := range r.Coverage.Tools {
		if t.What == "tool" && t.OK == 0 && needs["tool "+t.Name] == "" && needs["*"] == "" && needs["server"] == "" {
			out = append(out, fmt.Sprintf("tool %s never succeeded in %d calls", t.Name, t.Calls))
		}
	}
	for i, why := range r.Inconclusive {
		if excuses(r, needs, i) {
			continue
		}
		if len(needs) == 0 || !excusable.MatchString(why) && (needs["server"] == "" || !unstarted.MatchString(why)) {
			out = append(out, "inconclusive: "+why)
		}
	}
	return out
}

// excuses reports whether a listed need explains a doubt about one function or one host: what
// stands behind a tool does not run without what the tool needs.
func excuses(r *analyze.Result, needs map[string]string, i int) bool {
	if i >= len(r.Gaps) {
		return false
	}
	g := &r.Gaps[i]
	switch g.Code {
	case session.GapCodeNotRun:
		if g.Phase == string(finding.PhaseCall) && (needs["*"] != "" || needs["tool "+g.Tool] != "") {
			return true
		}
		m := unrunCode.FindStringSubmatch(g.Text)
		return m != nil && needs["code "+m[2]+":"+m[1]] != ""
	case session.GapLimitReached:
		return needs["limit"] != ""
	case session.GapPayloadOpaque:
		for need := range needs {
			if host, ok := strings.CutPrefix(need, "opaque "); ok && strings.Contains(g.Text, " to "+host+":") {
				return true
			}
		}
	}
	return false
}

// unrunCode takes the function and its file out of a doubt about code.
var unrunCode = regexp.MustCompile(`^(.+), ([^,]+):\d+, never ran`)

// told is a server's line of the report.
func told(id string, r *analyze.Result, took time.Duration, why []string) string {
	word := "quiet"
	if len(why) > 0 {
		word = "LOUD"
	}
	tools, succeeded, calls, ok := 0, 0, 0, 0
	for _, t := range r.Coverage.Tools {
		if t.What == "tool" {
			tools, calls, ok = tools+1, calls+t.Calls, ok+t.OK
			if t.OK > 0 {
				succeeded++
			}
		}
	}
	by := map[string]int{}
	for _, f := range r.All() {
		by[f.Rule+" "+string(f.Severity)]++
	}
	var found []string
	for k, n := range by {
		found = append(found, fmt.Sprintf("%s ×%d", k, n))
	}
	slices.Sort(found)
	line := fmt.Sprintf("honest %-5s %-36s %-12s %3.0f s, tools %d of %d, calls ok %d of %d; %s", word, id, r.Verdict, took.Seconds(), succeeded, tools, ok, calls, cmp.Or(strings.Join(found, ", "), "no findings"))
	for _, w := range why {
		line += "\n    " + w
	}
	return line
}

// TestHonest probes servers that should be quiet, where COALMINE_HONEST asks for it.
func TestHonest(t *testing.T) {
	if os.Getenv("COALMINE_HONEST") == "" {
		t.Skip("COALMINE_HONEST is not set: make honest-report runs it; TestRealServers has a sample")
	}
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node")
	cache := filepath.Join(filepath.Dir(filepath.Dir(probetest.Installed(t, "python"))), "honest")
	servers := probetest.Shard(t, honestServers(t, cache))
	slices.SortStableFunc(servers, func(a, b honest) int {
		switch {
		case a.Slow == b.Slow:
			return 0
		case a.Slow:
			return -1
		}
		return 1
	})
	// The order of parallel subtests is the testing package's own.
	todo := make(chan honest, len(servers))
	for _, s := range servers {
		todo <- s
	}
	close(todo)
	fmt.Printf("servers %d\n", len(servers))
	end := time.Now().Add(honestTime)
	var workers sync.WaitGroup
	for range honestAtOnce {
		workers.Go(func() {
			for s := range todo {
				t.Run(s.ID, func(t *testing.T) { beQuiet(t, s, end) })
			}
		})
	}
	workers.Wait()
}

// honestTime is for all servers: one for which none of it is left is not quiet.
const honestTime = 9*time.Minute + 15*time.Second

// honestAtOnce is how many servers are probed at the same time: each waits more than
// it works.
const honestAtOnce = 3

// beQuiet probes one server until the end at the latest, and prints its line.
func beQuiet(t *testing.T, s honest, end time.Time) {
	begin := time.Now()
	if !begin.Before(end) {
		fmt.Printf("honest LOUD  %-36s there was no time left for it\n", s.ID)
		t.Fatal("there was no time left for it")
	}
	l := probetest.New(t)
	o := l.Options("local", s.Command...)
	o.Calls, o.Timeout, o.CallTimeout, o.OracleTime, o.ShrinkTime, o.Limits, o.Network = 3, 100*time.Second, 8*time.Second, 10*time.Second, time.Nanosecond, plan.DefaultLimits, plan.NetworkSinkhole
	o.Env, o.Transport = s.Env, s.Transport
	within := 4 * time.Minute
	if s.Slow { // it starts a browser, and with the first
		within *= 2
	}
	line := fmt.Sprintf("honest LOUD  %-36s no verdict in time", s.ID)
	defer func() { fmt.Println(line) }() // a probe that does not end in time ends the test
	r := l.ProbeWithin(min(within, time.Until(end)), o)
	why := loud(r, s.Needs, s.Facts)
	line = told(s.ID, r, time.Since(begin), why)
	if len(why) > 0 {
		t.Errorf("%s", strings.Join(why, "\n"))
	}
}

// honestServers are the project's own and, where they are there, the public ones.
func honestServers(t *testing.T, cache string) []honest {
	t.Helper()
	var list struct {
		Servers []honest `json:"servers"`
	}
	read(t, filepath.Join("testdata", "honest.json"), &list)
	for i := range list.Servers {
		s := &list.Servers[i]
		for k, w := range s.Command {
			if top, rest, _ := strings.Cut(w, "/"); top == "servers" {
				s.Command[k] = filepath.Join(filepath.Dir(cache), "servers", "current", rest)
			} else if top == "npm" || top == "go" || top == "pysdk" {
				s.Command[k] = filepath.Join(cache, w)
			}
		}
	}
	return list.Servers
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%v (.ci/setup/honest.sh installs what is missing)", err)
	}
}

// TestLoud checks the report's own measure: no doubt and no finding may pass it.
func TestLoud(t *testing.T) {
	called := analyze.ToolCoverage{Name: "a", What: "tool", Calls: 3, OK: 1}
	refused := analyze.ToolCoverage{Name: "b", What: "tool", Calls: 3, Errors: 3}
	of := func(tools ...analyze.ToolCoverage) *analyze.Result {
		r := &analyze.Result{Coverage: analyze.Coverage{Tools: tools}}
		for _, tool := range tools {
			if tool.OK == 0 {
				r.Inconclusive = append(r.Inconclusive, "tool “"+tool.Name+"” answered every call with an error")
			}
		}
		return r
	}
	with := func(rule string, s finding.Severity) *analyze.Result {
		r := of(called)
		r.Findings = []finding.Finding{{Rule: rule, Severity: s}}
		return r
	}
	unrun := func(tool string) *analyze.Result {
		r := of(called)
		g := session.Gap{Code: session.GapCodeNotRun, Tool: tool, Text: "main, a.js:3, never ran: starts or signals programs"}
		if tool != "" {
			g.Phase = string(finding.PhaseCall)
		}
		r.Gaps, r.Inconclusive = []session.Gap{g}, []string{g.Text}
		return r
	}
	lost := of(called, refused)
	lost.Inconclusive = append(lost.Inconclusive, "12 observations were lost")
	for name, c := range map[string]struct {
		result *analyze.Result
		needs  map[string]string
		loud   int
		facts  map[string]string
	}{
		"clean":                {of(called), nil, 0, nil},
		"low":                  {with("CM204", finding.Low), nil, 0, nil},
		"medium":               {with("CM204", finding.Medium), nil, 1, nil},
		"start-up":             {with("CM207", finding.Medium), nil, 0, nil},
		"a tool never works":   {of(called, refused), nil, 2, nil},
		"a listed need":        {of(called, refused), map[string]string{"tool b": "a key"}, 0, nil},
		"another's need":       {of(called, refused), map[string]string{"tool c": "a key"}, 1, nil},
		"code behind a need":   {unrun("b"), map[string]string{"tool b": "a key"}, 0, nil},
		"code of no need":      {unrun("b"), map[string]string{"tool c": "a key"}, 1, nil},
		"listed code":          {unrun(""), map[string]string{"code a.js:main": "Windows"}, 0, nil},
		"a need and a loss":    {lost, map[string]string{"tool b": "a key"}, 1, nil},
		"a finding, with need": {with("CM101", finding.High), map[string]string{"*": "a key"}, 1, nil},
		"a fact":               {with("CM219", finding.High), nil, 0, map[string]string{"CM219": "it binds all addresses"}},
		"a fact no more":       {of(called), nil, 1, map[string]string{"CM219": "it binds all addresses"}},
	} {
		if got := loud(c.result, c.needs, c.facts); len(got) != c.loud {
			t.Errorf("%s: %q, want %d", name, got, c.loud)
		}
	}
}
