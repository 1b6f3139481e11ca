package profile

import (
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The texts of arguments that may be names of files below a directory: so few of a call, and neither so short that a
// path holds them by chance nor so long.
const (
	maxNamesGiven = 16
	leastName     = 8
	mostName      = 300
)

// givenName is a text of a call's arguments, and the place where it stands there.
type givenName struct{ at, name string }

// givesNames remembers the texts of a call's arguments that may name a file below a directory: relative paths, and
// absolute ones that the server may join to one.
func (b *Builder) givesNames(arguments any) {
	values, _ := arguments.(map[string]any)
	var out []givenName
	for _, at := range sortedKeys(values) {
		s, ok := values[at].(string)
		if !ok || len(s) > mostName || len(s) < leastName && !strings.Contains(s, "/") || strings.Contains(s, "..") || strings.ContainsAny(s, "\n\x00") || path.Clean(s) != s || len(out) >= maxNamesGiven {
			continue
		}
		out = append(out, givenName{at, "/" + strings.TrimPrefix(s, "/")})
	}
	b.names = names{b.call, out}
}

// names are those of the call under way.
type names struct {
	call int
	list []givenName
}

// joins notes the directory of the server's own below which an argument of the call led: what the server put before it.
func (b *Builder) joins(r *trace.Record) {
	if len(b.names.list) == 0 || b.ctx.ServerDir == "" || r.Op != trace.OpOpen && r.Op != trace.OpStat || b.callOf(r) != b.names.call {
		return
	}
	p := cleanProc(r.Path)
	for _, n := range b.names.list {
		i := strings.Index(p, n.name)
		if i < 0 {
			continue
		}
		dir, rest := p[:i], p[i+len(n.name):]
		if dir != b.ctx.ServerDir && under(dir, b.ctx.ServerDir) && (rest == "" || rest[0] == '.') {
			b.out.bases[b.toolOf(b.names.call)+"\x00"+n.at] = dir
		}
	}
}

// Base is the directory of the server's own below which an argument of a tool led in some call, "" for none.
func (p *Profile) Base(tool, at string) string { return p.bases[tool+"\x00"+at] }
