package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/site"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const kept = "../../../testdata/runs/"

// fake makes runs of kept ones: a target's name says which.
type fake struct {
	sync.Mutex
	ran []string
	// block, if not nil, is waited for by runs of the target "slow".
	block chan struct{}
	// began, if not nil, gets the key of each target that begins.
	began func(key string)
	// silence is the queue's AckWait, 0 for its default. One of a second gives a job to two
	// workers on a machine that is busy.
	silence time.Duration
	// integrity, if not "", is the hash of what the package was.
	integrity string
}

func (f *fake) probe(t *testing.T) Probe {
	return func(ctx context.Context, target listing.Target, out string) (string, int, error) {
		f.Lock()
		f.ran = append(f.ran, target.Key)
		f.Unlock()
		if f.began != nil {
			f.began(target.Key)
		}
		if strings.HasPrefix(target.Key, "npm:broken") {
			return "", 0, errors.New("the package is broken")
		}
		if target.Key == "npm:slow" && f.block != nil {
			select {
			case <-f.block:
			case <-ctx.Done():
				return "", 0, ctx.Err()
			}
		}
		run := "local-ebpf-clean-honest"
		if strings.HasPrefix(target.Key, "npm:leaky") {
			run = "local-ebpf-findings-leaky"
		}
		dir := filepath.Join(out, "run")
		analyzetest.UnpackRun(t, kept+run+".tar.gz", dir)
		root, err := os.OpenRoot(dir)
		if err != nil {
			return "", 0, err
		}
		defer root.Close()
		res, in, err := analyze.Judge(root, "test")
		if err != nil {
			return "", 0, err
		}
		if f.integrity != "" {
			res.Run.Package = &session.Package{Integrity: f.integrity}
		}
		return dir, 0, report.Write(session.Output{Root: root}, res, in)
	}
}

