package audit

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// NameClose is the rule for a package whose name is nearly that of another.
const NameClose = "name-close"

//go:embed known.txt
var knownText string

// knownName is a package of known.txt.
type knownName struct {
	name, scope, bare, flatScope, flatBare string
	// stem is the name without the words that say what it is, flat.
	stem string
}

// known are the packages of known.txt by registry, and the words that are one maker's.
var known = sync.OnceValue(func() (out struct {
	names map[string][]knownName
	own   map[string]bool
},
) {
	out.names, out.own = map[string][]knownName{}, map[string]bool{}
	for line := range strings.Lines(knownText) {
		registry, names, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if registry == "own" {
			out.own = words(names)
			continue
		}
		for name := range strings.FieldsSeq(names) {
			scope, bare := split(name)
			stem, _ := undressed(bare, kindWords)
			out.names[registry] = append(out.names[registry], knownName{name, scope, bare, flat(scope), flat(bare), flat(stem)})
		}
	}
	return out
})

// Lengths below which names are alike by chance: of a package, of a scope, and of the word that tells a
// package from others of its kind.
const (
	shortName  = 8
	shortScope = 10
	shortStem  = 4
)

var (
	// trustWords say that a package is the real one, as the real one need not.
	trustWords = words("official original genuine authentic real verified trusted legit")
	// kindWords say what a package is.
	kindWords = words("mcp server servers node nodejs js ts npm npx py python python3 pip sdk cli client api lib pkg package tool tools")
)

// closeness is how a name is close to that of a well-known package.
type closeness struct {
	name, known string
	severity    finding.Severity
}

// nameForm is a name that is compared: as it stands, flat, and without the words of each list at its ends.
type nameForm struct {
	scope, bare, flatScope, flatBare      string
	trustScope, kindScope, trusted, plain string // flat, "" where there are no such words
}

func formOf(name string) *nameForm {
	n := &nameForm{}
	n.scope, n.bare = split(name)
	n.flatScope, n.flatBare = flat(n.scope), flat(n.bare)
	without := func(name string, list map[string]bool) string {
		if plain, isDressed := undressed(name, list); isDressed {
			return flat(plain)
		}
		return ""
	}
	n.trustScope, n.kindScope = without(n.scope, trustWords), without(n.scope, kindWords)
	n.trusted, n.plain = without(n.bare, trustWords), without(n.bare, kindWords)
	return n
}

// resembles is the well-known package of which a name is a misspelling, another scope's, or with
// more words. It is empty for none.
func resembles(registry, name string) closeness {
	name = registryForm(registry, name)
	list := known().names[registry]
	if len(name) > maxName || slices.ContainsFunc(list, func(k knownName) bool { return k.name == name }) {
		return closeness{}
	}
	n := formOf(name)
	for _, way := range []struct {
		is       func(*knownName) bool
		severity finding.Severity
	}{{n.isMisspelling, finding.Medium}, {n.claims, finding.Medium}, {n.isOtherScope, finding.Medium}, {n.dropsScope, finding.Low}, {n.addsWords, finding.Low}} {
		for i := range list {
			if way.is(&list[i]) {
				return closeness{name, list[i].name, way.severity}
			}
		}
	}
	return closeness{}
}

// registryForm is a name as its registry compares it.
func registryForm(registry, name string) string {
	name = strings.ToLower(name)
	if registry == "pypi" {
		name = strings.NewReplacer("_", "-", ".", "-").Replace(name) // PEP 503
	}
	return name
}

// isMisspelling reports whether a name differs by one letter or by its separators, or by its scope's letters.
func (n *nameForm) isMisspelling(k *knownName) bool {
	switch {
	case k.scope != "" && n.scope == "" && n.flatBare == k.flatScope+k.flatBare:
		return len(k.bare) >= shortName || known().own[k.flatScope] // notes-mcp is what many call a server for notes
	case len(n.bare) < shortName || len(k.bare) < shortName:
		return false
	case n.scope == k.scope:
		return n.flatBare == k.flatBare || len(k.stem) >= shortStem && distance(n.bare, k.bare) == 1
	}
	letters := 1
	if len(k.scope) >= shortScope {
		letters = 2
	}
	return n.bare == k.bare && n.scope != "" && k.scope != "" && distance(n.scope, k.scope) <= letters
}

// isOtherScope reports whether a scope passes for a well-known one, whatever its package is called.
func (n *nameForm) isOtherScope(k *knownName) bool {
	if len(k.scope) < shortScope || len(n.scope) < shortScope || n.scope == k.scope {
		return false
	}
	return n.flatScope == k.flatScope || n.trustScope == k.flatScope || n.kindScope == k.flatScope && known().own[k.flatScope] || distance(n.scope, k.scope) == 1
}

// claims reports whether a name says of a well-known one that this is the real one. A scope is its owner's.
func (n *nameForm) claims(k *knownName) bool {
	switch {
	case n.trusted == "" || n.scope == k.scope && n.scope != "":
		return false
	case n.trusted == k.flatBare:
		return len(k.bare) >= shortName || known().own[n.trusted]
	}
	return n.trusted == k.flatScope+k.flatBare
}

// dropsScope reports whether a name without a scope is that of a scope's own package.
func (n *nameForm) dropsScope(k *knownName) bool {
	return k.scope != "" && n.scope == "" && n.bare == k.bare && len(n.bare) >= shortName && (known().own[k.stem] || known().own[k.flatScope] && strings.HasPrefix(n.bare, "server-"))
}

// addsWords reports whether a name has more words that say what it is than a well-known one: of a
// reference server, or of a word that is its maker's.
func (n *nameForm) addsWords(k *knownName) bool {
	if n.scope != "" {
		return false
	}
	if known().own[k.stem] {
		return n.plain == k.stem && strings.Contains(n.bare, "mcp")
	}
	return k.scope == "" && n.plain == k.stem && strings.HasPrefix(k.bare, "mcp-server-") && strings.Contains(n.bare, k.bare)
}

// undressed is a name without the words of a list at its ends, and whether there were any. One word stays.
func undressed(name string, list map[string]bool) (string, bool) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	n := len(parts)
	for len(parts) > 1 && list[parts[len(parts)-1]] {
		parts = parts[:len(parts)-1]
	}
	for len(parts) > 1 && list[parts[0]] {
		parts = parts[1:]
	}
	return strings.Join(parts, "-"), len(parts) < n
}

func split(name string) (scope, bare string) {
	if s, b, ok := strings.Cut(strings.TrimPrefix(name, "@"), "/"); ok {
		return s, b
	}
	return "", name
}

// flat is a name without what registries take for alike.
func flat(name string) string { return strings.NewReplacer("-", "", "_", "", ".", "").Replace(name) }

// distance is how many letters two names differ in: changed, left out, added, or swapped with
// the next (optimal string alignment).
func distance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
