package site

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

// Rounds have the finished sweeps of one source, one of each shard.
func TestRounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// sweeps are "source", "source 1/2" for a shard, and "source!" or "source 1/2!" for
		// what is not finished; their numbers are from 1.
		sweeps []string
		source string
		// want are the numbers of each round's sweeps, the newest round first, and the notes.
		want string
	}{
		"none":                       {nil, "", "no sweep is kept here yet"},
		"two":                        {[]string{"a", "a"}, "", "2|1"},
		"another source between":     {[]string{"a", "b", "a"}, "", "3|1; sweeps of other sources are kept here, too: b"},
		"the other source":           {[]string{"a", "b", "a"}, "b", "2; sweeps of other sources are kept here, too: a"},
		"an unknown source":          {[]string{"a", "b"}, "c", "no sweep of c is kept here, but of b, a"},
		"the last is not finished":   {[]string{"a", "a", "a!"}, "", "2|1; sweep 3, begun DAY UTC, is not finished and not shown"},
		"an old one never was":       {[]string{"a", "a!", "a"}, "", "3|1"},
		"a new source not finished":  {[]string{"a", "b!"}, "", "1; sweeps of other sources are kept here, too: b"},
		"nothing is finished":        {[]string{"a!"}, "", "no sweep of a is finished yet: the same coalmine sweep goes on with it"},
		"shards":                     {[]string{"a 1/2", "a 2/2", "a 2/2", "a 1/2"}, "", "4+3|1+2"},
		"a shard is not finished":    {[]string{"a 1/2", "a 2/2", "a 1/2", "a 2/2!"}, "", "3+2; sweep 4, shard 2/2, begun DAY UTC, is not finished and not shown"},
		"one shard never was":        {[]string{"a 1/2", "a 2/2!"}, "", "1; sweep 2, shard 2/2, begun DAY UTC, is not finished and not shown; 1 of 2 shards are shown: the others have no finished sweep here"},
		"one shard a store":          {[]string{"a 3/4", "a 3/4"}, "", "2|1; 1 of 4 shards are shown: the others have no finished sweep here"},
		"shards after a whole sweep": {[]string{"a", "a 1/2", "a 2/2!"}, "", "1; sweep 3, shard 2/2, begun DAY UTC, is not finished and not shown"},
		"another number of shards":   {[]string{"a 1/2", "a 2/2", "a"}, "", "3|1+2"},
	} {
		var sweeps []store.Sweep
		for i, text := range c.sweeps {
			text, open := strings.CutSuffix(text, "!")
			w := store.Sweep{ID: int64(i + 1), Started: time.Unix(int64(i), 0)}
			w.Source, w.Shard, _ = strings.Cut(text, " ")
			if !open {
				w.Finished = time.Unix(int64(i), 0)
			}
			sweeps = append([]store.Sweep{w}, sweeps...)
		}
		rounds, err := Rounds(sweeps, c.source)
		if got := shown(rounds, err); got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}

var day = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`)

func shown(rounds []Round, err error) string {
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, r := range rounds {
		var ids []string
		for _, w := range r.Sweeps {
			ids = append(ids, fmt.Sprint(w.ID))
		}
		all = append(all, strings.Join(ids, "+"))
	}
	return day.ReplaceAllString(strings.Join(append([]string{strings.Join(all, "|")}, rounds[0].Notes...), "; "), "DAY")
}

// result is what a sweep of a test found of a server.
type result struct{ key, verdict, finding string }

// keep records a finished sweep.
func keep(t *testing.T, s *store.Store, n int, shard string, dir string, list ...result) {
	t.Helper()
	w := &store.Sweep{Name: fmt.Sprint(n), Source: "list", Shard: shard, Started: time.Unix(int64(n), 0)}
	var jobs []store.Job
	for _, r := range list {
		jobs = append(jobs, store.Job{Name: r.key, Target: listing.Target{Key: r.key, Name: r.key, Version: "1"}})
	}
	if err := s.Begin(t.Context(), w, jobs, nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		kept := &store.Result{Key: r.key, Version: "1", Verdict: r.verdict, Dir: dir}
		if r.finding != "" {
			kept.Findings = []store.Finding{{Rule: "CM101", Title: r.finding, Fingerprint: r.finding}}
		}
		if _, err := s.Record(t.Context(), w.ID, r.key, store.HowRun, kept); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(t.Context(), w.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
}

// The feed has what no round before had, of each server and of each shard, under addresses
// that a reader can open.
func TestTheFeed(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	keep(t, s, 1, "1/2", "", result{"npm:old", "findings", "known"}, result{"npm:flaky", "findings", "before"}, result{"npm:late", "error", ""})
	keep(t, s, 2, "2/2", "", result{"npm:other", "findings", "theirs"})
	keep(t, s, 3, "1/2", "", result{"npm:old", "findings", "known"}, result{"npm:flaky", "error", ""}, result{"npm:late", "error", ""})
	keep(t, s, 4, "2/2", "", result{"npm:other", "findings", "theirs"})
	keep(t, s, 5, "1/2", "", result{"npm:old", "findings", "fresh"}, result{"npm:flaky", "findings", "before"}, result{"npm:late", "findings", "first"}, result{"npm:new", "findings", "born"})
	keep(t, s, 6, "2/2", "", result{"npm:other", "findings", "theirs"})
	for base, link := range map[string]string{"": "", "https://example.com/a": "<link>https://example.com/a/servers/npm-new.html</link>", "https://example.com/a/": "<link>https://example.com/a/servers/npm-new.html</link>"} {
		out := t.TempDir()
		root, err := os.OpenRoot(out)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		if _, err := Write(t.Context(), s, root, Options{Base: base}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(out, "feed.xml"))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range regexp.MustCompile(`<guid isPermaLink="false">([^<]*)</guid>`).FindAllStringSubmatch(string(data), -1) {
			ids = append(ids, m[1])
		}
		if diff := cmp.Diff([]string{"npm-late-first", "npm-new-born", "npm-old-fresh"}, ids); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(string(data), link) || base == "" && strings.Contains(string(data), "<link>") {
			t.Errorf("--base-url %q: the feed is\n%s", base, data)
		}
	}
}

func TestCheckBase(t *testing.T) {
	t.Parallel()
	for base, ok := range map[string]bool{"https://example.com/a": true, "http://127.0.0.1:8000": true, "example.com": false, "javascript:alert(1)": false, "/a": false, "https://example.com/?q": false, "https://\n": false} {
		if err := CheckBase(base); (err == nil) != ok {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// A server's page links the reports of its kept run, and no file from elsewhere.
func TestReports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, text := range map[string]string{"runs/a/report.html": "page", "runs/a/report.sarif": "sarif", "runs/b/report.html": "page"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../a/report.sarif", filepath.Join(dir, "runs/b/report.sarif")); err != nil {
		t.Fatal(err)
	}
	for i, run := range []string{"runs/a", "runs/b", "runs/none", "../outside", ""} {
		keep(t, s, i, "", run, result{"npm:a", "clean", ""})
		out := t.TempDir()
		root, err := os.OpenRoot(out)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		runs, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer runs.Close()
		if _, err := Write(t.Context(), s, root, Options{Runs: runs}); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(out, "servers/npm-a.html"))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{"npm-a/report.html": i < 2, "npm-a/report.sarif": i == 0} {
			_, err := os.Stat(filepath.Join(out, "servers", name))
			if linked := strings.Contains(string(page), `<a href="`+name+`">`); linked != want || (err == nil) != want {
				t.Errorf("run %q: %s is linked: %t; %v", run, name, linked, err)
			}
		}
	}
}
