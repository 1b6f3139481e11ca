package analyze_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// covered judges a kept run, which is clean, with a report of what of its code ran.
func covered(t *testing.T, r *coverage.Report, policy string) *analyze.Result {
	t.Helper()
	dir := t.TempDir()
	analyzetest.UnpackRun(t, filepath.Join("..", "testdata", "runs", "local-ebpf-clean-honest.tar.gz"), dir)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, analyze.CoverageFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	res, _, err := analyze.Judge(root, "test", func(in *analyze.Inputs) {
		if policy != "" {
			in.Policy = &analyze.File{Name: "coalmine.yaml", Text: policy}
		}
		in.Least = true
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// unrun is a report on functions that never ran.
func unrun(list ...coverage.Unrun) *coverage.Report {
	return &coverage.Report{Schema: coverage.Schema, Functions: 9, Reached: 3, Unrun: list}
}

func TestCodeThatNeverRanIsADoubt(t *testing.T) {
	steal := coverage.Unrun{File: "server.py", Name: "steal", Line: 40, Kinds: []sinks.Kind{sinks.Read, sinks.Network}, Way: "tool", Tool: "format_note", Weighs: true}
	with := func(change func(*coverage.Unrun)) coverage.Unrun {
		u := steal
		change(&u)
		return u
	}
	for name, c := range map[string]struct {
		report *coverage.Report
		policy string
		want   []string
	}{
		"all ran":        {unrun(), "", nil},
		"a behaviour":    {unrun(steal), "", []string{"steal, server.py:40, never ran: reads files and uses the network"}},
		"a branch":       {unrun(with(func(u *coverage.Unrun) { u.Entered, u.Name = true, "" })), "", []string{"the module's own code, server.py:40, never ran from there on, in one branch: reads files and uses the network"}},
		"no way":         {unrun(with(func(u *coverage.Unrun) { u.Way = "" })), "", nil},
		"no weight":      {unrun(with(func(u *coverage.Unrun) { u.Weighs = false })), "", nil},
		"a bundle":       {unrun(with(func(u *coverage.Unrun) { u.Owner = coverage.Unknown })), "", nil},
		"accepted":       {unrun(steal), `accept_unrun: [{function: "server.py:steal", reason: read, expires: 2999-01-01}]`, nil},
		"accepted once":  {unrun(steal), `accept_unrun: [{function: "server.py:steal", reason: read, expires: 2001-01-01}]`, []string{"steal, server.py:40, never ran: reads files and uses the network"}},
		"not recorded":   {&coverage.Report{Schema: coverage.Schema, Unrecorded: "it ended"}, "", []string{"the code coverage of the server is unknown: it ended"}},
		"not all read":   {&coverage.Report{Schema: coverage.Schema, Unread: 2}, "", []string{"the code coverage leaves out 2 functions of the program: too large or too many"}},
		"none read":      {&coverage.Report{Schema: coverage.Schema, Unread: 2, Unrecorded: "it ended"}, "", []string{"the code coverage of the server is unknown: it ended"}},
		"hostile texts":  {unrun(with(func(u *coverage.Unrun) { u.Name = "a\x1b[31m" + strings.Repeat("b", 300) })), "", []string{text.Printable("a\x1b[31m"+strings.Repeat("b", 300), 120) + ", server.py:40, never ran: reads files and uses the network"}},
		"hostile counts": {unrun(slices.Repeat([]coverage.Unrun{with(func(u *coverage.Unrun) { u.Weighs = false })}, 1000)...), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			res := covered(t, c.report, c.policy)
			if !slices.Equal(res.Inconclusive, c.want) && len(res.Inconclusive)+len(c.want) > 0 {
				t.Errorf("got %q, want %q", res.Inconclusive, c.want)
			}
			if (res.Verdict == analyze.Inconclusive) != (len(c.want) > 0) {
				t.Errorf("the verdict is %s", res.Verdict)
			}
			if len(res.Coverage.Code.Unrun) > 100 {
				t.Errorf("%d functions are listed", len(res.Coverage.Code.Unrun))
			}
		})
	}
	res := covered(t, unrun(steal), "")
	if g := res.Gaps[0]; g.Code != session.GapCodeNotRun || g.Tool != "format_note" || g.Phase != "call" {
		t.Errorf("%+v", g)
	}
	if under := covered(t, unrun(steal), string(res.Least.Marshal())); under.Verdict != analyze.Clean {
		t.Errorf("under the least policy of the run it is %s: %q", under.Verdict, under.Inconclusive)
	}
}
