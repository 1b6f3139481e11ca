package cli

import "testing"

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
