package queue

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// What the queue itself costs: jobs that do nothing, by four workers of this process. Each
// comes out once. COALMINE_JOBS says how many (make queue-report).
func TestCost(t *testing.T) {
	t.Parallel()
	n, _ := strconv.Atoi(os.Getenv("COALMINE_JOBS"))
	n = max(n, 200)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	q, err := Open(ctx, Options{Dir: t.TempDir(), Settings: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	start, used := time.Now(), processorTime(t)
	step := func(what string) {
		now := processorTime(t)
		t.Logf("%s: %.0f µs a job, %.0f µs of processor", what, time.Since(start).Seconds()/float64(n)*1e6, (now-used).Seconds()/float64(n)*1e6)
		start, used = time.Now(), now
	}
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%032x", i))
	}
	if err := q.Add(ctx, "w", jobs(names...)); err != nil {
		t.Fatal(err)
	}
	step("added")
	var taken atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range 4 {
		g.Go(func() error {
			for taken.Add(1) <= int64(n) {
				d, err := q.Next(ctx)
				if err != nil {
					return err
				}
				if err := q.PutResult(ctx, "w", string(d.Job[len("job "):]), []byte(`{"status":0}`)); err != nil {
					return err
				}
				if err := d.Done(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	got := map[string]bool{}
	g.Go(func() error {
		return q.Results(ctx, "w", func(name string, _ []byte) (bool, error) {
			if got[name] {
				return false, fmt.Errorf("%s comes twice", name)
			}
			got[name] = true
			return len(got) < n, nil
		})
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	step("worked")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	left, err := q.Waiting(t.Context())
	t.Logf("memory: %d MiB of heap, %d MiB at most", m.HeapAlloc>>20, peak(t)>>20)
	t.Logf("queue: %d/%d", len(got)-int(left), n)
	if err != nil || len(got) != n || left != 0 {
		t.Errorf("%d results of %d, %d jobs left, %v", len(got), n, left, err)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	u := usage(t)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the largest resident set of this process, in bytes.
func peak(t *testing.T) int64 { return usage(t).Maxrss << 10 }

func usage(t *testing.T) (u syscall.Rusage) {
	t.Helper()
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u
}
