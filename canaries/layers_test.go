package canaries

import (
	"bytes"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// layered is how a server would write bytes, by the name of a layer.
var layered = map[string]func([]byte) []byte{
	"base64":    func(b []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(b)) },
	"base64url": func(b []byte) []byte { return []byte(base64.RawURLEncoding.EncodeToString(b)) },
	"base32":    func(b []byte) []byte { return []byte(base32.StdEncoding.EncodeToString(b)) },
	"hex":       func(b []byte) []byte { return []byte(hex.EncodeToString(b)) },
	"HEX":       func(b []byte) []byte { return []byte(strings.ToUpper(hex.EncodeToString(b))) },
	"base58":    write58,
	"ascii85":   func(b []byte) []byte { return write85(b, ascii85Digits) },
	"btoa": func(b []byte) []byte {
		out := make([]byte, ascii85.MaxEncodedLen(len(b)))
		return slices.Concat([]byte("<~"), out[:ascii85.Encode(out, b)], []byte("~>"))
	},
	"z85":         func(b []byte) []byte { return write85(b, z85Digits) },
	"base85":      func(b []byte) []byte { return write85(b, base85Digits) },
	"reversed":    func(b []byte) []byte { return []byte(reversed(string(b))) },
	"rot13":       func(b []byte) []byte { return []byte(rot13(string(b))) },
	"rot5":        func(b []byte) []byte { return rotate(b, 5) },
	"rot47":       func(b []byte) []byte { return shifted(b, 47) },
	"rot5 of 94":  func(b []byte) []byte { return shifted(b, 5) },
	"halves":      func(b []byte) []byte { return slices.Concat(every(b, 2), []byte("."), every(b[min(1, len(b)):], 2)) },
	"pairs":       func(b []byte) []byte { return []byte(swapPairs(string(b)+strings.Repeat("=", len(b)%2), 0)) },
	"nibbles":     func(b []byte) []byte { return []byte(swapNibbles(string(b))) },
	"xor 0x5a":    func(b []byte) []byte { return xored(b, 0x5a) },
	"xor 0x83":    func(b []byte) []byte { return xored(b, 0x83) },
	"utf-16le":    func(b []byte) []byte { return wider(b, 2, binary.LittleEndian) },
	"utf-16be":    func(b []byte) []byte { return wider(b, 2, binary.BigEndian) },
	"utf-32":      func(b []byte) []byte { return wider(b, 4, binary.LittleEndian) },
	"utf-8":       latin,
	"percent":     func(b []byte) []byte { return []byte(url.QueryEscape(string(b))) },
	"percent all": func(b []byte) []byte { return []byte(spelled(string(b), "%%%02X")) },
	"twice":       func(b []byte) []byte { return []byte(url.QueryEscape(url.QueryEscape(string(b)))) },
	"html":        func(b []byte) []byte { return []byte(spelled(string(b), "&#%d;")) },
	"\\u":         func(b []byte) []byte { return []byte(spelled(string(b), `\u%04x`)) },
	"\\x":         func(b []byte) []byte { return []byte(spelled(string(b), `\x%02x`)) },
	"octal":       func(b []byte) []byte { return []byte(spelled(string(b), `\%03o`)) },
	"json":        func(b []byte) []byte { out, _ := json.Marshal(map[string]string{"text": string(latin(b))}); return out },
	"in json":     func(b []byte) []byte { return inJSON(inJSON(b)) },
	"quoted":      func(b []byte) []byte { return []byte(spelled(string(b), "=%02X")) },
	"spaced":      func(b []byte) []byte { return []byte(strings.TrimSpace(spelled(string(b), "%c "))) },
	"dashed":      func(b []byte) []byte { return []byte(spelled(string(b), "%c - ")) },
	"listed":      func(b []byte) []byte { return []byte("[" + spelled(string(b), `"%c",`) + `""]`) },
	"hex pairs":   func(b []byte) []byte { return []byte(spelled(string(b), "%02x ")) },
	"hex colons":  func(b []byte) []byte { return []byte(spelled(string(b), "%02X:")) },
	"0x":          func(b []byte) []byte { return []byte(spelled(string(b), "0x%02x, ")) },
	"U+":          func(b []byte) []byte { return []byte(spelled(string(b), "U+%04X ")) },
	"decimal":     func(b []byte) []byte { return []byte("[" + strings.TrimSuffix(spelled(string(b), "%d, "), ", ") + "]") },
	"decimal ,":   func(b []byte) []byte { return []byte(spelled(string(b), "%d,")) },
	"decimal 3":   func(b []byte) []byte { return []byte(spelled(string(b), "%03d")) },
	"decimal run": func(b []byte) []byte { return []byte(spelled(string(b), "%d")) },
	"bits":        func(b []byte) []byte { return []byte(spelled(string(b), "%08b")) },
	"bits spaced": func(b []byte) []byte { return []byte(spelled(string(b), "%08b ")) },
	"zero-width":  func(b []byte) []byte { return unseenBits(b, "\u200b", "\u200c") },
	"inverted":    func(b []byte) []byte { return unseenBits(b, "\u200d", "\u2060") },
	"tags":        func(b []byte) []byte { return []byte(runes(b, 0xe0000)) },
	"selectors":   selectors,
	"blanks":      func(b []byte) []byte { return blankBits(b, 8) },
	"blank lines": blankLines,
	"gzip":        gzipped,
	"zlib":        zlibbed,
	"deflate":     deflated,
	"wrapped":     func(b []byte) []byte { return []byte(strings.Join(cut(string(b), 76), "\n") + "\n") },
}

