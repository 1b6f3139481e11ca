package classifier

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// buckets is how many weights n-grams of characters have, and those of words as many: n-grams
// that fall into the same bucket share its weight.
const buckets = 1 << 16

// size is how many weights a model has. The signs come last.
const size = 2*buckets + 16

// feature is one of a text's properties: the index of its weight, and its value.
type feature struct {
	index uint32
	value float32
}

// Addresses are told apart by their kind alone: which host an attacker uses says nothing of the next one.
var (
	mailbox  = regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	link     = regexp.MustCompile(`\b[a-z][a-z0-9+.-]{1,10}://[^\s"'<>)\]}|\x60，。、」）]+`)
	hostname = regexp.MustCompile(`\b(?:[\w-]+\.)+(?:com|org|net|io|dev|ai|app|cloud|example|test|de|fr|es|it|nl|pl|ru|jp|cn|kr|uk|eu)\b`)
)

// sign is a property of a text that no language words differently. One of needs, in lower case, stands in each match.
type sign struct {
	needs []string
	match *regexp.Regexp
}

var signs = []sign{
	{[]string{"@"}, mailbox},
	{[]string{"://"}, link},
	{[]string{"/etc/", ".env", ".ssh", "id_", ".aws", ".npmrc", ".pypirc", ".netrc", ".kube", "kubeconfig", ".git-c", "wallet", ".gnupg", "known_hosts", "_history"},
		regexp.MustCompile(`(?:/etc/(?:passwd|shadow)|\.env\b|\.ssh\b|id_(?:rsa|ed25519|ecdsa)|\.aws\b|\.npmrc|\.pypirc|\.netrc|\.kube\b|kubeconfig|\.git-credentials|wallet\.dat|\.gnupg|known_hosts|\.(?:bash|zsh)_history)`)},
	{[]string{"`"}, regexp.MustCompile("`[^`\n]+`")},
	{[]string{"_key", "_token", "_secret", "_pass", "_url", "_cred"}, regexp.MustCompile(`\b[A-Z][A-Z0-9]+_(?:[A-Z0-9]+_)*(?:KEY|TOKEN|SECRET|PASSWORD|PASS|URL|CREDENTIALS)\b`)},
	{[]string{"curl", "wget"}, regexp.MustCompile(`\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z)?sh\b`)},
	{[]string{"base64", "rot13"}, regexp.MustCompile(`(?i)\bbase64\b|\brot13\b`)},
	{[]string{"?", "&"}, regexp.MustCompile(`[?&]\w+=(?:…|\.\.\.|\{|<|\s|$)`)},
	{[]string{"<", "["}, regexp.MustCompile(`<\s*/?\s*[A-Za-z]+\s*>|\[\s*/?\s*[A-Z]+\s*\]`)},
	{[]string{"cc"}, regexp.MustCompile(`(?i)\bb?cc\b`)},
}

// signValue is a sign's value beside the n-grams, the squares of which add up to one for each kind.
const signValue = 0.3

// skip is how far apart the two words of a pair stand in a sentence, at most.
const skip = 4

// part is the n-grams of a sentence, by their buckets, and its signs as bits.
type part struct {
	chars, words []uint32
	signs        uint32
}

// partOf looks at a sentence.
func partOf(s string) (p part) {
	low := strings.ToLower(s)
	for i, sign := range signs {
		for _, need := range sign.needs {
			if strings.Contains(low, need) {
				if sign.match.MatchString(s) {
					p.signs |= 1 << i
				}
				break
			}
		}
	}
	var last [skip]uint32 // the words before, the newest first, as hashes
	n := 0
	for word := range strings.FieldsFuncSeq(normalized(low), func(r rune) bool { return !isLetter(r) }) {
		p.chars = appendNGrams(p.chars, word)
		h := hash(offset, word)
		p.words = append(p.words, bucket(h))
		for k := range min(n, skip) {
			p.words = append(p.words, bucket(hash(last[k]*prime^' ', word)))
		}
		copy(last[1:], last[:])
		last[0] = h
		n++
	}
	return p
}

// isLetter reports whether a character is part of a word.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// normalized is a text in lower case, its addresses and numbers replaced by what they are.
func normalized(low string) string {
	if strings.Contains(low, "@") {
		low = mailbox.ReplaceAllString(low, " mailbox0 ")
	}
	if strings.Contains(low, "://") {
		low = link.ReplaceAllString(low, " link0 ")
	}
	if strings.Contains(low, ".") {
		low = hostname.ReplaceAllString(low, " host0 ")
	}
	var b strings.Builder
	wasDigit := false
	for i := range len(low) {
		isDigit := low[i] >= '0' && low[i] <= '9'
		switch {
		case !isDigit:
			b.WriteByte(low[i])
		case !wasDigit:
			b.WriteByte('0')
		}
		wasDigit = isDigit
	}
	return b.String()
}

// appendNGrams adds the buckets of a word's n-grams, its begin and end marked: of 3 to 5 letters,
// and of 2 to 4 where no blanks part the words.
func appendNGrams(out []uint32, word string) []uint32 {
	least, most := 3, 5
	if r, _ := utf8.DecodeRuneInString(word); unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
		least, most = 2, 4
	}
	marked := " " + word + " "
	for i := range marked {
		h, n := uint32(offset), 0
		for k, r := range marked[i:] {
			h = hash(h, marked[i+k:i+k+utf8.RuneLen(r)])
			if n++; n >= least {
				out = append(out, bucket(h))
			}
			if n == most {
				break
			}
		}
	}
	return out
}

// FNV-1a in 32 bits.
const (
	offset = 2166136261
	prime  = 16777619
)

// hash goes on from a hash with a text.
func hash(h uint32, s string) uint32 {
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * prime
	}
	return h
}

// bucket is the bucket of a hash.
func bucket(h uint32) uint32 { return (h>>16 ^ h) % buckets }

// bag tells n-grams that a text has more than once.
type bag struct {
	seen  [2 * buckets]uint32
	round uint32
}

// features are those of a text of some sentences, each index once.
func (b *bag) features(out []feature, parts []part) []feature {
	b.round++
	out = out[:0]
	all := uint32(0)
	for _, p := range parts {
		all |= p.signs
	}
	for i := range signs {
		if all&(1<<i) != 0 {
			out = append(out, feature{uint32(2*buckets + i), signValue})
		}
	}
	for kind := range uint32(2) {
		from := len(out)
		for _, p := range parts {
			list := p.chars
			if kind == 1 {
				list = p.words
			}
			for _, i := range list {
				if i += kind * buckets; b.seen[i] != b.round {
					b.seen[i] = b.round
					out = append(out, feature{index: i})
				}
			}
		}
		value := float32(1 / math.Sqrt(float64(max(len(out)-from, 1))))
		for k := range out[from:] {
			out[from+k].value = value
		}
	}
	return out
}
