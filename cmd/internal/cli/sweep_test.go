package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

// All workers together have no more sandboxes at once than the machine can hold.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ asked, atOnce, workers, jobs int }{
		{0, 8, 8, 1},
		{0, 1, 1, 1},
		{2, 8, 2, 4},
		{3, 8, 3, 2},
		{16, 2, 16, 1}, // who asks for more gets it
	} {
		f := &sweepFlags{workers: c.asked}
		f.share(c.atOnce)
		if f.workers != c.workers || f.Jobs != c.jobs {
			t.Errorf("%+v: %d workers with %d jobs each", c, f.workers, f.Jobs)
		}
	}
}

// keptSweeps is a store with sweeps of two sources, one of them in shards.
func keptSweeps(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, c := range []struct {
		source, shard, key, finding string
		open                        bool
	}{
		{source: "registry", shard: "1/2", key: "npm:a"},
		{source: "registry", shard: "2/2", key: "npm:b"},
		{source: "registry", shard: "1/2", key: "npm:a", finding: "fresh"},
		{source: "npm:mcp", key: "npm:c"},
		{source: "registry", shard: "2/2", key: "npm:b"},
		{source: "registry", shard: "2/2", key: "npm:b", open: true},
	} {
		w := &store.Sweep{Name: fmt.Sprint(i), Source: c.source, Shard: c.shard, Started: time.Unix(int64(i), 0)}
		if err := s.Begin(t.Context(), w, []store.Job{{Name: "j", Target: listing.Target{Key: c.key, Name: c.key, Version: "1"}}}, nil); err != nil {
			t.Fatal(err)
		}
		if c.open {
			continue
		}
		r := &store.Result{Key: c.key, Version: "1", Verdict: "clean"}
		if c.finding != "" {
			r.Verdict, r.Findings = "findings", []store.Finding{{Rule: "CM101", Severity: "high", Message: c.finding, Fingerprint: c.finding}}
		}
		if _, err := s.Record(t.Context(), w.ID, "j", store.HowRun, r); err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), w.ID, time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A diff and a report take the finished sweeps of one source, with all its shards.
func TestWhichSweepsAreShown(t *testing.T) {
	t.Parallel()
	dir, site := keptSweeps(t), t.TempDir()
	const open = "sweep 6, shard 2/2, begun 1970-01-01 00:00 UTC, is not finished and not shown"
	const changed = "npm:a: 1 clean -> 1 findings\n  + [high] CM101 : fresh\n1 server differs\n"
	for _, c := range []struct {
		args      []string
		status    int
		out, said string
	}{
		{[]string{"diff", "previous", "latest"}, 0, changed, open},
		{[]string{"diff", "--source", "registry", "previous", "latest"}, 0, changed, open},
		{[]string{"diff", "1", "3"}, 0, changed, ""},
		{[]string{"diff", "5", "6"}, 0, "npm:b: gone, 1 was clean\n1 server differs\n", "sweep 6 is not finished"},
		{[]string{"diff", "--source", "npm:mcp", "previous", "latest"}, ExitUsage, "", "npm:mcp has 1 finished ones"},
		{[]string{"diff", "--source", "other", "previous", "latest"}, ExitUsage, "", "no sweep of other is kept here, but of registry, npm:mcp"},
		{[]string{"diff", "1", "9"}, ExitUsage, "", "there is no sweep 9"},
		{[]string{"report", "--out", site}, 0, filepath.Join(site, "index.html") + "\n", open},
		{[]string{"report", "--out", site, "--base-url", "example.com"}, ExitUsage, "", "--base-url https://"},
		{[]string{"report", "--out", site, "--runs", filepath.Join(dir, "none")}, ExitUsage, "", "name the --runs of the sweep"},
	} {
		var out, said bytes.Buffer
		args := append([]string{"sweep", c.args[0], "--store", dir}, c.args[1:]...)
		if status := Main(args, strings.NewReader(""), &out, &said); status != c.status || out.String() != c.out || !strings.Contains(said.String(), c.said) {
			t.Errorf("%q: status %d\n%s\n%s", c.args, status, out.String(), said.String())
		}
	}
	for name, key := range map[string]bool{"npm-a": true, "npm-b": true, "npm-c": false} {
		if _, err := os.Stat(filepath.Join(site, "servers", name+".html")); (err == nil) != key {
			t.Errorf("the page of %s: %v", name, err)
		}
	}
}

// A list that cannot be one is told before anything is made.
func TestWhatCanBeSwept(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"npm", filepath.Join(t.TempDir(), "missing.txt")} {
		dir := filepath.Join(t.TempDir(), "store")
		var out, said bytes.Buffer
		status := Main([]string{"sweep", "--registry", source, "--store", dir}, strings.NewReader(""), &out, &said)
		if _, err := os.Stat(dir); status != ExitUsage || !strings.Contains(said.String(), "npm:KEYWORD") || err == nil {
			t.Errorf("%s: status %d\n%s", source, status, said.String())
		}
	}
}