func write58(b []byte) []byte {
	zeros := len(b) - len(bytes.TrimLeft(b, "\x00"))
	out := []byte(strings.Repeat("1", zeros))
	if zeros == len(b) {
		return out
	}
	text := new(big.Int).SetBytes(b).Text(58)
	for _, c := range []byte(text) {
		out = append(out, base58Digits[strings.IndexByte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV", c)])
	}
	return out
}

func write85(b []byte, digits string) []byte {
	var out []byte
	for len(b) > 0 {
		n := min(4, len(b))
		group := append(bytes.Clone(b[:n]), 0, 0, 0)[:4]
		v := binary.BigEndian.Uint32(group)
		var five [5]byte
		for i := 4; i >= 0; i-- {
			five[i] = digits[v%85]
			v /= 85
		}
		out, b = append(out, five[:n+1]...), b[n:]
	}
	return out
}

func rotate(b []byte, by int) []byte {
	out := bytes.Clone(b)
	for i, c := range b {
		if n := letter(c); n >= 0 {
			out[i] = c - byte(n) + byte((n+by)%26)
		}
	}
	return out
}

// shifted moves each visible character on among the visible ones.
func shifted(b []byte, by int) []byte {
	out := bytes.Clone(b)
	for i, c := range b {
		if visible[c] {
			out[i] = '!' + byte((int(c-'!')+by)%visibleKinds)
		}
	}
	return out
}

func wider(b []byte, size int, order binary.ByteOrder) []byte {
	var out []byte
	for _, c := range b {
		unit := make([]byte, size)
		if size == 2 {
			order.PutUint16(unit, utf16.Encode([]rune{rune(c)})[0])
		} else {
			order.PutUint32(unit, uint32(c))
		}
		out = append(out, unit...)
	}
	return out
}

func runes(b []byte, base rune) string {
	var out strings.Builder
	for _, c := range b {
		out.WriteRune(base + rune(c))
	}
	return out.String()
}

func latin(b []byte) []byte { return []byte(runes(b, 0)) }

func inJSON(b []byte) []byte {
	out, _ := json.Marshal(map[string]any{"n": 1, "text": string(b)})
	return out
}

func selectors(b []byte) []byte {
	var out strings.Builder
	for _, c := range b {
		if c < 16 {
			out.WriteRune(0xfe00 + rune(c))
		} else {
			out.WriteRune(0xe0100 + rune(c) - 16)
		}
	}
	return []byte(out.String())
}

func unseenBits(b []byte, zero, one string) []byte {
	return []byte("All is" + strings.NewReplacer("0", zero, "1", one).Replace(spelled(string(b), "%08b")) + " well.")
}

func blankBits(b []byte, each int) []byte {
	var out strings.Builder
	for _, line := range cut(spelled(string(b), "%08b"), each) {
		out.WriteString("a line" + strings.NewReplacer("0", " ", "1", "\t").Replace(line) + "\n")
	}
	return []byte(out.String())
}

func blankLines(b []byte) []byte {
	return []byte(strings.NewReplacer("0", "a line\n", "1", "a line \n").Replace(spelled(string(b), "%08b")))
}

// oneOf is a set of layers.
func oneOf(names string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.SplitSeq(names, "|") {
		out[name] = true
	}
	return out
}

var (
	// ofWords are the layers in digits of base 64 and below, ofSymbols those in visible characters.
	ofWords   = oneOf("base64|base64url|base32|hex|HEX|decimal 3|bits")
	ofSymbols = oneOf("ascii85|btoa|z85|base85|percent|percent all|twice|\\u|\\x|octal|quoted|base58|rot13|rot5|reversed")
	packs     = oneOf("gzip|zlib|deflate")
	wide      = oneOf("utf-16le|utf-16be|utf-32")
	binaries  = oneOf("nibbles|xor 0x5a|xor 0x83|utf-8|zero-width|inverted|tags|selectors")
	lines     = oneOf("blanks|blank lines")
	// monotonous have few kinds of characters, so that base 85 of them does not look like digits.
	monotonous = oneOf("hex|bits|bits spaced|octal|selectors|tags|0x|HEX|\\u|\\x|U+|html|inverted|zero-width")
)

// covered says of which two layers doc.go says that they are undone. What has no
// meaning, such as tags of bytes that are no characters, is not.
func covered(outer, inner string) bool {
	binary := packs[inner] || wide[inner] || binaries[inner]
	switch outer {
	case "reversed", "pairs", "rot13":
		return ofWords[inner]
	case "xor 0x5a", "xor 0x83", "rot47", "rot5 of 94":
		return oneOf("base64|base64url|hex|HEX|reversed")[inner]
	case "rot5":
		return oneOf("base64|base64url|reversed")[inner]
	case "ascii85", "btoa", "z85", "base85":
		return !monotonous[inner] && inner != "deflate" // a quote before it may be a digit
	case "spaced", "dashed", "listed", "wrapped", "decimal run":
		return ofWords[inner] || ofSymbols[inner]
	case "deflate", "halves":
		return false // alone it says nothing of itself
	case "gzip", "zlib":
		return inner != "deflate"
	case "tags":
		return !binary && !lines[inner]
	case "utf-16le", "utf-16be", "utf-32":
		return !packs[inner] && !wide[inner] // their zero bytes are lost
	case "utf-8":
		return !packs[inner] && inner != "nibbles" // bytes of one and of two
	case "in json":
		return !packs[inner] && inner != "nibbles" && inner != "xor 0x83" // no characters
	case "percent", "twice":
		return !lines[inner] && inner != "xor 0x5a" && inner != "deflate"
	case "nibbles":
		return !packs[inner] && !lines[inner] && !strings.HasPrefix(inner, "xor")
	case "base58", "blank lines":
		return inner != "blank lines" // too long
	}
	return true
}

// seenBy reports whether a decoy is found in what was written of it, as a string of JSON
// that may not be well-formed.
func seenBy(s *Set, id string, b []byte) bool {
	hits, err := s.FindBody(slices.Concat([]byte(`{"`), b, []byte(`"}`)), nil)
	return err == nil && has(hits, id)
}

// Every decoy is found in every layer.
func TestEveryLayer(t *testing.T) {
	s := shared()
	for _, name := range slices.Sorted(maps.Keys(layered)) {
		for _, c := range s.Canaries() {
			if name == "halves" && len(c.Value) < 30 || name == "deflate" || name == "decimal run" && strings.Contains(c.Value, "\n") {
				continue // alone it says nothing of itself; 10 and 100 are not told apart
			}
			if !seenBy(s, c.ID, layered[name]([]byte(c.Value))) {
				t.Errorf("%s in %s is not found", c.ID, name)
			}
		}
	}
}

// Decoys of each alphabet are found in every pair of layers that doc.go promises: one in each
// pair, and all of them where the whole is asked for.
func TestEveryPairOfLayers(t *testing.T) {
	s := shared()
	pairs := 0
	ids := []string{"aws-secret", "env-github", "netrc-password", "dotenv-session"}
	for _, outer := range slices.Sorted(maps.Keys(layered)) {
		for _, inner := range slices.Sorted(maps.Keys(layered)) {
			if !covered(outer, inner) {
				continue
			}
			some := ids[pairs%len(ids):][:1]
			if scale.Deep() {
				some = ids
			}
			pairs++
			for _, id := range some {
				if !seenBy(s, id, layered[outer](layered[inner]([]byte(byID(t, s, id).Value)))) {
					t.Errorf("%s in %s in %s is not found", id, inner, outer)
				}
			}
		}
	}
	if all := len(layered) * len(layered); pairs < all*2/3 {
		t.Errorf("only %d of %d pairs are covered", pairs, all)
	}
}

// A decoy is found in up to four layers, whatever stands around it.
func TestDeepLayers(t *testing.T) {
	s := shared()
	deep := []string{"base64", "base64url", "hex", "base32", "percent all", "gzip", "zlib", "utf-16le", "decimal", "hex pairs", "quoted"}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		b := []byte(rapid.StringMatching(`[ a-z]{0,9}`).Draw(t, "before") + c.Value + rapid.StringMatching(`[ a-z]{0,9}`).Draw(t, "after"))
		var names []string
		for range rapid.IntRange(1, maxDepth).Draw(t, "layers") {
			name := rapid.SampledFrom(deep).Draw(t, "layer")
			if len(names) > 0 && (packs[names[len(names)-1]] || wide[names[len(names)-1]]) && (wide[name] || packs[name]) || len(b) > 8<<10 {
				continue
			}
			names, b = append(names, name), layered[name](b)
		}
		if !seenBy(s, c.ID, b) {
			t.Fatalf("%s in %v is not found", c.ID, names)
		}
	})
}

