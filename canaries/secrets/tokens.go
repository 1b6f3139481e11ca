package secrets

import (
	"bytes"
	"slices"
)

// token is how an issuer's values begin, and what follows.
type token struct {
	prefix string
	// least is how many characters of a token follow at least.
	least int
	// look says how that looks where it was drawn at random.
	look look
}

// look tells values from the identifiers that begin like one.
type look int

const (
	// mixed has two of capital letters, small letters and digits.
	mixed look = iota
	// dense has all three, or two in one word: for a prefix that identifiers have too.
	dense
	// capital begins with capital letters and digits only.
	capital
	// dotted is three parts of base64: the base64 of any JSON object begins like a JWT.
	dotted
)

// tokens are the values that are known by their beginning: those whose issuers give
// them one so that scanners find them.
var tokens = []token{
	{"AKIA", 16, capital}, {"ASIA", 16, capital}, {"ABIA", 16, capital}, {"ACCA", 16, capital}, {"ABSK", 40, dense},
	{"ghp_", 30, mixed}, {"gho_", 30, mixed}, {"ghu_", 30, mixed}, {"ghs_", 30, mixed}, {"ghr_", 30, mixed}, {"github_pat_", 30, mixed},
	{"glpat-", 20, mixed}, {"gldt-", 20, dense}, {"glrt-", 20, dense}, {"glptt-", 20, mixed}, {"glcbt-", 20, mixed}, {"glsoat-", 20, mixed}, {"gloas-", 40, mixed}, {"glagent-", 40, mixed}, {"GR1348941", 20, mixed},
	{"xoxb-", 20, mixed}, {"xoxp-", 20, mixed}, {"xoxa-", 20, mixed}, {"xoxr-", 20, mixed}, {"xoxs-", 20, mixed}, {"xoxe-", 20, mixed}, {"xoxe.", 20, mixed}, {"xoxc-", 20, mixed}, {"xoxd-", 20, mixed}, {"xapp-", 20, mixed},
	{"sk-ant-", 30, mixed}, {"sk-proj-", 30, mixed}, {"sk-svcacct-", 30, mixed}, {"sk-admin-", 30, mixed}, {"sk-or-v1-", 30, mixed}, {"sk-", 40, dense}, {"sk_live_", 16, mixed}, {"sk_test_", 16, mixed}, {"rk_live_", 16, mixed}, {"rk_test_", 16, mixed}, {"whsec_", 24, mixed},
	{"AIza", 35, dense}, {"GOCSPX-", 20, mixed}, {"ya29.", 30, mixed}, {"1//0", 30, dense},
	{"npm_", 36, dense}, {"pypi-", 60, dense}, {"dckr_pat_", 20, mixed}, {"dckr_oat_", 20, mixed}, {"rubygems_", 40, mixed}, {"CLOJARS_", 60, mixed}, {"cio", 32, dense},
	{"hf_", 30, dense}, {"api_org_", 30, mixed}, {"gsk_", 40, mixed}, {"xai-", 60, dense}, {"pplx-", 40, mixed}, {"r8_", 36, dense}, {"nvapi-", 50, mixed},
	{"SG.", 60, dense}, {"shpat_", 30, mixed}, {"shpca_", 30, mixed}, {"shppa_", 30, mixed}, {"shpss_", 30, mixed}, {"dop_v1_", 60, mixed}, {"doo_v1_", 60, mixed}, {"dor_v1_", 60, mixed},
	{"lin_api_", 40, mixed}, {"pscale_tkn_", 30, mixed}, {"pscale_pw_", 30, mixed}, {"pscale_oauth_", 30, mixed}, {"PMAK-", 50, mixed}, {"pul-", 40, mixed}, {"dt0c01.", 60, mixed}, {"sq0csp-", 40, mixed}, {"sq0atp-", 20, mixed},
	{"hvs.", 24, mixed}, {"hvb.", 100, mixed}, {"glc_", 40, mixed}, {"glsa_", 30, mixed}, {"ops_ey", 100, mixed}, {"ATATT3", 100, mixed}, {"ATCTT3", 100, mixed}, {"FLWSECK", 20, mixed}, {"LTAI", 16, dense},
	{"tskey-", 20, dense}, {"NRAK-", 20, mixed}, {"sgp_", 40, mixed}, {"sntrys_", 60, mixed}, {"sntryu_", 60, mixed}, {"sbp_", 40, mixed}, {"sb_secret_", 20, mixed}, {"ntn_", 40, dense}, {"figd_", 30, mixed}, {"FlyV1", 60, mixed}, {"fm2_", 60, dense}, {"HRKU-", 40, mixed}, {"dapi", 32, mixed}, {"CCIPAT_", 40, mixed},
	{"AGE-SECRET-KEY-1", 50, mixed}, {"AGE-PLUGIN-", 50, mixed}, {"eyJ", 60, dotted}, {"EAAC", 100, dense}, {"IQoJ", 100, dense}, {"rpa_", 40, mixed}, {"vcp_", 40, dense}, {"nfp_", 36, dense},
}

