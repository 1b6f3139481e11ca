package plan

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// Places that a server looked for get files of their type, and the calls name them first. What is there stays.
func TestFurnishing(t *testing.T) {
	t.Parallel()
	top := project(t)
	p, err := New(Options{Target: Target{Command: []string{"node", "src/index.js"}, Dir: top}}, nil, Account{})
	if err != nil {
		t.Fatal(err)
	}
	planted := p.Files[slices.IndexFunc(p.Files, func(f rootfs.File) bool { return !f.Dir && f.Link == "" })].Path
	own, missing, data := filepath.Join(top, "package.json"), filepath.Join(top, "stock.csv"), "/data/items"
	if got := p.Absent([]string{own, missing, planted, data}); !slices.Equal(got, []string{missing, data}) {
		t.Errorf("absent are %q", got)
	}
	q := p.Furnishing([]string{own, missing, planted, data})
	at := map[string]rootfs.File{}
	for _, f := range q.Files[len(p.Files):] {
		if _, twice := at[f.Path]; twice {
			t.Errorf("%s is planted twice", f.Path)
		}
		at[f.Path] = f
	}
	for _, dir := range []string{"/data", data} {
		if !at[dir].Dir {
			t.Errorf("%s is no directory", dir)
		}
	}
	if len(at) < 4 || len(at[missing].Data) == 0 || at[top].Dir || at[own].Path != "" {
		t.Errorf("planted are %v", at)
	}
	if h := q.Drive.Hints; !slices.Contains(h.Dirs, data) || h.Documents[0] != missing || filepath.Dir(h.Files[0]) != data {
		t.Errorf("the calls name %q, %q, %q", h.Files[:2], h.Documents[:2], h.Dirs)
	}
}
