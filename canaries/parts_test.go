package canaries

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A decoy that is encoded and cut in parts within one text is found, whatever stands between the parts.
func TestPartsOfOneText(t *testing.T) {
	s := shared()
	layouts := map[string]func(i int, part string) string{
		"tags":    func(i int, p string) string { return fmt.Sprintf(`W/"%x-%s", `, i, p) },
		"list":    func(_ int, p string) string { return `"` + p + `", ` },
		"cookies": func(i int, p string) string { return fmt.Sprintf("c%d=%s; ", i, p) },
		"lines":   func(_ int, p string) string { return p + "\n" },
	}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		value := c.Value
		inner := rapid.SampledFrom([]string{"", "rot47"}).Draw(t, "inner")
		if inner != "" {
			value = string(layered[inner]([]byte(value)))
		}
		text := hex.EncodeToString([]byte(value))
		if rapid.Bool().Draw(t, "base64") {
			text = base64.RawStdEncoding.EncodeToString([]byte(value))
			if strings.ContainsAny(text, "+/") {
				t.Skip("a part with signs is cut at them")
			}
		}
		size := rapid.IntRange(leastPart, max(leastPart, len(text)/leastParts)).Draw(t, "size")
		parts := cut(text, size)
		if len(parts) < leastParts || len(parts[len(parts)-1]) < leastPart {
			t.Skip("too few parts")
		}
		layout := rapid.SampledFrom([]string{"tags", "list", "cookies", "lines"}).Draw(t, "layout")
		var b strings.Builder
		b.WriteString("if-none-match: ")
		for i, p := range parts {
			b.WriteString(layouts[layout](i, p))
		}
		if hits, err := s.FindBody([]byte(b.String()), nil); err != nil || !has(hits, c.ID) {
			t.Fatalf("%s in %s of %d (%s) is not found in %q", c.ID, layout, size, inner, b.String())
		}
	})
}