// longest bounds a token, except those that are texts of their own.
const longest = 4096

// starts tells by two bytes whether a token may begin there, and index which.
var (
	starts [1 << 16]bool
	index  = map[[2]byte][]token{}
)

func init() {
	for _, t := range tokens {
		pair := [2]byte{t.prefix[0], t.prefix[1]}
		starts[uint16(pair[0])<<8|uint16(pair[1])] = true
		index[pair] = append(index[pair], t)
	}
}

// span is a piece of a text, [from, to).
type span struct{ from, to int }

// findTokens finds the tokens of a text, and the private keys in it.
func findTokens(text []byte, inCode bool) []span {
	var out []span
	for i := 0; i+1 < len(text); i++ {
		if !starts[uint16(text[i])<<8|uint16(text[i+1])] || i > 0 && isWord(text[i-1]) && !escaped(text, i) {
			continue
		}
		for _, t := range index[[2]byte{text[i], text[i+1]}] {
			if s, ok := t.at(text, i); ok {
				out = append(out, s)
				i = s.to - 1
				break
			}
		}
	}
	return append(out, findKeys(text, inCode)...)
}

// escaped says that the letter before i belongs to an escape, as in "\nAKIA…".
func escaped(text []byte, i int) bool {
	return i > 1 && text[i-2] == '\\' && bytes.IndexByte([]byte("nrt"), text[i-1]) >= 0
}

// at is the token at an offset where its prefix may stand.
func (t token) at(text []byte, i int) (span, bool) {
	if !bytes.HasPrefix(text[i:], []byte(t.prefix)) {
		return span{}, false
	}
	from := i + len(t.prefix)
	to := from
	for to < len(text) && to-from < longest && isToken(text[to]) {
		to++
	}
	return span{i, to}, to-from >= t.least && t.look.of(text[from:to], t.least)
}

// of reports whether what follows a prefix, at least so many characters, looks like that.
func (l look) of(rest []byte, least int) bool {
	digit, lower, upper, words := 0, 0, 0, 1
	for _, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			digit = 1
		case c >= 'a' && c <= 'z':
			lower = 1
		case c >= 'A' && c <= 'Z':
			upper = 1
		default:
			words++
		}
	}
	switch l {
	case capital:
		return bytes.IndexFunc(rest[:least], func(c rune) bool { return (c < 'A' || c > 'Z') && (c < '0' || c > '9') }) < 0
	case dense:
		return digit+lower+upper == 3 || digit+lower+upper == 2 && words == 1
	case dotted:
		return bytes.Count(rest, []byte(".")) == 2
	}
	return digit+lower+upper >= 2
}

// isWord says that a value which follows the character would be the rest of a word.
func isWord(c byte) bool { return isToken(c) && c != '=' && c != '/' && c != '.' && c != '-' }

func isToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || c == '+' || c == '/' || c == '='
}

// maxKey bounds a private key in text.
const maxKey = 64 << 10

const (
	// leastLine is the shortest line of a key's body except the last: PEM has 64
	// characters a line (RFC 7468 section 2), who breaks lines anew may have fewer.
	leastLine = 8
	// longLine is longer than names are.
	longLine = 40
	// leastKey is the shortest body: that of Ed25519 in PKCS #8.
	leastKey = 60
)