// sweepOnce makes a sweep with two workers, and tells what was done.
func sweepOnce(ctx context.Context, t *testing.T, f *fake, o Options) (string, error) {
	t.Helper()
	var err error
	if err = os.MkdirAll(filepath.Join(o.Dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if o.Store, err = store.Open(t.Context(), o.Dir); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.Store.Close(); err != nil {
			t.Error(err)
		}
	}()
	o.Queue = openQueue(t, &o, f.silence)
	defer o.Queue.Close()
	o.Workers = &Worker{Queue: o.Queue, Probe: f.probe(t), Jobs: 2, Dir: filepath.Join(o.Dir, "work"), Tracer: o.Tracer}
	o.Exit = func(res *analyze.Result) int { return analyze.ExitStatus(res, finding.High, false) }
	o.Inputs = func(*analyze.Inputs) {}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, p, status, err := Run(ctx, o)
	return fmt.Sprintf("%d jobs: %d run, %d judged, %d skipped, %d failed; status %d", p.Jobs, p.Run, p.Judged, p.Skipped, p.Failed, status), err
}

// openQueue opens the queue of a sweep, whose workers may be silent for so long. The caller closes it.
func openQueue(t *testing.T, o *Options, silence time.Duration) *queue.Queue {
	t.Helper()
	q, err := queue.Open(t.Context(), queue.Options{Dir: filepath.Join(o.Dir, "queue"), AckWait: silence, Settings: o.Settings + o.Rules})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func list(t testing.TB, dir string, lines ...string) string {
	t.Helper()
	name := filepath.Join(dir, "list")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// What is unchanged is not run again; newer rules judge it again from its kept run; other
// options, another version and failures run it again.
func TestWhatIsDoneAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fake{}
	o := Options{Dir: dir, Rules: "r1", Settings: "s1", Source: list(t, dir, "npm:honest@1.0.0", "npm:leaky@1.0.0", "npm:broken@1.0.0", "npm:newest")}
	for _, step := range []struct {
		change func()
		want   string
		ran    []string
	}{
		{func() {}, "4 jobs: 3 run, 0 judged, 0 skipped, 1 failed; status 1", []string{"npm:broken", "npm:honest", "npm:leaky", "npm:newest"}},
		{func() {}, "4 jobs: 1 run, 0 judged, 2 skipped, 1 failed; status 1", []string{"npm:broken", "npm:newest"}},
		{func() { o.Rules = "r2" }, "4 jobs: 1 run, 2 judged, 0 skipped, 1 failed; status 1", []string{"npm:broken", "npm:newest"}},
		{func() { o.Settings = "s2" }, "4 jobs: 3 run, 0 judged, 0 skipped, 1 failed; status 1", []string{"npm:broken", "npm:honest", "npm:leaky", "npm:newest"}},
		{func() { o.Source = list(t, dir, "npm:honest@1.0.0", "npm:leaky@1.0.1") }, "2 jobs: 1 run, 0 judged, 1 skipped, 0 failed; status 1", []string{"npm:leaky"}},
		{func() { o.MaxAge = time.Nanosecond }, "2 jobs: 2 run, 0 judged, 0 skipped, 0 failed; status 1", []string{"npm:honest", "npm:leaky"}},
		{func() {
			o.MaxAge, o.Rules = 0, "r3"
			if err := os.RemoveAll(filepath.Join(dir, "runs")); err != nil {
				t.Fatal(err)
			}
		}, "2 jobs: 2 run, 0 judged, 0 skipped, 0 failed; status 1", []string{"npm:honest", "npm:leaky"}},
		{func() { o.Filter = "hon" }, "1 jobs: 0 run, 0 judged, 1 skipped, 0 failed; status 0", nil},
	} {
		step.change()
		f.ran = nil
		got, err := sweepOnce(t.Context(), t, f, o)
		if err != nil || got != step.want {
			t.Errorf("%s, %v; want %s", got, err, step.want)
		}
		slices.Sort(f.ran)
		if diff := cmp.Diff(step.ran, f.ran); diff != "" {
			t.Error(diff)
		}
	}
	shows(t, dir)
}

// shows checks what the store and the site have of the sweeps above.
func shows(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sweeps, err := s.Sweeps(t.Context())
	if err != nil || len(sweeps) != 8 {
		t.Fatalf("%d sweeps, %v", len(sweeps), err)
	}
	before, _ := s.Entries(t.Context(), 1)
	after, err := s.Entries(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	const want = "npm:broken: gone, 1.0.0 was error\nnpm:newest: gone,  was clean\n2 servers differ\n"
	if diff := cmp.Diff(want, site.Text(site.Diff(before, after))); diff != "" {
		t.Error(diff)
	}
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
	if _, err := site.Write(t.Context(), s, root, site.Options{Runs: runs}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "results.json", "results.csv", "feed.xml", "servers/npm-honest.html", "servers/npm-honest/report.html", "servers/npm-honest/report.sarif"} {
		if data, err := os.ReadFile(filepath.Join(out, name)); err != nil || len(data) < 50 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
}

// A sweep that was ended goes on where it was, and every job has one result.
func TestASweepGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fake{block: make(chan struct{}), silence: 3 * time.Second}
	o := Options{Dir: dir, Rules: "r", Settings: "s", Source: list(t, dir, "npm:slow@1.0.0", "npm:honest@1.0.0", "npm:leaky@1.0.0")}
	ctx, stop := context.WithCancel(t.Context())
	o.Progress = func(p Progress) {
		if p.Run == 2 {
			stop()
		}
	}
	if got, err := sweepOnce(ctx, t, f, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%s, %v", got, err)
	}
	close(f.block)
	o.Progress = nil
	got, err := sweepOnce(t.Context(), t, f, o)
	if err != nil || got != "3 jobs: 3 run, 0 judged, 0 skipped, 0 failed; status 1" {
		t.Errorf("%s, %v", got, err)
	}
	slices.Sort(f.ran)
	if diff := cmp.Diff([]string{"npm:honest", "npm:leaky", "npm:slow", "npm:slow"}, f.ran); diff != "" {
		t.Error(diff)
	}
}

// A budget ends a sweep early, which the next one goes on with; what ran longest ago comes
// before what ran last night.
func TestBudgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fake{}
	o := Options{Dir: dir, Rules: "r", Settings: "s", Source: list(t, dir, "npm:honest", "npm:broken", "npm:leaky")}
	for _, step := range []struct {
		runs int
		time time.Duration
		want string
	}{
		{0, 1, "3 jobs: 0 run, 0 judged, 0 skipped, 0 failed; status 3"},
		{2, 0, "3 jobs: 1 run, 0 judged, 0 skipped, 1 failed; status "},
		{2, 0, "3 jobs: 2 run, 0 judged, 0 skipped, 1 failed; status 1"},
		{1, 0, "3 jobs: "},
		{1, 0, "3 jobs: "},
		{1, 0, "3 jobs: 2 run, 0 judged, 0 skipped, 1 failed; status 1"},
	} {
		o.MaxRuns, o.MaxTime = step.runs, step.time
		if got, err := sweepOnce(t.Context(), t, f, o); err != nil || !strings.HasPrefix(got, step.want) {
			t.Errorf("%+v: %s, %v", step, got, err)
		}
	}
	if len(f.ran) != 6 {
		t.Fatalf("ran %q", f.ran)
	}
	for _, half := range [][]string{f.ran[:3], f.ran[3:]} {
		slices.Sort(half)
		if diff := cmp.Diff([]string{"npm:broken", "npm:honest", "npm:leaky"}, half); diff != "" {
			t.Error(diff)
		}
	}
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if sweeps, err := s.Sweeps(t.Context()); err != nil || len(sweeps) != 2 || sweeps[0].Finished.IsZero() || sweeps[1].Finished.IsZero() {
		t.Errorf("%+v, %v", sweeps, err)
	}
}

// What never ran comes before what is run each time, whatever its place in the queue.
func TestABudgetReachesAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := []string{"npm:a", "npm:b", "npm:c", "npm:d"}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(jobName(&listing.Target{Key: a, Name: a[4:], Words: []string{a}, Mutable: true}), jobName(&listing.Target{Key: b, Name: b[4:], Words: []string{b}, Mutable: true}))
	})
	f := &fake{}
	o := Options{Dir: dir, Rules: "r", Settings: "s", Source: list(t, dir, names[:3]...)}
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil || len(f.ran) != 3 {
		t.Fatalf("%s, %v, ran %q", got, err, f.ran)
	}
	f.ran, o.MaxRuns, o.Source = nil, 1, list(t, dir, names...)
	got, err := sweepOnce(t.Context(), t, f, o)
	if diff := cmp.Diff(names[3:], f.ran); err != nil || diff != "" {
		t.Errorf("%s, %v\n%s", got, err, diff)
	}
}

