package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

// A job is given back by workers that are ended as often as they are. One that was begun too
// often without that is dead, and runs again once it is queued again.
func TestDead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &fake{block: make(chan struct{}), silence: time.Second}
	o := Options{Dir: dir, Rules: "r", Settings: "s", Source: list(t, dir, "npm:slow@1.0.0")}
	for range maxTries + 1 {
		ctx, stop := context.WithCancel(t.Context())
		f.began = func(string) { stop() }
		if got, err := sweepOnce(ctx, t, f, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s, %v", got, err)
		}
		stop()
	}
	if len(f.ran) != maxTries+1 {
		t.Fatalf("it ran %d times", len(f.ran))
	}
	beginAgain(t, o, f.silence)
	close(f.block)
	f.began = nil
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil || got != "1 jobs: 0 run, 0 judged, 0 skipped, 1 failed; status 3" {
		t.Errorf("%s, %v", got, err)
	}
	s, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if list, err := s.DeadJobs(t.Context(), "another"); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	list, err := s.DeadJobs(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Key != "npm:slow" || list[0].Error != "no worker finished this target in 3 tries" {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := s.Requeue(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	f.ran = nil
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil || got != "1 jobs: 1 run, 0 judged, 0 skipped, 0 failed; status 0" || len(f.ran) != 1 {
		t.Errorf("%s, %v, ran %q", got, err, f.ran)
	}
	if list, err := s.DeadJobs(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A job whose worker is ended between its answer and the end of the job leaves the queue with
// its sweep. It would run once more, or be counted as begun, where it is queued again.
func TestAnsweredJobLeaves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	f := &fake{block: make(chan struct{}), silence: time.Second, began: func(string) { stop() }}
	o := Options{Dir: dir, Rules: "r", Settings: "s", Source: list(t, dir, "npm:slow@1.0.0")}
	if got, err := sweepOnce(ctx, t, f, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%s, %v", got, err)
	}
	answerOnly(t, o, f.silence)
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil || got != "1 jobs: 0 run, 0 judged, 0 skipped, 1 failed; status 3" {
		t.Errorf("%s, %v", got, err)
	}
	q := openQueue(t, &o, f.silence)
	defer q.Close()
	if n, err := q.Waiting(t.Context()); n != 0 || err != nil {
		t.Errorf("%d jobs are left, %v", n, err)
	}
}

// answerOnly answers the job of a queue as a worker does that is ended before it ends the job.
func answerOnly(t *testing.T, o Options, silence time.Duration) {
	t.Helper()
	q := openQueue(t, &o, silence)
	defer q.Close()
	d, err := q.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var j job
	if err := json.Unmarshal(d.Job, &j); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.PutResult(t.Context(), j.Sweep, j.Name, encode(&answer{Status: 3, Error: "it failed"})), d.Again(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

// beginAgain begins the job of a queue as often as workers do that die of it.
func beginAgain(t *testing.T, o Options, silence time.Duration) {
	t.Helper()
	q := openQueue(t, &o, silence)
	defer q.Close()
	for range maxTries {
		d, err := q.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Again(0); err != nil {
			t.Fatal(err)
		}
	}
}
