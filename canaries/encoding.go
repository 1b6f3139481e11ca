package canaries

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// encoding is one way in which a secret may be written. To find another one,
// add a line to encodings.
type encoding struct {
	name string
	// forms are the texts of which one is there wherever the needle is written
	// in this way, whatever stands around it.
	forms func(needle string) []string
}

// encodings, in the order of preference: where two write a needle alike, the
// first names the hit.
var encodings = []encoding{
	{"raw", func(s string) []string { return []string{s} }},
	{"json", jsonForms},
	{"base64", func(s string) []string { return base64Forms(base64.RawStdEncoding, s) }},
	{"base64url", func(s string) []string { return base64Forms(base64.RawURLEncoding, s) }},
	{"hex", func(s string) []string {
		h := hex.EncodeToString([]byte(s))
		return []string{h, strings.ToUpper(h)}
	}},
}

// jsonForms are the spellings of JSON writers that escape more than they must.
func jsonForms(s string) []string {
	slash := strings.ReplaceAll(s, "/", `\/`)
	lowered := strings.NewReplacer("+", `\u002b`, "=", `\u003d`, "/", `\u002f`)
	raised := strings.NewReplacer("+", `\u002B`, "=", `\u003D`, "/", `\u002F`)
	half := strings.NewReplacer("+", `\u002B`)
	return []string{slash, lowered.Replace(s), raised.Replace(s), half.Replace(s)}
}

// base64Forms are the needle's digits at the three offsets at which it may
// start, without those at its ends that hold bits of its neighbours.
func base64Forms(enc *base64.Encoding, s string) []string {
	if s == "" {
		return []string{""}
	}
	out := make([]string, 0, 3)
	for before := range 3 {
		digits := enc.EncodeToString(append(make([]byte, before), s...))
		from := (before*8 + 5) / 6
		to := (before + len(s)) * 8 / 6
		out = append(out, digits[from:to])
	}
	return out
}
