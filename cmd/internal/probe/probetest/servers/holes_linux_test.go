//go:build linux && e2e

package servers

import (
	"fmt"
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
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
)

// hole is a published version with a known hole, as testdata/holes.json lists it.
type hole struct {
	public
	Advisory string `json:"advisory"`
	// Tool lists the tools with the hole.
	Tool string `json:"tool"`
	// Must are "rule tool context" of findings without which the test fails.
	Must []string `json:"must"`
	// None says why no effect in a sandbox without a network can prove the hole, "" for none.
	None string `json:"none"`
}

// proof is what proves a kind of hole: rules that judge an effect of a call or of a request to an
// open port, and the least severity.
type proof struct {
	rules []string
	least finding.Severity
}

var proofs = map[string]proof{
	"command injection":  {[]string{"CM301", "CM302", "CM305", "CM310"}, finding.High},
	"argument injection": {[]string{"CM301", "CM302"}, finding.High},
	"path traversal":     {[]string{"CM303", "CM313"}, finding.High},
	"SSRF":               {[]string{"CM304", "CM311"}, finding.High},
	"code evaluation":    {[]string{"CM301", "CM305", "CM310"}, finding.High},
	"SQL injection":      {[]string{"CM309"}, finding.High},
	"read-only bypass":   {[]string{"CM201", "CM202", "CM203", "CM224", "CM309"}, finding.Medium},
	"exposure":           {[]string{"CM211", "CM219", "CM703", "CM301", "CM303", "CM304"}, finding.Medium},
}

// TestKnownHoles probes published servers with known holes, with no hint about tool and
// argument, where COALMINE_HOLES asks for it: "all", "seen" or "unseen". SHARD=i/n takes a part.
func TestKnownHoles(t *testing.T) {
	asked := os.Getenv("COALMINE_HOLES")
	if asked == "" {
		t.Skip("COALMINE_HOLES is not set: make holes-report runs it")
	}
	probetest.Need(t, "local")
	var list struct {
		Holes []hole `json:"holes"`
	}
	read(t, filepath.Join("testdata", "holes.json"), &list)
	var mu sync.Mutex
	sums := map[string]map[string]int{}
	t.Run("hole", func(t *testing.T) {
		for _, h := range probetest.Shard(t, list.Holes) {
			if proofs[h.Kind].rules == nil {
				t.Errorf("%s: the kind %q has no rules", h.Target, h.Kind)
			}
			if asked != h.half() && asked != "all" {
				continue
			}
			t.Run(h.Target, func(t *testing.T) {
				t.Parallel()
				begin := time.Now()
				res, err := h.run(t)
				word, more := h.outcome(res, err)
				for _, must := range h.Must {
					if res == nil || !holds(res.Findings, must) {
						t.Errorf("%s was not found", must)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				if h.half() == "seen" { // of the other half the totals are all that is told
					fmt.Printf("hole seen %s: %s, %.0f s (%s, %s) %s\n", h.Target, word, time.Since(begin).Seconds(), h.Advisory, h.Kind, more)
				}
				group := h.half() + ", " + map[bool]string{true: "no needs", false: "needs"}[h.Needs == ""]
				if sums[group] == nil {
					sums[group] = map[string]int{}
				}
				sums[group][word]++
			})
		}
	})
	for _, group := range slices.Sorted(maps.Keys(sums)) {
		n, all := sums[group], 0
		for _, count := range n {
			all += count
		}
		fmt.Printf("holes %s: %d/%d found; %d not found, %d not probed, %d out of reach\n", group, n["found"], all, n["not found"], n["not probed"], n["out of reach"])
	}
}

// outcome is a word for what was said of a hole, and a cause.
func (h *hole) outcome(res *analyze.Result, err error) (word, why string) {
	switch {
	case err != nil:
		return "not probed", err.Error()
	case h.isProven(res):
		return "found", ""
	case h.None != "":
		return "out of reach", h.None
	case h.Needs != "":
		return "not found", "needs " + h.Needs
	}
	return "not found", ""
}

// isProven reports whether a finding says that a tool with the hole, or a port of the server, did
// what the advisory tells.
func (h *hole) isProven(res *analyze.Result) bool {
	tools := strings.FieldsFunc(h.Tool, func(r rune) bool { return r == ',' || r == ' ' })
	p := proofs[h.Kind]
	return slices.ContainsFunc(res.Findings, func(f finding.Finding) bool {
		return slices.Contains(p.rules, f.Rule) && f.Severity.Rank() >= p.least.Rank() && (f.Tool == "" || slices.Contains(tools, f.Tool))
	})
}
