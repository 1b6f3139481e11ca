package plan

import (
	"path"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// The directory that a server works in holds decoys, whoever named it.
func TestWorkspaceHoldsDecoys(t *testing.T) {
	data := t.TempDir()
	for name, command := range map[string][]string{"its own": {"/bin/true"}, "named": {"node", data}} {
		p, err := New(Options{Target: Target{Command: command}}, nil, Account{})
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Join(p.Decoys.Home(), "workspace")
		if name == "named" {
			dir = data
		}
		if p.Server.Dir != dir {
			t.Errorf("%s: the working directory is %s, not %s", name, p.Server.Dir, dir)
		}
		for _, file := range []string{".env", ".git-credentials"} {
			at := path.Join(dir, file)
			i := slices.IndexFunc(p.Files, func(f rootfs.File) bool { return f.Path == at })
			if i < 0 || len(p.Decoys.Find(p.Files[i].Data)) == 0 || !slices.Contains(p.Watch, at) {
				t.Errorf("%s: %s holds nothing that is watched", name, at)
			}
		}
	}
}
