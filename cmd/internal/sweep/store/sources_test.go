package store

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
)

func TestSources(t *testing.T) {
	t.Parallel()
	sources(t, t.TempDir())
}

func TestSourcesOfTheFirstSchema(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	older(t, place)
	sources(t, place)
}

// listed are the sweeps of a store that two sources and a filter share, in their order.
var listed = []struct {
	source string
	names  []string
}{
	{"registry", []string{"io.a", "io.b"}},
	{"npm:mcp", []string{"a", "c"}},
	{"registry filter a", []string{"io.a"}},
}

// target is what a source says of a server: each gives it another name.
func target(name string) listing.Target {
	return listing.Target{Key: "npm:" + name[len(name)-1:], Name: name, Version: "1"}
}

// older makes a store as the first schema kept it, in which the last source of a server won.
func older(t *testing.T, place string) {
	t.Helper()
	ctx := t.Context()
	s, err := connect(place)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text, err := migrations.ReadFile("0001.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.step(ctx, 1, string(text)); err != nil {
		t.Fatal(err)
	}
	d := s.direct()
	for i, w := range listed {
		var id int64
		if err := d.row(ctx, "INSERT INTO sweeps (name, source, rules, settings, started, finished) VALUES (?,?,'','','2026-01-02T03:04:05Z','2026-01-02T03:04:05Z') RETURNING id", string(rune('a'+i)), w.source).Scan(&id); err != nil {
			t.Fatal(err)
		}
		for _, name := range w.names {
			j := target(name)
			if _, err := d.exec(ctx, "INSERT INTO targets (key, name, source, job) VALUES (?,?,?,?) ON CONFLICT (key) DO UPDATE SET name = excluded.name, source = excluded.source, job = excluded.job", j.Key, name, w.source, encoded(t, &j)); err != nil {
				t.Fatal(err)
			}
			if _, err := d.exec(ctx, "INSERT INTO jobs (sweep, name, key, version, job, how) VALUES (?,?,?,?,?,?)", id, name, j.Key, j.Version, encoded(t, &j), HowFailed); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sources checks that each source keeps its targets, whatever another lists.
func sources(t *testing.T, place string) {
	t.Helper()
	ctx := t.Context()
	s, err := Open(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, l := range listed {
		w := Sweep{Name: string(rune('A' + i)), Source: l.source, Started: time.Now()}
		var jobs []Job
		if i > 0 { // the first source lists nothing that changed
			for _, name := range l.names {
				jobs = append(jobs, Job{Name: name, Target: target(name)})
			}
		} else if known, err := s.Targets(ctx, l.source); err != nil {
			t.Fatal(err)
		} else if len(known) == 0 { // nor is there an older sweep
			jobs = []Job{{Name: "io.a", Target: target("io.a")}, {Name: "io.b", Target: target("io.b")}}
		}
		if err := s.Begin(ctx, &w, jobs, nil); err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if _, err := s.Record(ctx, w.ID, j.Name, HowRun, &Result{Key: j.Target.Key, Version: "1", Verdict: "clean"}); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := s.Entries(ctx, w.ID)
		if err != nil || len(entries) != len(jobs) {
			t.Errorf("%s: %d results of %d jobs, %v", l.source, len(entries), len(jobs), err)
		}
		for _, e := range entries {
			if target(e.Name).Key != e.Key || !slices.Contains(l.names, e.Name) {
				t.Errorf("%s: %s is called %s", l.source, e.Key, e.Name)
			}
		}
	}
	for _, l := range listed {
		var got []string
		known, err := s.Targets(ctx, l.source)
		for _, k := range known {
			got = append(got, k.Name)
		}
		if diff := cmp.Diff(l.names, got); diff != "" || err != nil {
			t.Errorf("%s: %s%v", l.source, diff, err)
		}
	}
	if history, err := s.History(ctx, "npm:a"); err != nil || len(history) < 2 || history[0].ID == history[1].ID {
		t.Errorf("the history has results twice: %+v, %v", history, err)
	}
	if err := s.Begin(ctx, &Sweep{Name: "last", Source: "npm:mcp", Started: time.Now()}, nil, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if known, err := s.Targets(ctx, "registry"); err != nil || len(known) != 2 {
		t.Errorf("one source deletes the targets of another: %+v, %v", known, err)
	}
}

func encoded(t *testing.T, j *listing.Target) string {
	t.Helper()
	data, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
