//go:build linux && e2e

package servers

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
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
// COALMINE_REACH asks for it: "all", "seen" or "unseen".
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
	for _, p := range probetest.Shard(t, list.Servers) {
		if asked == p.half() || asked == "all" {
			t.Run(p.Target, func(t *testing.T) { reach(t, &p) })
		}
	}
}

// reach probes one server by the command line, and prints its line.
func reach(t *testing.T, p *public) {
	begin := time.Now()
	l := probetest.New(t)
	args := []string{"probe", "--sandbox", "local", "--seed", "1", "--timeout", "90s", "--call-timeout", "8s", "--out", l.Out, "--format", "line", "--allow-inconclusive", "--fail-on", "never"}
	for name, value := range p.Env {
		args = append(args, "--env", name+"="+value)
	}
	args = append(args, p.Target)
	if len(p.Args) > 0 {
		args = append(append(args, "--"), p.Args...)
	}
	c := l.Run("local", nil, args...)
	found, err := filepath.Glob(filepath.Join(l.Out, "*", report.FileJSON))
	if err != nil || len(found) != 1 {
		fmt.Printf("reach %s %s: 0/0 tools, not probed: %.300q\n", p.half(), p.Target, c.Err.String())
		return
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var res analyze.Result
	if err := json.Unmarshal(data, &res); err != nil {
		t.Fatal(err)
	}
	fmt.Println(reached(p, &res, time.Since(begin)))
	if dir := os.Getenv("COALMINE_REACH_KEEP"); dir != "" {
		if err := os.CopyFS(filepath.Join(dir, filepath.Base(filepath.Dir(found[0]))), os.DirFS(filepath.Dir(found[0]))); err != nil {
			t.Error(err)
		}
	}
}

// reached is a server's line of the report, with what it lacks below.
func reached(p *public, res *analyze.Result, took time.Duration) string {
	answered, tools, heavy := 0, 0, 0
	for _, c := range res.Coverage.Tools {
		if c.What == "tool" {
			tools++
			if c.OK > 0 {
				answered++
			}
		}
	}
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