// The layers are named, the outermost first.
func TestLayersAreNamed(t *testing.T) {
	s := shared()
	c := byID(t, s, "aws-secret")
	for want, b := range map[string][]byte{
		"base64+base64":               layered["base64"](layered["base64"]([]byte(c.Value))),
		"xor 0x5a":                    layered["xor 0x5a"]([]byte(c.Value)),
		"base64+xor 0x83":             layered["base64"](layered["xor 0x83"]([]byte(c.Value))),
		"rot5":                        layered["rot5"]([]byte(c.Value)),
		"base58":                      layered["base58"]([]byte(c.Value)),
		"z85+hex":                     layered["z85"](layered["hex"]([]byte(c.Value))),
		"base64+gzip":                 layered["base64"](layered["gzip"]([]byte(c.Value))),
		"hex+deflate":                 layered["hex"](layered["deflate"]([]byte(c.Value))),
		"base64+utf-16":               layered["base64"](layered["utf-16le"]([]byte(c.Value))),
		"decimal codes":               layered["decimal"]([]byte(c.Value)),
		"zero-width":                  layered["zero-width"]([]byte(c.Value)),
		"trailing blanks":             layered["blanks"]([]byte(c.Value)),
		"bits":                        layered["bits"]([]byte(c.Value)),
		"nibbles swapped":             layered["nibbles"]([]byte(c.Value)),
		"base64+base64+base64+base64": layered["base64"](layered["base64"](layered["base64"](layered["base64"]([]byte(c.Value))))),
	} {
		if hits := s.Find(b); !slices.ContainsFunc(hits, func(h Hit) bool { return h.ID == c.ID && h.Encoding == want }) {
			t.Errorf("%s: %v", want, hits)
		}
	}
}

