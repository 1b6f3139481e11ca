package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// helpers makes the runs of programs that serve a probe. What is fetched decides whether there is a
// probe at all: until then the target's directory, with an earlier result, is left alone, and the
// runs are in a directory of their own. The zero value is ready for use.
type helpers struct {
	mu sync.Mutex
	// own is the path of that directory, "" for none, and dir the directory of the runs.
	own  string
	dir  *os.Root
	made map[string]int
	runs []session.IndexedRun
}

// run makes the run of a plan that belongs to an experiment.
func (h *helpers) run(ctx context.Context, r run.Runner, e *experiment.Experiment, p plan.Plan, cache install.Cache) (run.Observations, error) {
	dir, name, err := h.next(e, cache)
	if err != nil {
		return run.Observations{}, err
	}
	one := &experiment.Scheduler{Runner: r, Dir: dir, Jobs: experiment.NewJobs(1)}
	indexed, seen, err := one.Make(ctx, e, &experiment.Case{Plan: p}, name)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = append(h.runs, withoutLog(dir, indexed))
	return seen, err
}

// next is the directory of the next run of an experiment, and where it lies.
func (h *helpers) next(e *experiment.Experiment, cache install.Cache) (*os.Root, string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made == nil {
		h.made = map[string]int{}
	}
	if h.made[e.Name]++; h.made[e.Name] > e.Rounds {
		return nil, "", fmt.Errorf("more than %d runs of the kind %s", e.Rounds, e.Name)
	}
	if h.dir == nil {
		var err error
		if h.own, err = cache.Temp(); err != nil {
			return nil, "", plan.Mendable(err)
		}
		if h.dir, err = os.OpenRoot(h.own); err != nil {
			return nil, "", fmt.Errorf("open the directory of what is fetched: %w", err)
		}
	}
	return h.dir, fmt.Sprintf("%s-%d", e.Dir, h.made[e.Name]), nil
}

// moveTo takes the runs so far into a target's directory, where later ones are made.
func (h *helpers) moveTo(target *os.Root) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dir != nil {
		if err := copyTree(target, h.dir.FS()); err != nil {
			return fmt.Errorf("keep how the package was fetched: %w", err)
		}
		if err := h.close(); err != nil {
			return err
		}
	}
	h.dir = target
	return nil
}

// list are the runs for the index.
func (h *helpers) list() []session.IndexedRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs
}

// remove removes what has not been moved. It may be called more than once.
func (h *helpers) remove() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.close()
}

func (h *helpers) close() error {
	if h.own == "" {
		return nil
	}
	own := h.own
	h.own = ""
	return errors.Join(h.dir.Close(), os.RemoveAll(own))
}

// copyTree copies directories and regular files; none of them may be there already.
func copyTree(to *os.Root, from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir():
			return to.Mkdir(name, 0o700)
		}
		in, err := from.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	})
}

// withoutLog says in a run's entry that it wrote no log, where it did not.
func withoutLog(target *os.Root, r session.IndexedRun) session.IndexedRun {
	r.Failed = "the " + r.Experiment + " wrote no log"
	if dir, err := target.OpenRoot(r.Dir); err == nil {
		defer dir.Close()
		if _, err := session.Open(dir); err == nil {
			r.Failed = ""
		}
	}
	return r
}
