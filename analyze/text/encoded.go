package text

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The bounds of what is decoded: the shortest run of letters and digits that may hide
// an order, what is decoded of one text, and how deep one encoding lies in another.
const (
	minRun     = 32
	maxDecoded = 1 << 20
	maxLayers  = 3
)

// smuggled finds orders in what a model decodes and a reader does not: tag characters,
// runs of base64 or hexadecimal digits that come to text, and words with percent escapes.
func smuggled(s string) []Hit { return smuggledIn(s, maxLayers) }

func smuggledIn(s string, layers int) []Hit {
	var out []Hit
	if said, from, end := decodeTags(s); said != "" && layers > 0 {
		for _, h := range ordersIn(said, layers-1) {
			out = append(out, Hit{Rule: Poisoning, Offset: from, End: end, Text: Printable(InTags+": "+h.Text, 120), Decoded: true})
			break
		}
	}
	return append(append(out, encodedOrders(s, layers)...), escapedOrders(s, layers)...)
}

// minEscapes is how many percent escapes in a word may hide the blanks of an order.
const minEscapes = 3

// isEscaped reports whether a text has so many percent escapes.
func isEscaped[T string | []byte](s T) bool {
	n := 0
	for i := 0; i < len(s) && n < minEscapes; i++ {
		if EscapeAt(s, i) {
			n++
		}
	}
	return n >= minEscapes
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// escapedOrders finds orders in the words of a text that have percent escapes, as addresses
// and pictures in them do, one for each word.
func escapedOrders(s string, layers int) []Hit {
	if layers == 0 || !isEscaped(s) {
		return nil
	}
	var out []Hit
	left := maxDecoded
	for from := 0; from < len(s) && left > 0 && len(out) < MaxHits; {
		end := from + strings.IndexAny(s[from:], " \t\r\n")
		if end < from {
			end = len(s)
		}
		word := s[from:min(end, from+left)]
		left -= len(word)
		if plain := Unescaped(word); isEscaped(word) && isText([]byte(plain)) {
			for _, h := range ordersIn(plain, layers-1) {
				out = append(out, Hit{Rule: Poisoning, Offset: from, End: end, Text: Printable("in percent escapes: "+h.Text, 120), Decoded: true})
				break
			}
		}
		from = end + 1
	}
	return out
}

// EscapeAt reports whether a percent escape (RFC 3986, section 2.1) begins at an index.
func EscapeAt[T string | []byte](s T, i int) bool {
	return i+2 < len(s) && s[i] == '%' && isHex(s[i+1]) && isHex(s[i+2])
}

// Unescaped is a text with the bytes that its percent escapes stand for. All else stays as it is.
func Unescaped[T string | []byte](s T) T {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if !EscapeAt(s, i) {
			out = append(out, s[i])
			continue
		}
		c, _ := hex.DecodeString(string(s[i+1 : i+3])) // EscapeAt has looked
		out = append(out, c...)
		i += 2
	}
	return T(out)
}

// InTags is how the Text of a hit begins that tag characters spell.
const InTags = "in tag characters"

// ordersIn finds the orders of a text that was decoded.
func ordersIn(s string, layers int) []Hit {
	words := wordsIn(s)
	out := append(poisoned(s, words), foreignOrders(s, words)...)
	out = append(out, ordered(s)...)
	out = append(out, foldedOrders(s, out)...)
	return append(out, smuggledIn(s, layers)...)
}

// encodedOrders finds orders in the runs of a text that decode to text, one for each run.
func encodedOrders(s string, layers int) []Hit {
	if layers == 0 {
		return nil
	}
	var out []Hit
	left := maxDecoded
	for from := 0; from < len(s) && left > 0 && len(out) < MaxHits; {
		end := runEnd(s, from)
		if end-from < minRun {
			from = max(end, from+1)
			continue
		}
		run := s[from:min(end, from+left)]
		left -= len(run)
		how, plain := decodeRun(run)
		if how != "" {
			for _, h := range ordersIn(plain, layers-1) {
				out = append(out, Hit{Rule: Poisoning, Offset: from, End: end, Text: Printable("in "+how+": "+h.Text, 120), Decoded: true})
				break
			}
		}
		from = end
	}
	return out
}

// runEnd is the end of the run of encoded characters at i: lines of it are one run.
func runEnd(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case isEncoded(c):
		case (c == '\n' || c == '\r') && i > 0 && (isEncoded(s[i-1]) || s[i-1] == '\r') && i+1 < len(s) && (isEncoded(s[i+1]) || s[i+1] == '\n'):
		default:
			return i
		}
		i++
	}
	return i
}

func isEncoded(c byte) bool { return encodes[c] }

var encodes = func() (out [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_") {
		out[c] = true
	}
	return out
}()

var oneLine = strings.NewReplacer("\n", "", "\r", "")

// decodeRun is the text that a run encodes, and how; how is "" where it is none.
func decodeRun(run string) (how, plain string) {
	run = oneLine.Replace(run)
	if b, err := hex.DecodeString(run[:len(run)&^1]); err == nil {
		if b = narrow(b); isText(b) {
			return "hexadecimal", string(b)
		}
	}
	body := strings.TrimRight(run, "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		b, err := e.DecodeString(body[:len(body)-len(body)%4])
		if err != nil {
			continue
		}
		if whole, err := e.DecodeString(body); err == nil {
			b = whole
		}
		if b = narrow(b); isText(b) {
			return "base64", string(b)
		}
	}
	return "", ""
}

// narrow is UTF-16 as UTF-8, and anything else as it is: by its mark (RFC 2781, section 3.2), or
// since most of its characters are of Latin script and have a zero byte.
func narrow(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	var order binary.ByteOrder
	zeros := [2]int{}
	for i, c := range b {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(b) / 2; {
	case b[0] == 0xff && b[1] == 0xfe, zeros[1] > half*3/4 && zeros[0] == 0:
		order = binary.LittleEndian
	case b[0] == 0xfe && b[1] == 0xff, zeros[0] > half*3/4 && zeros[1] == 0:
		order = binary.BigEndian
	default:
		return b
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	return []byte(strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff"))
}

// isText reports whether decoded bytes are what somebody may read. The last character
// may have been cut.
func isText(b []byte) bool {
	odd, n := 0, 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			if !utf8.FullRune(b) {
				break
			}
			return false
		}
		if n++; !unicode.IsPrint(r) && !unicode.IsSpace(r) && !isIgnorable(r) && !isTag(r) {
			odd++
		}
		b = b[size:]
	}
	return n > 0 && odd*20 <= n
}

// decodeTags returns the ASCII that tag characters spell, and where they stand. The
// sequences of flags are none.
func decodeTags(s string) (said string, from, end int) {
	from = strings.IndexFunc(s, isTag)
	if from < 0 {
		return "", 0, 0
	}
	var b strings.Builder
	for i, r := range s {
		if r >= 0xE0020 && r < 0xE007F {
			b.WriteByte(byte(r - 0xE0000))
			end = i + utf8.RuneLen(r)
		}
	}
	return b.String(), from, end
}