// Whatever the pieces in which a stream comes, the finds below layers are those of
// the whole, and behind any amount of noise.
func TestAnySplitGivesTheSameLayers(t *testing.T) {
	s := shared()
	names := slices.Sorted(maps.Keys(layered))
	rapid.Check(t, func(t *rapid.T) {
		c := drawCanary(t, s)
		name := rapid.SampledFrom(names).Draw(t, "layer")
		inner := rapid.SampledFrom(names).Draw(t, "inner")
		filler := bytes.Repeat([]byte("some words, "), rapid.IntRange(0, 9000).Draw(t, "words"))
		text := slices.Concat(filler, layered[name](layered[inner]([]byte(c.Value))), filler)
		want := s.Find(text)
		sc := s.Scanner()
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 60_000)).Draw(t, "write")
			_, _ = sc.Write(rest[:n])
			if rest = rest[n:]; len(rest)%7 == 0 {
				_ = sc.Hits()
			}
		}
		if got := sc.Hits(); !slices.Equal(got, want) {
			t.Fatalf("split: %v\nwhole: %v", got, want)
		}
	})
}

// After redaction nothing is found below any layer.
func TestRedactLayers(t *testing.T) {
	s := shared()
	for name, write := range layered {
		for _, id := range []string{"aws-secret", "env-github", "netrc-password", "ssh-key-ed25519"} {
			text := "before <" + string(write([]byte(byID(t, s, id).Value))) + "> after"
			got := s.Redact(text)
			if hits := s.Find([]byte(got)); hits != nil || !strings.HasPrefix(got, "before ") && name != "blanks" {
				t.Errorf("%s in %s: %v in %q", id, name, hits, got)
			}
		}
	}
}

