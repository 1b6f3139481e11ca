package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	keeps(t, t.TempDir())
}

// keeps checks that a database keeps what sweeps say, and each result once.
func keeps(t *testing.T, place string) {
	t.Helper()
	ctx := t.Context()
	var all [2]*Store
	var opened sync.WaitGroup
	for i := range all { // two processes begin at once
		opened.Go(func() {
			var err error
			if all[i], err = Open(ctx, place); err != nil {
				t.Error(err)
			}
		})
	}
	opened.Wait()
	if t.Failed() {
		return
	}
	for _, s := range all {
		defer s.Close()
	}
	s := all[0]
	like := Sweep{Name: "n", Source: "src", Rules: "r", Settings: "s", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Refused: []string{"a\x00b"}}
	w := like
	jobs := []Job{{Name: "j1", Target: listing.Target{Key: "npm:B", Name: "b", Version: "1"}}, {Name: "j2", Target: listing.Target{Key: "npm:a", Name: "a_#p2", Version: "1"}}}
	if err := s.Begin(ctx, &w, jobs, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Unfinished(ctx, like); err != nil || got == nil || got.ID != w.ID || !got.Started.Equal(like.Started) {
		t.Errorf("%+v, %v", got, err)
	}
	other := like
	other.Name, other.Shard = "m", "2/2"
	if err := s.Begin(ctx, &other, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Unfinished(ctx, like); err != nil || got == nil || got.ID != w.ID {
		t.Errorf("another shard hides a sweep: %+v, %v", got, err)
	}
	won := make([]bool, len(all))
	var both sync.WaitGroup
	for i, s := range all {
		both.Go(func() {
			r := &Result{Key: "npm:B", Version: "1", Digest: "d", Rules: "r", Settings: "s", Verdict: "findings", Status: 1, Error: "x\xff\x00", Seconds: 1.0625, Ran: like.Started, Judged: like.Started, Behaviours: []string{"runs curl"},
				Findings: []Finding{{Rule: "CM2", Severity: "low", Title: "t", Message: "m\x00", Fingerprint: "f2"}, {Rule: "CM1", Severity: "high", Title: "t", Message: "m", Fingerprint: "f1"}, {Rule: "CM1", Fingerprint: "f1"}}}
			var err error
			if won[i], err = s.Record(ctx, w.ID, "j1", HowRun, r); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if won[0] == won[1] {
		t.Errorf("a job's result is kept: %v", won)
	}
	last, err := s.Last(ctx, "npm:B", "1", "d")
	if err != nil || last == nil || last.Seconds != 1.0625 || !last.Ran.Equal(like.Started) {
		t.Fatalf("%+v, %v", last, err)
	}
	if none, err := s.Last(ctx, "npm:b", "1", "d"); none != nil || err != nil {
		t.Errorf("a key of other letters has %+v, %v", none, err)
	}
	if err := s.Skip(ctx, w.ID, map[string]int64{"j2": last.ID, "j1": 0}); err != nil {
		t.Fatal(err)
	}
	list, err := s.Entries(ctx, w.ID)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range list {
		b.WriteString(e.Name + " " + e.How + " " + e.Error)
		for _, f := range e.Findings {
			b.WriteString(" " + f.Rule + f.Message)
		}
		fmt.Fprintf(&b, " %q", e.Behaviours)
		b.WriteString("\n")
	}
	const want = "b run x\uFFFD\uFFFD CM1m CM2m\uFFFD [\"runs curl\"]\na_#p2 skipped x\uFFFD\uFFFD CM1m CM2m\uFFFD [\"runs curl\"]\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if err := s.Finish(ctx, w.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	again := like
	again.Name = "k"
	if err := s.Begin(ctx, &again, nil, []string{"a_"}); err != nil {
		t.Fatal(err)
	}
	targets, err := s.Targets(ctx, "src")
	if err != nil || len(targets) != 1 || targets[0].Key != "npm:B" {
		t.Errorf("%+v, %v", targets, err)
	}
	counts, err := s.Counts(ctx, w.ID)
	if diff := cmp.Diff(map[string]int{HowRun: 1, HowSkipped: 1}, counts); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if at, err := s.LastListed(ctx, "src", ""); err != nil || !at.Equal(like.Started) {
		t.Errorf("%v, %v", at, err)
	}
	keepsDead(t, s, like)
}

// keepsDead checks that dead jobs of the newest sweep alone are queued again, and which result
// is of another archive.
func keepsDead(t *testing.T, s *Store, like Sweep) {
	t.Helper()
	ctx := t.Context()
	for i, name := range []string{"older", "newer"} {
		w := like
		w.Name, w.Source = name, "dead"
		if err := s.Begin(ctx, &w, []Job{{Name: "j", Target: listing.Target{Key: "npm:d", Name: "d", Version: "1"}}}, nil); err != nil {
			t.Fatal(err)
		}
		r := &Result{Key: "npm:d", Version: "1", Verdict: VerdictError, Error: name, Package: []string{"", "sha512-x"}[i], Ran: like.Started}
		if _, err := s.Record(ctx, w.ID, "j", HowDead, r); err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(ctx, w.ID, like.Started); err != nil {
			t.Fatal(err)
		}
		like.ID = w.ID
	}
	for archive, want := range map[string]time.Time{"sha512-x": {}, "sha512-y": like.Started} {
		if at, err := s.OtherPackage(ctx, "npm:d", "1", archive); err != nil || !at.Equal(want) {
			t.Errorf("%s: %s, %v", archive, at, err)
		}
	}
	list, err := s.DeadJobs(ctx, "")
	if diff := cmp.Diff([]Dead{{Sweep: like.ID, Source: "dead", Key: "npm:d", Version: "1", Job: "j", Error: "newer"}}, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if list, err := s.DeadJobs(ctx, "src"); len(list) != 0 || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.Requeue(ctx, list); err != nil {
		t.Fatal(err)
	}
	like.Source = "dead"
	if w, err := s.Unfinished(ctx, like); err != nil || w == nil || w.ID != like.ID {
		t.Errorf("%+v, %v", w, err)
	}
	if jobs, err := s.Queued(ctx, like.ID); err != nil || len(jobs) != 1 {
		t.Errorf("%+v, %v", jobs, err)
	}
}

// A password is never shown.
func TestShown(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"dir":                           "dir",
		"postgres://u:secret@h/d?p=w":   "postgres://u:xxxxx@h/d",
		"postgresql://u@h/d":            "postgresql://u@h/d",
		"postgres://u:secret@h:port/\n": "the database",
	} {
		if got := Shown(place); got != want {
			t.Errorf("%q is shown as %q", place, got)
		}
	}
	if _, err := Open(t.Context(), "postgres://u:secret@127.0.0.1:1/d?connect_timeout=1"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
