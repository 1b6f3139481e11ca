package analyze_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// growing copies a log in pieces, as a run writes it: a frame after its mark.
type growing struct {
	t             *testing.T
	dir           string
	trace, frames []byte
	marked        int // frames whose marks were copied, without the frames
}

// more copies up to n bytes of the trace, cut anywhere, and some of the frames whose
// marks are there.
func (g *growing) more(random *rand.Rand, n int) {
	n = min(n, len(g.trace))
	g.marked += bytes.Count(g.trace[:n], []byte(`"kind":"frame"`))
	g.add(session.TraceFile, &g.trace, n)
	frames := random.IntN(g.marked + 1)
	if len(g.trace) == 0 {
		frames = g.marked
	}
	for ; frames > 0; frames-- {
		g.marked--
		g.add(session.FramesFile, &g.frames, bytes.IndexByte(g.frames, '\n')+1)
	}
	if len(g.trace) == 0 {
		g.add(session.FramesFile, &g.frames, len(g.frames))
	}
}

func (g *growing) add(name string, from *[]byte, n int) {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		g.t.Fatal(err)
	}
	defer f.Close()
	n = min(n, len(*from))
	if _, err := f.Write((*from)[:n]); err != nil {
		g.t.Fatal(err)
	}
	*from = (*from)[n:]
}

// Whoever follows a log sees the same in each call as who reads it whole, wherever
// it stood when it was asked.
func TestLiveShowsWhatTheWholeLogShows(t *testing.T) {
	archives, err := filepath.Glob("../testdata/runs/*.tar.gz")
	if err != nil || len(archives) < 40 {
		t.Fatalf("%d kept runs: %v", len(archives), err)
	}
	found := 0
	for i := 0; i < len(archives); i += scale.N(4, 1) {
		archive := archives[i]
		from := t.TempDir()
		analyzetest.UnpackRun(t, archive, from)
		source, err := os.OpenRoot(from)
		if err != nil {
			t.Fatal(err)
		}
		wanted, want, done := analyze.ShownByWhole(t, source)
		found += len(want)
		g := growing{t: t, dir: t.TempDir()}
		for name, data := range map[string]*[]byte{session.TraceFile: &g.trace, session.FramesFile: &g.frames} {
			if *data, err = source.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		_ = source.Close()
		random := rand.New(rand.NewPCG(1, uint64(i)))
		g.add(session.TraceFile, &g.trace, bytes.IndexByte(g.trace, '\n')+1)
		g.add(session.FramesFile, &g.frames, 0)
		to, err := os.OpenRoot(g.dir)
		if err != nil {
			t.Fatal(err)
		}
		live, err := analyze.OpenLive(to)
		if err != nil {
			t.Fatal(err)
		}
		for whole := len(g.trace); len(g.trace) > 0; {
			g.more(random, 1+random.IntN(1+whole/2))
			live.Shown(wanted, 1)
		}
		if diff := cmp.Diff(want, live.Shown(wanted, 1)); diff != "" {
			t.Errorf("%s: whole against followed:\n%s", archive, diff)
		}
		if diff := cmp.Diff(done, live.Done(), cmpopts.IgnoreUnexported(profile.Profile{})); diff != "" {
			t.Errorf("%s: done, whole against followed:\n%.2000s", archive, diff)
		}
		if err := live.Close(); err != nil {
			t.Error(err)
		}
		_ = to.Close()
	}
	if found < scale.N(10, 40) {
		t.Errorf("only %d findings are shown by calls: this compares too little", found)
	}
}