// What honest programs send holds no decoy: digests, pictures, minified code, ciphertext.
func TestHonestTextsGiveNothing(t *testing.T) {
	s := shared()
	texts := map[string][]byte{"noise": noise(1<<20, 5)}
	for _, name := range []string{"../go.sum", "../README.md", "../audit/lang/javascript/testdata/sample/bundle.min.js"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = b
	}
	raw := noise(256<<10, 6)
	texts["picture"] = []byte("data:image/png;base64," + base64.StdEncoding.EncodeToString(raw))
	for ; len(raw) >= 32; raw = raw[32:] {
		texts["digests"] = fmt.Appendf(texts["digests"], "%x  file-%d.txt\n", raw[:32], len(raw))
		texts["numbers"] = fmt.Appendf(texts["numbers"], "%d, ", raw[:32])
		texts["identifiers"] = fmt.Appendf(texts["identifiers"], "%x-%x-%x-%x-%x\n", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:16])
	}
	for name, text := range texts {
		if hits, err := s.FindBody(text, nil); hits != nil || err != nil {
			t.Errorf("%s: %v, %v", name, hits, err)
		}
	}
}

// Noise in any layer holds no decoy.
func TestNoiseInLayersGivesNothing(t *testing.T) {
	s, other := shared(), newSet(t, 44)
	for name, write := range layered {
		texts := [][]byte{noise(20_000, 9)}
		for _, c := range other.Canaries() {
			texts = append(texts, []byte(c.Value))
		}
		for _, b := range texts {
			if hits := s.Find(write(b)); hits != nil {
				t.Errorf("%s: %v", name, hits)
			}
		}
	}
}
