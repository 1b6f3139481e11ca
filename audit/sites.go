package audit

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// Site is a place in the source that acts on the world. A run compares its effects with the
// sites, to name the lines that may have caused them.
type Site struct {
	Kind sinks.Kind `json:"kind"`
	// Name is the function that is used there: "subprocess.run".
	Name     string           `json:"name"`
	Location finding.Location `json:"location"`
	// Tools are those whose handlers may lead here, at most maxSiteTools of them.
	Tools []string `json:"tools,omitempty"`
	// Object is the file's name, the program or the host that stands in the call, "" for none.
	Object string `json:"object,omitempty"`
}

// Bounds of the sites: their number, and the tools of one.
const (
	maxSites     = 2_000
	maxSiteTools = 8
)

// sites lists the places that act on the world.
func (a *auditor) sites(pkg *sinks.Package, at *places) {
	functions := pkg.Functions()
	tools := toolsOf(functions, pkg.Handlers())
	for i := range functions {
		f := &functions[i]
		facts := pkg.Facts(f.File)
		for _, s := range f.Sinks {
			if len(a.report.Sites) >= maxSites {
				return
			}
			site := Site{Kind: s.Kind, Name: shown(s.Name), Location: *at.location(f.File, s.Start), Tools: tools[i]}
			site.Location.Path = text.Printable(site.Location.Path, 2*maxName)
			if c := facts.CallAt(s.Span); c != nil {
				site.Object = objectOf(s.Kind, &c.Call)
			}
			a.report.Sites = append(a.report.Sites, site)
		}
	}
}

// toolsOf are, for each function, the names of the tools whose handlers may lead to it.
func toolsOf(functions []sinks.Function, handlers []sinks.Handler) [][]string {
	at := make(map[string]int, len(functions))
	for i := range functions {
		at[functions[i].ID()] = i
	}
	out := make([][]string, len(functions))
	for _, h := range handlers {
		if h.Kind != "tool" || h.Name == "" {
			continue
		}
		name, queue := shown(h.Name), []int{}
		visit := func(id string) {
			i, ok := at[id]
			if ok && len(out[i]) < maxSiteTools && !slices.Contains(out[i], name) {
				out[i] = append(out[i], name)
				queue = append(queue, i)
			}
		}
		for _, id := range h.Functions {
			visit(id)
		}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			for _, id := range functions[i].Calls {
				visit(id)
			}
		}
	}
	return out
}

var (
	// placed begins a path, and extended ends the name of a file; programName is the name of a program.
	placed      = lazyregexp.New(`^(?:/|~/|\.{1,2}/|\$HOME/|\.[a-z])[\w./-]*$`)
	extended    = lazyregexp.New(`^[\w./-]*[A-Za-z][\w-]*\.[a-z][a-z0-9]{0,4}$`)
	programName = lazyregexp.New(`^[a-z][a-z0-9-]{1,15}$`)
)

// objectOf is what the constants of a call name: the host of a URL, the last part of a path, or
// the program that a call starts. Nothing else of a constant is kept, for it may be a secret.
func objectOf(kind sinks.Kind, c *lang.Call) (object string) {
	for _, arg := range c.Args[:min(len(c.Args), 4)] {
		lang.WalkExpr(arg.Value, nil, func(n lang.Node, _ *lang.Scope) bool {
			if k, ok := n.(lang.Const); ok && k.Kind == lang.String && object == "" && len(k.Text) < 500 {
				object = objectIn(kind, k.Text)
			}
			_, isFunction := n.(*lang.Function)
			return !isFunction && object == ""
		})
	}
	return object
}

func objectIn(kind sinks.Kind, s string) string {
	if strings.Contains(s, "://") {
		if u, err := url.Parse(s); err == nil {
			return shown(u.Hostname())
		}
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	switch {
	case len(first) > 100:
	case placed.MatchString(first) || extended.MatchString(first):
		return shown(path.Base(first))
	case kind == sinks.Process && programName.MatchString(first):
		return first
	}
	return ""
}