// A mark stops a sweep that runs, lets none begin, and is lifted; the sweep goes on then.
func TestStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fake{block: make(chan struct{}), silence: 3 * time.Second}
	at := queue.Options{Dir: filepath.Join(dir, "queue")}
	o := Options{Dir: dir, Rules: "r", Settings: "s", Source: list(t, dir, "npm:slow@1.0.0", "npm:honest@1.0.0")}
	o.Progress = func(p Progress) {
		if p.Run == 1 {
			if err := queue.Stop(t.Context(), at, "the disk is full"); err != nil {
				t.Error(err)
			}
		}
	}
	var stopped *StoppedError
	for range 2 {
		if got, err := sweepOnce(t.Context(), t, f, o); !errors.As(err, &stopped) || stopped.Reason != "the disk is full" {
			t.Fatalf("%s, %v", got, err)
		}
		o.Progress = nil
	}
	slices.Sort(f.ran)
	if diff := cmp.Diff([]string{"npm:honest", "npm:slow"}, f.ran); diff != "" {
		t.Error(diff)
	}
	close(f.block)
	for range 2 { // the second time there is no mark
		if err := queue.Lift(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil || got != "2 jobs: 2 run, 0 judged, 0 skipped, 0 failed; status 0" {
		t.Errorf("%s, %v", got, err)
	}
}

// Every target is of one shard.
func TestShards(t *testing.T) {
	t.Parallel()
	for i := range 200 {
		target := listing.Target{Key: fmt.Sprintf("npm:p%d", i)}
		n := 0
		for shard := 1; shard <= 7; shard++ {
			if (&sweeper{Options: Options{Shard: shard, Shards: 7}}).takes(&target) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is of %d shards", target.Key, n)
		}
	}
}

// A run comes out of its archive as it went in, and nothing leads out of the directory.
func TestPack(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	analyzetest.UnpackRun(t, kept+"local-ebpf-clean-honest.tar.gz", from)
	a, err := os.OpenRoot(from)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := os.OpenRoot(to)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var one, two strings.Builder
	if err := errors.Join(pack(a, &one), unpack(strings.NewReader(one.String()), b), pack(b, &two)); err != nil || one.String() != two.String() {
		t.Errorf("it comes out otherwise: %v", err)
	}
	if err := unpack(strings.NewReader(strings.Replace(one.String(), "index.json", "../ndx.jso", 1)), b); err == nil {
		t.Error("an archive led out of the directory")
	}
}

// Archives that change under the same version are said, and their result is not clean: not
// when the list says something else of the version, nor judged by newer rules, nor run again.
func TestArchivesThatChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fake{}
	o := Options{Dir: dir, Rules: "r", Settings: "s"}
	const ran, judged = "1 jobs: 1 run, 0 judged, 0 skipped, 0 failed", "1 jobs: 0 run, 1 judged, 0 skipped, 0 failed"
	for _, step := range []struct {
		integrity, line, rules string
		age                    time.Duration
		want, verdict          string
	}{
		{"sha512-one", "npm:honest@1.0.0", "r", 1, ran + "; status 0", "clean"},
		{"sha512-one", "npm:honest@1.0.0", "r", 1, ran + "; status 0", "clean"},
		{"sha512-two", "npm:honest@1.0.0 --other", "r", 1, ran + "; status 3", "inconclusive"},
		{"sha512-two", "npm:honest@1.0.0 --other", "r2", 0, judged + "; status 3", "inconclusive"},
		{"sha512-two", "npm:honest@1.0.0 --other", "r2", 1, ran + "; status 3", "inconclusive"},
		{"sha512-two", "npm:honest@1.0.1", "r2", 1, ran + "; status 0", "clean"},
	} {
		f.integrity, o.Source, o.Rules, o.MaxAge = step.integrity, list(t, dir, step.line), step.rules, step.age
		if got, err := sweepOnce(t.Context(), t, f, o); err != nil || got != step.want {
			t.Errorf("%+v: %s, %v", step, got, err)
		}
		r := lastOf(t, dir, strings.Fields(strings.TrimPrefix(step.line, "npm:honest@"))[0])
		if said := strings.Contains(r.Error, ": its archive changed"); r.Verdict != step.verdict || said != (step.verdict != "clean") {
			t.Errorf("%+v: %s, %q", step, r.Verdict, r.Error)
		}
	}
}

// lastOf is the last result of the honest package at a version.
func lastOf(t *testing.T, dir, version string) *store.Entry {
	t.Helper()
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.OfVersion(t.Context(), "npm:honest", version)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	return r
}

// A kept run whose reports cannot be written is run again, and the sweep goes on.
func TestARunThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fake{}
	o := Options{Dir: dir, Rules: "r1", Settings: "s", Source: list(t, dir, "npm:honest@1.0.0", "npm:leaky@1.0.0")}
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil {
		t.Fatal(got, err)
	}
	reports, err := filepath.Glob(filepath.Join(dir, "runs", "npm-honest", "*", report.FileHTML))
	if err != nil || len(reports) != 1 {
		t.Fatal(reports, err)
	}
	if err := errors.Join(os.Remove(reports[0]), os.MkdirAll(filepath.Join(reports[0], "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	f.ran, o.Rules = nil, "r2"
	const want = "2 jobs: 1 run, 1 judged, 0 skipped, 0 failed; status 1"
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if diff := cmp.Diff([]string{"npm:honest"}, f.ran); diff != "" {
		t.Error(diff)
	}
}
