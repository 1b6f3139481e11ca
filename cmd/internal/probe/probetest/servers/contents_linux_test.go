//go:build linux && e2e

package servers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TestContentsOfFiles: what a tool that declares to change nothing does to a file of
// the user's stands in the log as a fact, whatever the calls were, and is found; what
// only opens it is quiet.
func TestContentsOfFiles(t *testing.T) {
	t.Parallel()
	for way, c := range map[string]struct {
		change session.Change // of notes.md, or of what is made beside it
		rule   string         // that finds it, "" for none
		text   string         // of its first evidence
	}{
		"create":   {session.ChangeCreated, "CM201", "wrote"},
		"write":    {session.ChangeWritten, "CM201", "wrote"},
		"truncate": {session.ChangeTruncated, "CM201", "wrote"},
		"replace":  {session.ChangeReplaced, "CM201", "wrote"},
		"delete":   {session.ChangeDeleted, "CM203", "deleted"},
		"mode":     {session.ChangeMode, "CM201", "changed"},
		"link":     {session.ChangeKind, "CM203", "deleted"},
		"mapped":   {session.ChangeWritten, "CM201", "wrote"},
		"restore":  {session.ChangeTouched, "CM201", "wrote"},
		"alias":    {session.ChangeWritten, "CM201", "no system call that did it was seen"},
		"thicket":  {session.ChangeTruncated, "CM201", "wrote"},
		"child":    {session.ChangeTruncated, "CM201", "wrote"},
		"open":     {},
	} {
		if !scale.Part(way, 5) && way != "open" {
			continue
		}
		for _, backend := range probetest.Paired(way) {
			t.Run(backend+"/"+way, func(t *testing.T) {
				t.Parallel()
				probetest.Need(t, backend)
				l := probetest.New(t, "changer")
				res := l.Probe(l.Options(backend, l.Path("changer"), way))
				changed, compared := compared(t, l.LogDir())
				if !compared {
					t.Fatal("the files were not compared")
				}
				if !slices.ContainsFunc(changed, func(e session.EventChanged) bool {
					return e.Change == c.change && filepath.Base(filepath.Dir(e.Path)) == "Documents" && filepath.Ext(e.Path) == ".md"
				}) && c.change != "" {
					t.Errorf("no file is %s: %+v", c.change, changed)
				}
				found := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool {
					return f.Rule == c.rule && f.Severity.Rank() >= finding.Medium.Rank() && slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return strings.Contains(e.Text, c.text) })
				})
				if quiet := c.rule == ""; quiet && (len(res.All()) > 0 || len(changed) > 0 || res.Verdict != analyze.Clean) || !quiet && !found {
					t.Errorf("%s %q %+v, changed %+v", res.Verdict, res.Inconclusive, res.All(), changed)
				}
			})
		}
	}
}

// TestSQLiteReads: a tool that reads a database, which SQLite opens for writing, has
// changed nothing by it; one that writes it beside is found.
func TestSQLiteReads(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	for _, way := range []string{"reads", "writes"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			l := probetest.New(t)
			res := l.Probe(l.Options("local", "python3", l.Source(t, "orders", ".py"), way))
			found := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool {
				return f.Rule == "CM201" && f.Tool == "query_orders" && f.Severity.Rank() >= finding.Medium.Rank()
			})
			if found != (way == "writes") {
				t.Errorf("found: %t; %s %q %+v", found, res.Verdict, res.Inconclusive, res.All())
			}
		})
	}
}

// compared are the changes that a run's log tells, and whether it says that it looked.
func compared(t *testing.T, dir string) (changed []session.EventChanged, looked bool) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	log, err := session.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range log.Trace() {
		if err != nil {
			t.Fatal(err)
		}
		if line.Mark == nil || line.Mark.Event == nil {
			continue
		}
		switch e := line.Mark.Event.Body.(type) {
		case session.EventChanged:
			changed = append(changed, e)
		case session.EventCompared:
			looked = true
		}
	}
	return changed, looked
}
