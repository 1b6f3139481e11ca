package audit

import "strings"

// window is a part of a text, in bytes.
type window struct{ from, to int }

// narrowed are the rules of gitleaks whose words stand in most sources, with what finds
// the places where one can match: their expressions are run there alone. The test
// compares each with its rule's expression, so that another version of it is noticed.
var narrowed = map[string]func(src string) []window{
	"generic-api-key":     assignments,
	"vault-service-token": vaultTokens,
	"jwt":                 webTokens,
}

// secretWords are words before a generic key: it has one of them.
var secretWords = []string{"access", "auth", "api", "credential", "creds", "key", "passwd", "password", "secret", "token"}

// beginsWord has a bit for the first two letters of each secret word, five bits of each.
var beginsWord = func() (out [16]uint64) {
	for _, w := range secretWords {
		at := pair(w[0], w[1])
		out[at>>6] |= 1 << (at & 63)
	}
	return out
}()

func pair(a, b byte) uint16 { return uint16(a&0x1F)<<5 | uint16(b&0x1F) }

// byFirst are the secret words by their first letter.
var byFirst = func() (out [256][]string) {
	for _, w := range secretWords {
		out[w[0]] = append(out[w[0]], w)
	}
	return out
}()

const (
	isToken    = 1 << iota // \w . - + / =
	isPlain                // [a-zA-Z_.-], of which no secret consists alone
	isBetween              // what stands between the word and the sign: [ \t\w.-'"] and blanks
	isSignByte             // = > : | ? ,
	isQuote                // ` ' " = and blanks, before the value
	isAlnum
	isOpening // begins a text or a list: quotes and brackets
)

var byteKinds = func() (out [256]byte) {
	add := func(list string, kind byte) {
		for i := range len(list) {
			out[list[i]] |= kind
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	add(letters+"0123456789", isToken|isBetween|isAlnum)
	add("_.-", isToken|isBetween)
	add("+/=", isToken)
	add(letters+"_.-", isPlain)
	add(" \t\n\r\f\v'\"", isBetween|isQuote)
	add("`=", isQuote)
	add("\"'`[(", isOpening)
	add("=>:|?,", isSignByte)
	return out
}()

// assignments are the places where a value of ten bytes or more, that is no plain word, is
// given to a name with a secret word: key = "…".
func assignments(src string) []window {
	var out []window
	for i := range max(len(src)-1, 0) {
		if at := pair(src[i], src[i+1]); beginsWord[at>>6]&(1<<(at&63)) == 0 {
			continue
		}
		for _, w := range byFirst[src[i]|0x20] {
			if len(src)-i < len(w) || !strings.EqualFold(src[i:i+len(w)], w) {
				continue
			}
			if end := valueAfter(src, i+len(w)); end > 0 {
				out = appendWindow(out, src, i, end)
			}
			break
		}
	}
	return out
}

// valueAfter is the end of the value that a name is given whose secret word ends at i, 0 for none.
func valueAfter(src string, i int) int {
	const (
		name   = 23 // bytes between the word and the sign
		before = 9  // bytes of the sign and of quotes
		least  = 9  // bytes of a value
	)
	for j := i; j < len(src) && j-i <= name; j++ {
		if byteKinds[src[j]]&isSignByte != 0 {
			from := j + 1
			for from < len(src) && from-j <= before && byteKinds[src[from]]&(isSignByte|isQuote) != 0 {
				from++
			}
			to, odd := from, false
			for to < len(src) && byteKinds[src[to]]&isToken != 0 {
				odd = odd || byteKinds[src[to]]&isPlain == 0
				to++
			}
			if odd && to-from >= least && endsValue(src, to) {
				return to
			}
		}
		if byteKinds[src[j]]&isBetween == 0 {
			return 0
		}
	}
	return 0
}

// endsValue reports whether a value may end at i.
func endsValue(src string, i int) bool {
	return i == len(src) || strings.IndexByte("`'\"; \t\n\r\f\\", src[i]) >= 0
}

// vaultTokens are the places of "hvs." and "s." with as many characters behind them as a token has.
func vaultTokens(src string) []window {
	var out []window
	for i := 0; ; {
		n := strings.Index(src[i:], "s.")
		if n < 0 {
			return out
		}
		i += n + 2
		end := i
		for end < len(src) && (byteKinds[src[end]]&isAlnum != 0 || src[end] == '_' || src[end] == '-') {
			end++
		}
		if end-i >= 24 {
			out = appendWindow(out, src, i-4, end)
		}
	}
}

// webTokens are the places of "ey" with as many characters behind it as a header has.
func webTokens(src string) []window {
	var out []window
	for i := 0; ; {
		n := strings.Index(src[i:], "ey")
		if n < 0 {
			return out
		}
		i += n + 2
		end := i
		for end < len(src) && byteKinds[src[end]]&isAlnum != 0 {
			end++
		}
		if end-i < 17 || end == len(src) || src[end] != '.' {
			continue
		}
		from := i - 2
		for end < len(src) && (byteKinds[src[end]]&isToken != 0 || src[end] == '\\') {
			end++
		}
		out = appendWindow(out, src, from, end)
		i = end
	}
}

// appendWindow adds a place with its line, as far as that is not long. Places that meet are one.
func appendWindow(out []window, src string, from, to int) []window {
	const reach = 256
	low, high := max(from-reach, 0), min(to+reach, len(src))
	if n := strings.LastIndexByte(src[low:max(from, low)], '\n'); n >= 0 {
		low += n + 1
	}
	if n := strings.IndexByte(src[to:high], '\n'); n >= 0 {
		high = to + n + 1
	}
	if n := len(out); n > 0 && out[n-1].to >= low {
		out[n-1].to = max(out[n-1].to, high)
		return out
	}
	return append(out, window{low, high})
}
