package profile

import (
	"path"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// maxSought bounds the paths that are kept of those that were asked for in vain.
const maxSought = 10_000

// sought are the paths with the name of a secret's file that were asked for in vain.
type sought struct {
	names, paths map[string]bool
}

func newSought() sought { return sought{map[string]bool{}, map[string]bool{}} }

// name adds the name of a secret's file.
func (s *sought) name(p string) { s.names[path.Base(p)] = true }

// in notes a look for a path.
func (s *sought) in(p string, r *trace.Record) {
	if r.Err == "ENOENT" && s.names[path.Base(p)] && len(s.paths) < maxSought {
		s.paths[p] = true
	}
}

// climbed reports whether a search that goes up from where the server is, or where it works, came
// to a file: whether the file's name was asked for in vain in each directory on the way.
func (b *Builder) climbed(p string) bool {
	dir, name := path.Split(p)
	dir = path.Clean(dir)
	for _, start := range append([]string{b.ctx.ServerDir}, b.ctx.Workspaces...) {
		if start == dir || !under(start, dir) {
			continue
		}
		// The server's own directory is not watched in all backends.
		asked := b.sought.paths[path.Join(start, name)]
		all := true
		for at := path.Dir(start); all && at != dir; at = path.Dir(at) {
			all = b.sought.paths[path.Join(at, name)]
			asked = asked || all
		}
		if all && asked {
			return true
		}
	}
	return false
}
