package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// leastSecret is the length from which on a passed value is told from other text.
const leastSecret = 4

// SecretTexts are the texts by which passed values are recognised: as they are, and
// as JSON writes them. The longest come first, so that none leaves a rest of another.
func SecretTexts(values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, v)
		for _, html := range []bool{true, false} {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(html)
			if e.Encode(v) == nil {
				out = append(out, strings.Trim(strings.TrimSpace(b.String()), `"`))
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.DeleteFunc(slices.Compact(out), func(v string) bool { return len(v) < leastSecret })
}

// Redact takes passed values, as SecretTexts names them, out of a text.
func Redact(text []byte, secrets []string) []byte {
	for _, s := range secrets {
		if bytes.Contains(text, []byte(s)) {
			text = bytes.ReplaceAll(text, []byte(s), []byte("[passed]"))
		}
	}
	return text
}

// RedactedCommand is the server's command without passed values.
func (p *Plan) RedactedCommand() []string {
	var out []string
	for _, s := range p.Server.Command {
		out = append(out, string(Redact([]byte(s), p.Secrets)))
	}
	return out
}
