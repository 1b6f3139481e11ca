package oracle

import "regexp"

// placeholder is a field of a text that Python's str.format fills, as a tool's own example or words show it.
var placeholder = regexp.MustCompile(`\{([A-Za-z_]\w{0,60}|\d{1,2})(?:[.\[][^{}"]{0,100})?\}`)

// formatString is the token and a field that follows attributes, which str.format and
// str.format_map do (CWE-1336). It begins with the name that a field of the usual value has, or
// one that the tool speaks of.
func formatString(base, said, token string) string {
	name := "0"
	for _, text := range []string{said, base} {
		if m := placeholder.FindStringSubmatch(text); m != nil {
			name = m[1]
		}
	}
	return token + "{" + name + ".__class__.__mro__}"
}

// formatted is what such a text becomes: the token, and the type of a value.
func formatted(token string) string { return token + "(<class '" }
