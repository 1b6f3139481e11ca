//go:build linux && e2e

package servers

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
)

// public is a pinned server of a registry, as testdata/reach.json lists it.
type public struct {
	// Target is as the command line takes it: "npm:NAME@VERSION", "pypi:NAME==VERSION".
	Target string            `json:"target"`
	Args   []string          `json:"args"`
	Env    map[string]string `json:"env"`
	Kind   string            `json:"kind"`
	// Transport is "http" or "sse", "" for stdio.
	Transport string `json:"transport"`
	// Needs is the key, service or program without which its tools do nothing, "" for none.
	Needs string `json:"needs"`
}

// half is the half of the list to which a server belongs: nobody looks at the unseen one
// while inputs are tuned.
func (p *public) half() string {
	name := p.Target
	if i := strings.LastIndexAny(name, "@="); i > len("npm:@") {
		name = strings.TrimRight(name[:i], "=")
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	if h.Sum32()>>4%2 == 0 {
		return "seen"
	}
	return "unseen"
}

// TestReach counts the tools of public servers that answered a call without an error, where
// COALMINE_REACH asks for it: "all", "seen" or "unseen". SHARD=i/n takes a part.
func TestReach(t *testing.T) {
	asked := os.Getenv("COALMINE_REACH")
	if asked == "" {
		t.Skip("COALMINE_REACH is not set: make reach-report runs it")
	}
	probetest.Need(t, "local")
	var list struct {
		Servers []public `json:"servers"`
	}
	read(t, filepath.Join("testdata", "reach.json"), &list)
	var mu sync.Mutex
	sums := map[string]*reachSum{}
	t.Run("server", func(t *testing.T) {
		for _, p := range probetest.Shard(t, list.Servers) {
			if asked != p.half() && asked != "all" {
				continue
			}
			t.Run(p.Target, func(t *testing.T) {
				t.Parallel()
				begin := time.Now()
				res, err := p.run(t) // with the limits that a user has by default
				mu.Lock()
				defer mu.Unlock()
				p.add(sums, res)
				switch {
				case p.half() == "unseen": // its totals are all that is told
				case err != nil:
					fmt.Printf("reach %s %s: 0/0 tools, not probed: %s\n", p.half(), p.Target, err)
				default:
					fmt.Println(reached(&p, res, time.Since(begin)))
				}
			})
		}
	})
	for _, group := range slices.Sorted(maps.Keys(sums)) {
		n := sums[group]
		fmt.Printf("reach %s: %d/%d tools of %d servers; %d clean, %d inconclusive, %d with findings, %d not probed\n", group, n.answered, n.tools, n.servers,
			n.verdicts[analyze.Clean], n.verdicts[analyze.Inconclusive], n.verdicts[analyze.Findings], n.verdicts[""])
	}
}

// reachSum is what the servers of one half, with or without needs, add up to.
type reachSum struct {
	servers, answered, tools int
	verdicts                 map[analyze.Verdict]int // "" for those that were not probed
}

// add counts a server, whose result is nil where it was not probed.
func (p *public) add(sums map[string]*reachSum, res *analyze.Result) {
	group := p.half() + ", no needs"
	if p.Needs != "" {
		group = p.half() + ", needs"
	}
	n := sums[group]
	if n == nil {
		n = &reachSum{verdicts: map[analyze.Verdict]int{}}
		sums[group] = n
	}
	n.servers++
	if res == nil {
		n.verdicts[""]++
		return
	}
	n.verdicts[res.Verdict]++
	answered, tools := answers(res)
	n.answered += answered
	n.tools += tools
}

// answers counts the tools, and those that answered a call without an error.
func answers(res *analyze.Result) (answered, tools int) {
	for _, c := range res.Coverage.Tools {
		if c.What == "tool" {
			tools++
			if c.OK > 0 {
				answered++
			}
		}
	}
	return answered, tools
}

// longestProbe is how long a probe of one server may take with all that it leads to, installing included.
const longestProbe = 10 * time.Minute

// run probes the server with the usual settings and those given, and reads its report. The error says
// what coalmine said where there is none. COALMINE_REACH_KEEP names a directory for the runs.
func (p *public) run(t *testing.T, settings ...string) (*analyze.Result, error) {
	t.Helper()
	l := probetest.New(t)
	args := append([]string{"probe", "--sandbox", "local", "--seed", "1", "--out", l.Out, "--format", "line", "--allow-inconclusive", "--fail-on", "never"}, settings...)
	for name, value := range p.Env {
		args = append(args, "--env", name+"="+value)
	}
	if p.Transport != "" {
		args = append(args, "--transport", p.Transport)
	}
	args = append(args, p.Target)
	if len(p.Args) > 0 {
		args = append(append(args, "--"), p.Args...)
	}
	c := l.Start("local", nil, args...)
	if !c.EndsWithin(longestProbe) {
		return nil, fmt.Errorf("coalmine did not end in %v", longestProbe)
	}
	found, err := filepath.Glob(filepath.Join(l.Out, "*", report.FileJSON))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("%.300q", c.Err.String())
	}
	if dir := os.Getenv("COALMINE_REACH_KEEP"); dir != "" {
		if err := os.CopyFS(filepath.Join(dir, filepath.Base(filepath.Dir(found[0]))), os.DirFS(filepath.Dir(found[0]))); err != nil {
			t.Error(err)
		}
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	res := &analyze.Result{}
	if err := json.Unmarshal(data, res); err != nil {
		return nil, err
	}
	return res, nil
}

// reached is a server's line of the report, with what it lacks below.
func reached(p *public, res *analyze.Result, took time.Duration) string {
	answered, tools := answers(res)
	heavy := 0
	for _, f := range res.All() {
		if f.Severity.Rank() >= finding.Medium.Rank() {
			heavy++
		}
	}
	kind := p.Kind
	if p.Needs != "" {
		kind += ", needs " + p.Needs
	}
	line := fmt.Sprintf("reach %s %s: %d/%d tools, %s, %d of medium or above, %.0f s (%s)", p.half(), p.Target, answered, tools, res.Verdict, heavy, took.Seconds(), kind)
	if r := res.Coverage.Reach; r != nil {
		for what, names := range map[string][]string{"needing": r.Needing, "refusing": r.Refusing, "not in time": r.InTime} {
			if len(names) > 0 {
				line += fmt.Sprintf("\n    %s: %s", what, strings.Join(names, ", "))
			}
		}
	}
	return line
}
