package literals

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// Route is a path that a source serves over HTTP, with "1" for what differs.
type Route struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// Open is the path with "{name}" for what differs, "" where nothing does.
	Open string `json:"open,omitempty"`
	// Params are names that the code behind the route reads of the query or the body.
	Params []string `json:"params,omitempty"`
}

// maxRoutes bounds the routes of one source, maxRoute the length of a path, maxParams the names of a route, and
// maxHandler how much of the code behind a route is searched for them.
const maxRoutes, maxRoute, maxParams, maxHandler = 60, 120, 6, 1_500

const routePath = "[\"'`](/[^\"'`\\s]{0,120})[\"'`]"

// routing are the ways in which frameworks name a route, or handlers compare a path. The groups are the method,
// or what it is called there, and the path.
var routing = map[string][]*lazyregexp.Regexp{
	"//": {
		lazyregexp.New(`\b\w+\.(get|post|put|patch|delete|all|route|GET|POST|PUT|PATCH|DELETE)\(\s*` + routePath),
		lazyregexp.New(`\bHandle(?:Func)?\(\s*["` + "`" + `](?:(GET|POST|PUT|PATCH|DELETE)\s+)?(/[^"` + "`" + `\s]{0,120})["` + "`" + `]`),
		lazyregexp.New(`\b(?:url|pathname|path|URL\.Path)\s*===?\s*` + routePath + `\s*&&\s*[\w.]*method\s*===?\s*["'](GET|POST|PUT|PATCH|DELETE)["']`),
	},
	"#": {
		lazyregexp.New(`@\w[\w.]*\.(get|post|put|patch|delete|route|api_route|custom_route)\(\s*f?` + routePath + `([^\n]{0,80})`),
		lazyregexp.New(`\b(?:Route|add_route|add_api_route|add_url_rule)()\(\s*` + routePath + `([^\n]{0,120})`),
		lazyregexp.New(`\badd_(get|post|put|patch|delete)\(\s*` + routePath),
	},
}

// comparing is how a handler of several routes tells them apart: by which method it is called then is not known.
var comparing = lazyregexp.New(`(?i)\b(?:url|pathname|path)\s*(?:===?\s*|\.startswith\(\s*)` + routePath)

var (
	verb     = lazyregexp.New(`\b(GET|POST|PUT|PATCH|DELETE)\b`)
	variable = lazyregexp.New(`\{[^{}/]*\}|<[^<>/]*>|:[A-Za-z_]\w*\??|\*+\w*`)
	// naming is the name of what differs, behind its type if that stands there.
	naming = lazyregexp.New(`([A-Za-z_]\w*)\W*$`)
	// reading are the ways in which handlers read members of the query or the body, and apart those in which they take
	// several at once.
	reading = lazyregexp.New(`\b(?:query|body|args|form|json|values|query_params|searchParams|data|payload)(?:\(\))?\??(?:\.?(?:get|Get)\(|\[)\s*["'](\w{1,40})["']|` +
		`\breq(?:uest)?\.(?:query|body)\.(\w{1,40})\b|\b(?:FormValue|PostFormValue|DefaultQuery|PostForm|Query|Query\(\)\.Get)\(\s*["'](\w{1,40})["']`)
	apart = lazyregexp.New(`\{([^{}]{1,200})\}\s*=\s*(?:await\s+)?[\w.]+\.(?:query|body|json\(\))`)
	// ending are routes that would end the server.
	ending = lazyregexp.New(`(?i)shut_?-?down|\b(?:exit|quit|kill|stop|terminate|restart|reboot|close)\b`)
)

// Routes are the routes that the sources below the root of fsys serve, in the order of the files, each once. Those
// whose names say that they end the server are left out.
func Routes(fsys fs.FS) []Route {
	var out []Route
	Files(fsys, func(name, source string) {
		add := func(groups []string, handler string) {
			for _, r := range routesOf(groups) {
				if len(out) < maxRoutes && !slices.ContainsFunc(out, func(o Route) bool { return o.Method == r.Method && o.Path == r.Path }) {
					r.Params = paramsOf(handler)
					out = append(out, r)
				}
			}
		}
		var found [][]int
		for _, expression := range routing[suffixes[path.Ext(name)]] {
			found = append(found, expression.FindAllStringSubmatchIndex(source, 4*maxRoutes)...)
		}
		compared := comparing.FindAllStringSubmatchIndex(source, 4*maxRoutes)
		var begins []int
		for _, m := range slices.Concat(found, compared) {
			begins = append(begins, m[0])
		}
		slices.Sort(begins)
		for _, m := range found {
			add(groupsOf(source, m), behind(source, m[1], begins))
		}
		for _, m := range compared {
			add([]string{groupsOf(source, m)[0], "GET POST"}, behind(source, m[1], begins))
		}
	})
	return out
}

// groupsOf are the groups of a match, given by their places.
func groupsOf(source string, m []int) []string {
	var out []string
	for i := 2; i+1 < len(m); i += 2 {
		group := ""
		if m[i] >= 0 {
			group = source[m[i]:m[i+1]]
		}
		out = append(out, group)
	}
	return out
}

// behind is the code behind a place, up to the next route.
func behind(source string, at int, begins []int) string {
	end := min(len(source), at+maxHandler)
	if i, _ := slices.BinarySearch(begins, at); i < len(begins) {
		end = min(end, begins[i])
	}
	return source[at:max(at, end)]
}

// paramsOf are the names that a handler reads of the query or the body, in order.
func paramsOf(handler string) []string {
	var out []string
	add := func(name string) {
		if name != "" && len(out) < maxParams && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, m := range apart.FindAllStringSubmatch(handler, maxParams) {
		for part := range strings.SplitSeq(m[1], ",") {
			name, _, _ := strings.Cut(part, ":")
			name, _, _ = strings.Cut(name, "=")
			if name = strings.TrimSpace(name); len(name) <= 40 && naming.FindString(name) == name {
				add(name)
			}
		}
	}
	for _, m := range reading.FindAllStringSubmatch(handler, 4*maxParams) {
		add(strings.Join(m[1:], ""))
	}
	return out
}

// opened is a path with "{name}" for what differs, "" where nothing does.
func opened(written string) string {
	differs := false
	out := variable.ReplaceAllStringFunc(written, func(v string) string {
		differs = true
		name := "rest"
		if m := naming.FindStringSubmatch(v); m != nil {
			name = m[1]
		}
		return "{" + name + "}"
	})
	if !differs {
		return ""
	}
	return out
}

// routesOf are the routes of one match: its groups are a path, and words that name methods.
func routesOf(groups []string) []Route {
	i := slices.IndexFunc(groups, func(g string) bool { return strings.HasPrefix(g, "/") })
	if i < 0 {
		return nil
	}
	served := variable.ReplaceAllString(groups[i], "1")
	if len(served) > maxRoute || ending.MatchString(served) || strings.ContainsFunc(served, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil
	}
	var out []Route
	for _, method := range verb.FindAllString(strings.ToUpper(strings.Join(slices.Concat(groups[:i], groups[i+1:]), " ")), -1) {
		if !slices.ContainsFunc(out, func(r Route) bool { return r.Method == method }) {
			out = append(out, Route{Method: method, Path: served, Open: opened(groups[i])})
		}
	}
	if out == nil {
		out = []Route{{Method: "GET", Path: served, Open: opened(groups[i])}}
	}
	return out
}
