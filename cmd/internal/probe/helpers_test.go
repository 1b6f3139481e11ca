package probe

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/fake"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The runs that fetch a package have ids, directories and entries of their own. Until the target's
// directory is there they lie elsewhere, and nothing of them is left there.
func TestHelpersHaveDirectories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, out := install.Cache{Dir: t.TempDir()}, t.TempDir()
		target, err := os.OpenRoot(out)
		if err != nil {
			t.Fatal(err)
		}
		defer target.Close()
		o := &plan.Options{}
		o.Fill()
		ends := func() fake.Target { return &fake.Script{Stopped: func(p *fake.Process) { p.Exit(0, "") }} }
		r := run.Runner{Backend: fake.Of(ends), Progress: func(string) {}}
		h := &helpers{}
		make := func(e *experiment.Experiment, r run.Runner) error {
			_, err := h.run(t.Context(), r, e, plan.Helper{Command: []string{"/bin/true"}}.Plan(o), cache)
			return err
		}
		refused := run.Runner{Backend: &fake.Backend{Refuses: errors.New("no sandbox today")}, Progress: r.Progress}
		if err := errors.Join(make(&experiment.Query, r), make(&experiment.Fetch, r)); err != nil {
			t.Fatal(err)
		}
		var not *run.NotStarted
		if err := make(&experiment.Fetch, refused); !errors.As(err, &not) {
			t.Errorf("refused: %v", err)
		}
		if err := h.moveTo(target); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(make(&experiment.Fetch, r), h.remove()); err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		var listed []string
		for _, one := range h.list() {
			listed = append(listed, one.Dir+": "+one.Failed)
			data, err := os.ReadFile(filepath.Join(out, one.Dir, plan.FileName))
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Decode(data)
			if err != nil || one.Role != session.RoleHelper || p.Experiment != one.Experiment || ids[p.RunID] {
				t.Errorf("%+v: run %q of the experiment %q, %v", one, p.RunID, p.Experiment, err)
			}
			ids[p.RunID] = true
		}
		if want := []string{"query-1: ", "fetch-1: ", "fetch-2: the fetch wrote no log", "fetch-3: "}; !slices.Equal(listed, want) {
			t.Errorf("%q, want %q", listed, want)
		}
		if left, err := os.ReadDir(cache.Dir); err != nil || len(left) > 0 {
			t.Errorf("left in the cache: %v %v", left, err)
		}
		if err := experiment.Clear(target); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
			t.Errorf("left after clearing: %v %v", left, err)
		}
	})
}