// A queue that is stopped lets no sweep begin until the mark is lifted; dead jobs are listed,
// and queued again.
func TestStoppedAndDead(t *testing.T) {
	t.Parallel()
	dir := keptSweeps(t)
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Record(t.Context(), 6, "j", store.HowDead, &store.Result{Key: "npm:b", Version: "1", Verdict: store.VerdictError, Error: "no worker finished it"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sweep := []string{"--registry", none, "--sandbox", "local", "--log", "text", "--store", dir}
	for _, c := range []struct {
		args      []string
		status    int
		out, said string
	}{
		{[]string{"stop", "--store", dir, "--reason", "the disk\x1b is full"}, 0, "is stopped\n", ""},
		{sweep, ExitUsage, "", `error: the queue is stopped: the disk\u{1B} is full` + "\nhint: coalmine sweep stop --lift"},
		{[]string{"stop", "--store", dir, "--lift"}, 0, "is not stopped\n", ""},
		{sweep, 0, ": 0 jobs, ", ""},
		{[]string{"stop", "--store", filepath.Join(dir, "none")}, ExitUsage, "", "name the --store"},
		{[]string{"stop", "--store", dir, "--reason", ""}, ExitUsage, "", "a reason has 1 to"},
		{[]string{"dead", "--store", dir, "--source", "npm:mcp"}, 0, "no job is dead\n", ""},
		{[]string{"dead", "--store", dir}, 0, "sweep 6: npm:b 1: no worker finished it\n1 jobs are dead", ""},
		{[]string{"dead", "--store", dir, "--requeue"}, 0, "1 jobs are queued again", ""},
		{[]string{"dead", "--store", dir}, 0, "no job is dead\n", ""},
		{[]string{"--max-jobs", "-1", "--registry", none}, ExitUsage, "", "--max-jobs and --max-time must be positive"},
		{[]string{"--log", "xml", "--registry", none, "--store", dir}, ExitUsage, "", "unknown --log xml"},
	} {
		var out, said bytes.Buffer
		if status := Main(append([]string{"sweep"}, c.args...), strings.NewReader(""), &out, &said); status != c.status || !strings.Contains(out.String(), c.out) || !strings.Contains(said.String(), c.said) {
			t.Errorf("%q: status %d\n%s\n%s", c.args, status, out.String(), said.String())
		}
	}
}

// Off a terminal a sweep logs lines of JSON, in which no name acts on who shows them.
func TestLog(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	f := &sweepFlags{logFormat: "auto"}
	if err := f.openLog(&b); err != nil || f.log == nil {
		t.Fatal(err)
	}
	f.log.With("sweep", "s").Error("job done", "target", "npm:\x1b##vso[<b>", "seconds", 1.5)
	f.say(&b, "not taken: \u202e")
	var got []map[string]any
	for line := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(line, err)
		}
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(m["time"])); err != nil {
			t.Error(err)
		}
		delete(m, "time")
		got = append(got, m)
	}
	want := []map[string]any{
		{"level": "ERROR", "msg": "job done", "sweep": "s", "target": `npm:\u{1B}# #vso\u{5B}\u{3C}b\u{3E}`, "seconds": 1.5},
		{"level": "WARN", "msg": `not taken: \u{202E}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, quiet := range []sweepFlags{{logFormat: "text"}, {logFormat: "auto", probeFlags: probeFlags{quiet: true}}} {
		if err := quiet.openLog(&b); err != nil || quiet.log != nil {
			t.Errorf("%+v, %v", quiet.log, err)
		}
	}
}