// keyBody is the base64 at the beginning of a text that follows a key's header, with the
// blanks, quotes, signs of concatenation and escapes among it. ok is false where there is
// none: programs name the header, and go on with code.
func keyBody(text []byte) (body span, ok bool) {
	body.from = -1
	total, digits, longestLine := 0, 0, 0
	for i := 0; i < len(text); {
		to := i
		for to < len(text) && isBase64(text[to]) {
			to++
		}
		switch n := to - i; {
		case n == 0 && isAround(text[i]):
			if i++; text[i-1] == '\\' && i < len(text) {
				i++
			}
			continue
		case n >= leastLine, n > 0 && body.from >= 0 && onlyAround(text[to:]):
			if body.from < 0 {
				body.from = i
			}
			for _, c := range text[i:to] {
				if c >= '0' && c <= '9' {
					digits++
				}
			}
			total, body.to, i = total+n, to, to
			longestLine = max(longestLine, n)
			continue
		case body.from < 0 && (isArmour(text[i:]) || isNumber(text[i:to])):
			line := bytes.IndexByte(text[i:], '\n')
			if line < 0 {
				return body, false
			}
			i += line + 1
			continue
		case n > 0 && len(bytes.Trim(text[i:to], "+/=")) == 0:
			i = to
			continue
		}
		break
	}
	// A list of names has short ones, and few digits; of 64 characters at random ten are digits.
	return body, total >= leastKey && (longestLine >= longLine || digits*40 >= total)
}

func isBase64(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '/' || c == '='
}

// isAround reports whether a character may stand among the lines of a key in a text or a program.
func isAround(c byte) bool { return bytes.IndexByte([]byte(" \t\r\n-\\\"'`,;:.|>#*%"), c) >= 0 }

func onlyAround(text []byte) bool {
	return len(bytes.TrimLeft(text, " \t\r\n-\\\"'`,;:.|>#*()[]%+nr")) == 0
}

// isNumber reports whether a text is a count of lines, as PuTTY has it.
func isNumber(text []byte) bool { return len(text) > 0 && len(bytes.Trim(text, "0123456789")) == 0 }

// armour are the headers that may stand before a key's body (RFC 1421, RFC 9580).
var armour = []string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "MessageID:"}

func isArmour(text []byte) bool {
	return slices.ContainsFunc(armour, func(a string) bool { return bytes.HasPrefix(text, []byte(a)) })
}

// HasKey reports whether a private key stands in a text: a header with a body.
func HasKey(text []byte) bool { return len(findKeys(text, true)) > 0 }

// findKeys finds private keys in PEM, OpenSSH's, OpenPGP's and PuTTY's form. In code the
// body has to look like one; elsewhere all up to the footer is the body.
func findKeys(text []byte, inCode bool) []span {
	var out []span
	for _, form := range []struct{ begin, what, end string }{
		{"-----BEGIN ", "PRIVATE KEY", "-----END "}, {"---- BEGIN ", "PRIVATE KEY", "---- END "}, {"PuTTY-User-Key-File-", "Private-Lines:", "Private-MAC:"},
	} {
		for at := 0; ; {
			n := bytes.Index(text[at:], []byte(form.begin))
			if n < 0 {
				break
			}
			from := at + n
			at = from + len(form.begin)
			head := min(at+64, len(text))
			if form.begin[0] == 'P' {
				head = min(at+maxKey, len(text))
			}
			k := bytes.Index(text[at:head], []byte(form.what))
			if k < 0 {
				continue
			}
			body := at + k + len(form.what)
			to := min(body+maxKey, len(text))
			if e := bytes.Index(text[body:to], []byte(form.end)); e >= 0 {
				to = body + e
			}
			if !inCode {
				out = append(out, span{body, to})
				at = to
				continue
			}
			if b, ok := keyBody(text[body:to]); ok {
				out = append(out, span{body + b.from, body + b.to})
				at = body + b.to
			}
		}
	}
	return out
}
