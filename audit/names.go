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

// knownNames are the packages of known.txt, by registry.
var knownNames = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(knownText) {
		registry, names, ok := strings.Cut(line, ":")
		if ok && !strings.HasPrefix(line, "#") {
			out[registry] = append(out[registry], strings.Fields(names)...)
		}
	}
	return out
})

// shortName is a length below which names are alike by chance.
const shortName = 8

// resembles is the well-known package of which a name is a misspelling or a scope's other
// package, "" for none.
func resembles(registry, name string) string {
	name = strings.ToLower(name)
	list := knownNames()[registry]
	if slices.Contains(list, name) {
		return ""
	}
	scope, bare := split(name)
	for _, known := range list {
		knownScope, knownBare := split(known)
		switch {
		case len(bare) < shortName || len(knownBare) < shortName:
		case scope == knownScope && (flat(bare) == flat(knownBare) || distance(bare, knownBare) == 1):
			return known
		case bare == knownBare && scope != "" && knownScope != "" && distance(scope, knownScope) <= 2:
			return known
		case knownScope != "" && scope == "" && flat(bare) == flat(knownScope+knownBare):
			return known
		}
	}
	return ""
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

// closeName judges the name of a manifest.
func (a *auditor) closeName(registry, manifest, name string) {
	if len(name) > maxName {
		return
	}
	if known := resembles(registry, name); known != "" {
		a.add(NameClose, finding.Medium, manifest, "", 0, "the package's name is close to "+known+": "+shown(name), name)
	}
}
