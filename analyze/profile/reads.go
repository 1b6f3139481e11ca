package profile

import (
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The bounds of what is kept of reads: the calls of one tool that read a file, and all of them.
const (
	maxReadCalls = 8
	maxReads     = 20_000
)

// reads collects the opens of the user's ordinary files, which are no effects of their own: a
// tool may walk through a workspace in each of its calls.
type reads struct {
	// files are the planted files that are documents, dirs the user's directories in HOME that
	// hold some. Both are nil until they are needed.
	files, dirs map[string]bool
	// seen counts the calls by reader and file, last is the latest of them.
	seen map[reader]readCalls
}

// reader is who read what: a tool in its calls, or the server in a phase.
type reader struct {
	tool  string
	phase finding.Phase
	path  string
}

// readCalls are how many calls of a reader read a file, and which was the last.
type readCalls struct{ n, last int }

// isDocument reports whether a planted file is a document of the user's: it is neither hidden nor
// in a hidden directory of HOME or of a workspace, and no program keeps its settings there.
func (b *Builder) isDocument(p string) bool {
	for _, dir := range append(b.ctx.Workspaces[:len(b.ctx.Workspaces):len(b.ctx.Workspaces)], b.ctx.Home) {
		if dir == "" || !under(p, dir) || p == dir {
			continue
		}
		return !strings.HasPrefix(strings.TrimPrefix(p, dir+"/"), ".") && !strings.Contains(strings.TrimPrefix(p, dir), "/.")
	}
	return false
}

// documents finds out which of the planted files are documents.
func (b *Builder) documents() *reads {
	r := &b.userReads
	if r.seen != nil {
		return r
	}
	r.files, r.dirs, r.seen = map[string]bool{}, map[string]bool{}, map[reader]readCalls{}
	for p := range b.ctx.Planted {
		if len(b.secrets[p]) > 0 || !b.isDocument(p) {
			continue
		}
		r.files[p] = true
		if _, in := underAny(p, b.ctx.Workspaces); !in && path.Dir(p) != b.ctx.Home {
			r.dirs[path.Dir(p)] = true
		}
	}
	return r
}

// readsDocument notes that a document of the user's, or a directory of documents in HOME, was
// opened for reading.
func (b *Builder) readsDocument(r *trace.Record, p string) {
	if len(b.ctx.Planted) == 0 || strings.Contains(r.Flags, "O_PATH") {
		return
	}
	known := b.documents()
	p = b.asNamed(r.Given, p)
	if !known.files[p] && !known.dirs[p] || len(b.out.Reads) >= maxReads {
		return
	}
	e := b.placed(r)
	who := reader{e.Tool, "", p}
	if e.Call == 0 {
		who.phase = e.Phase
	}
	calls := known.seen[who]
	if calls.n > 0 && calls.last == e.Call || calls.n >= maxReadCalls {
		return
	}
	known.seen[who] = readCalls{calls.n + 1, e.Call}
	verb := "opened "
	if known.dirs[p] {
		verb = "listed "
	}
	e.Kind, e.Target, e.Rung, e.Evidence = finding.FileRead, p, finding.RungOpened, []finding.Evidence{b.says(r, verb+b.short(p))}
	b.out.Reads = append(b.out.Reads, e)
}

// asNamed is the name in a workspace by which a file outside was opened through a link that stood
// there: who walks through a workspace did not look for what its links lead to. It is p otherwise.
func (b *Builder) asNamed(given, p string) string {
	if given == "" {
		return p
	}
	for _, w := range b.ctx.Workspaces {
		named := given
		if !path.IsAbs(given) {
			named = path.Join(w, given)
		}
		if under(p, w) || !under(named, w) {
			continue
		}
		if path.IsAbs(given) || isBelow(named, b.ctx.Planted) {
			return path.Clean(named)
		}
	}
	return p
}
