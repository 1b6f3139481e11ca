package literals

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Route is a path that a source serves over HTTP, with "1" for what differs.
type Route struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

// maxRoutes bounds the routes of one source, maxRoute the length of a path.
const maxRoutes, maxRoute = 60, 120

const routePath = "[\"'`](/[^\"'`\\s]{0,120})[\"'`]"

// routing are the ways in which frameworks name a route, or handlers compare a path. The groups are the method,
// or what it is called there, and the path.
var routing = map[string][]*regexp.Regexp{
	"//": {
		regexp.MustCompile(`\b\w+\.(get|post|put|patch|delete|all|route|GET|POST|PUT|PATCH|DELETE)\(\s*` + routePath),
		regexp.MustCompile(`\bHandle(?:Func)?\(\s*["` + "`" + `](?:(GET|POST|PUT|PATCH|DELETE)\s+)?(/[^"` + "`" + `\s]{0,120})["` + "`" + `]`),
		regexp.MustCompile(`\b(?:url|pathname|path|URL\.Path)\s*===?\s*` + routePath + `\s*&&\s*[\w.]*method\s*===?\s*["'](GET|POST|PUT|PATCH|DELETE)["']`),
	},
	"#": {
		regexp.MustCompile(`@\w[\w.]*\.(get|post|put|patch|delete|route|api_route|custom_route)\(\s*f?` + routePath + `([^\n]{0,80})`),
		regexp.MustCompile(`\b(?:Route|add_route|add_api_route|add_url_rule)()\(\s*` + routePath + `([^\n]{0,120})`),
		regexp.MustCompile(`\badd_(get|post|put|patch|delete)\(\s*` + routePath),
	},
}

// comparing is how a handler of several routes tells them apart: by which method it is called then is not known.
var comparing = regexp.MustCompile(`(?i)\b(?:url|pathname|path)\s*(?:===?\s*|\.startswith\(\s*)` + routePath)

var (
	verb     = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE)\b`)
	variable = regexp.MustCompile(`\{[^{}/]*\}|<[^<>/]*>|:[A-Za-z_]\w*\??|\*+\w*`)
	// ending are routes that would end the server.
	ending = regexp.MustCompile(`(?i)shut_?-?down|\b(?:exit|quit|kill|stop|terminate|restart|reboot|close)\b`)
)

// Routes are the routes that the sources below the root of fsys serve, in the order of the files, each once. Those
// whose names say that they end the server are left out.
func Routes(fsys fs.FS) []Route {
	var out []Route
	Files(fsys, func(name, source string) {
		add := func(groups []string) {
			for _, r := range routesOf(groups) {
				if len(out) < maxRoutes && !slices.Contains(out, r) {
					out = append(out, r)
				}
			}
		}
		for _, expression := range routing[suffixes[path.Ext(name)]] {
			for _, m := range expression.FindAllStringSubmatch(source, 4*maxRoutes) {
				add(m[1:])
			}
		}
		for _, m := range comparing.FindAllStringSubmatch(source, 4*maxRoutes) {
			add([]string{m[1], "GET POST"})
		}
	})
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
		if r := (Route{method, served}); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if out == nil {
		out = []Route{{"GET", served}}
	}
	return out
}
