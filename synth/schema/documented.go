package schema

import (
	"regexp"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxDocumented bounds the text of one parameter that is taken from a tool's description.
const maxDocumented = 600

// documented is what a tool's description says of a parameter whose schema says nothing, as generators of schemas from
// functions leave it: a line of "Args:", ":param name:" or a list, with the deeper lines below it. "" is for nothing.
func documented(description, name string) string {
	if name == "" || !strings.Contains(description, name) {
		return ""
	}
	begins, err := regexp.Compile(`^(\s*)(?:[-*•]\s+|:param\s+(?:[\w\[\], |]+\s+)?)?[` + "`" + `"'*]{0,3}` + regexp.QuoteMeta(name) + `[` + "`" + `"'*]{0,3}\s*(?:\([^()]{0,80}\)\s*)?(?::|–|—|-)\s*(.*)$`)
	if err != nil {
		return ""
	}
	lines := strings.Split(description, "\n")
	for i, line := range lines {
		m := begins.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		out := m[2]
		for _, more := range lines[i+1:] {
			text := strings.TrimSpace(more)
			if text == "" || len(more)-len(strings.TrimLeft(more, " \t")) <= len(m[1]) || len(out) > maxDocumented {
				break
			}
			out += " " + text
		}
		return strings.ToValidUTF8(out[:min(len(out), maxDocumented)], "")
	}
	return ""
}

const (
	// leastListed is how many values an enumeration without quotation marks has at least: two words with a comma
	// are prose.
	leastListed = 3
	maxListed   = 16
)

var (
	// enumeration is what may list values: the text in brackets, or after a colon or words that announce them.
	enumeration = lazyregexp.New(`(?i)\(([^()]{3,200})\)|(?::|\bone of|\beither|\b(?:values|options|choices)(?: are)?:?)\s+([^.;:()\n]{3,200})`)
	// listSeparator parts the values of one.
	listSeparator = lazyregexp.New(`\s*(?:,\s*(?:or|and)\s|,|\||\bor\b|\s/\s)\s*`)
	slashes       = lazyregexp.New(`^\w+(?:/\w+)+$`)
	// listedValue is one such value, of at most three words.
	listedValue = lazyregexp.New(`^[A-Za-z0-9][\w.+-]*(?: [\w.+-]+){0,2}$`)
	// remark begins what is said of a value beside others.
	remark = lazyregexp.New(`(?i)^(?:an?|the|if|in|e\.?g|i\.?e|default|defaults|optional|required|max\w*|min\w*|see|up|such|like|not|only|and|for|with|when|any|all|etc|number|string|integer|boolean|list|must|can|will|is|are)\b`)
)

// markedDefault is what a description puts behind a value that holds where none is given.
var markedDefault = lazyregexp.New(`(?i)\s*[([](?:the |is )?default[^()\[\]]{0,40}[)\]]`)

// listed finds an enumeration of plain values: "(Research, Analysis, Synthesis)", "stage: new, open or closed", "GET|POST".
func listed(text string) []string {
	text = markedDefault.ReplaceAllString(text, "")
	for _, m := range enumeration.FindAllStringSubmatch(text, 8) {
		list := m[1] + m[2]
		parts := listSeparator.Split(list, -1)
		if slashes.MatchString(strings.TrimSpace(list)) {
			parts = strings.Split(strings.TrimSpace(list), "/")
		}
		var out []string
		for _, p := range parts {
			p = strings.Trim(p, " `\"'")
			if !listedValue.MatchString(p) || remark.MatchString(p) || len(p) > 40 {
				out = nil
				break
			}
			out = append(out, p)
		}
		if len(out) >= leastListed && len(out) <= maxListed {
			return out
		}
	}
	return nil
}
