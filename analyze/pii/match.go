package pii

import (
	"bytes"
)

// Classes of bytes.
const (
	digit = 1 << iota
	upper
	lower
	b64  // + / =
	dash // - _
	dot
)

// alnum and the others are unions of classes.
const (
	alnum  = digit | upper | lower
	key40  = alnum | b64
	token  = alnum | dash
	inMail = alnum | dash | dot
	// inToken are all bytes of tokens and of values by their names.
	inToken = key40 | dash | dot
)

var classOf = func() (t [256]byte) {
	for c := range 256 {
		switch b := byte(c); {
		case b >= '0' && b <= '9':
			t[c] = digit
		case b >= 'A' && b <= 'Z':
			t[c] = upper
		case b >= 'a' && b <= 'z':
			t[c] = lower
		case b == '+' || b == '/' || b == '=':
			t[c] = b64
		case b == '-' || b == '_':
			t[c] = dash
		case b == '.':
			t[c] = dot
		}
	}
	return t
}()

// matcher finds the built-in patterns in one text. Each finder looks for a rare
// anchor first, so that text without secrets costs little more than reading it.
type matcher struct {
	t     []byte
	hits  []Hit
	count map[*Pattern]int
	cut   bool // an expression did not get all of t
	// from and to are the last run of a token that was gone through, and hyphen is the place
	// of the last one in it: many prefixes can stand in one run. heads are those of a JSON
	// Web Token that were tried in it.
	from, to, hyphen, heads int
	// aws says whether an AWS access key's prefix stands anywhere, once it was looked for.
	aws, awsKnown bool
}

func (m *matcher) add(p *Pattern, start, end int) {
	if m.count == nil {
		m.count = map[*Pattern]int{}
	}
	if m.count[p]++; m.count[p] <= maxHits {
		m.hits = append(m.hits, Hit{p, start, end})
	}
}

// tokenEnd is span for a token.
func (m *matcher) tokenEnd(i int) int {
	if i < m.from || i >= m.to {
		m.from, m.to = i, m.span(i, token)
		m.heads = 0
		m.hyphen = m.from + bytes.LastIndexByte(m.t[m.from:m.to], '-')
	}
	return m.to
}

// span is the end of the run of classes that begins at i.
func (m *matcher) span(i int, classes byte) int {
	for i < len(m.t) && classOf[m.t[i]]&classes != 0 {
		i++
	}
	return i
}

// is reports whether the byte at i, which may be outside, is of the classes.
func (m *matcher) is(i int, classes byte) bool {
	return i >= 0 && i < len(m.t) && classOf[m.t[i]]&classes != 0
}

// has reports whether w stands at i.
func (m *matcher) has(i int, w string) bool {
	return i >= 0 && i <= len(m.t) && len(m.t)-i >= len(w) && string(m.t[i:i+len(w)]) == w
}

// each calls f at each place of w; f returns where to go on. rare is the index of the
// byte of w that stands in the fewest texts, by which places are found.
func (m *matcher) each(w string, rare int, f func(i int) int) {
	for i := 0; i+rare < len(m.t); {
		n := bytes.IndexByte(m.t[i+rare:], w[rare])
		if n < 0 {
			return
		}
		if i += n; !m.has(i, w) {
			i++
			continue
		}
		i = max(f(i), i+1)
	}
}

// eachByte is each for one byte.
func (m *matcher) eachByte(c byte, f func(i int) int) {
	for i := 0; i < len(m.t); {
		j := bytes.IndexByte(m.t[i:], c)
		if j < 0 {
			return
		}
		i = max(f(i+j), i+j+1)
	}
}

func (m *matcher) run() {
	long := m.hasLong()
	m.each("-----BEGIN ", len("-----B")-1, m.pem)
	if long {
		m.each("sk-", 2, m.sk)
		m.eachByte('_', m.underscore)
		m.each("xox", 0, m.slack)
	}
	m.each("://", 1, m.database)
	if long {
		m.each("eyJ", 2, m.jwt)
		m.eachByte(':', m.named)
		m.eachByte('=', m.named)
	}
	m.eachByte('@', m.email)
	m.words()
}

// leastLong is the shortest run of letters, digits and what stands between them in a token.
const leastLong = 20

// hasLong reports whether there is a run as long as a token. It covers one of each leastLong bytes: most of the text
// is not looked at.
func (m *matcher) hasLong() bool {
	for i := leastLong - 1; i < len(m.t); i += leastLong {
		if !m.is(i, inToken) {
			continue
		}
		from, to := i, m.span(i, inToken)
		for m.is(from-1, inToken) {
			from--
		}
		if to-from >= leastLong {
			return true
		}
		i = to
	}
	return false
}

// pem finds armoured private keys. Their body never holds a hyphen.
func (m *matcher) pem(i int) int {
	j := i + len("-----BEGIN ")
	if m.has(j, "PGP PRIVATE KEY BLOCK-----") {
		return m.body(pgpKey, i, j+len("PGP PRIVATE KEY BLOCK-----"), "PGP PRIVATE KEY BLOCK-----")
	}
	for _, kind := range []string{"RSA ", "EC ", "OPENSSH ", ""} {
		if m.has(j, kind+"PRIVATE KEY-----") {
			return m.body(rsaKey, i, j+len(kind+"PRIVATE KEY-----"), "PRIVATE KEY-----")
		}
	}
	return j
}

func (m *matcher) body(p *Pattern, start, from int, footer string) int {
	n := bytes.IndexByte(m.t[from:min(len(m.t), from+8001)], '-')
	end := from + n
	if n < 20 || !m.has(end, "-----END ") {
		return from
	}
	end += len("-----END ")
	for _, kind := range []string{"RSA ", "EC ", "OPENSSH ", ""} {
		if m.has(end, kind+footer) {
			end += len(kind + footer)
			m.add(p, start, end)
			return end
		}
	}
	return from
}

func (m *matcher) sk(i int) int {
	if m.has(i, "sk-ant-api03-") {
		body := i + len("sk-ant-api03-")
		if end := m.span(body, token); end-body >= 20 {
			m.add(anthropicKey, i, end)
			return end
		}
	}
	body := i + 3
	if m.has(body, "proj-") {
		body += 5
	}
	if end := m.span(body, alnum); end-body >= 32 && end-i >= 40 {
		m.add(openaiKey, i, end)
		return end
	}
	return body
}

// underscore finds the tokens whose prefix ends with one.
func (m *matcher) underscore(i int) int {
	var start int
	switch {
	case i >= 3 && m.t[i-3] == 'g' && m.t[i-2] == 'h' && bytes.IndexByte([]byte("poursab"), m.t[i-1]) >= 0:
		start = i - 3
	case m.has(i-len("github_pat"), "github_pat"):
		start = i - len("github_pat")
	default:
		return m.stripe(i)
	}
	if end := m.tokenEnd(i + 1); m.hyphen <= i && end-i-1 >= 36 && end-start >= 40 {
		m.add(githubToken, start, end)
		return end
	}
	return i + 1
}

func (m *matcher) stripe(i int) int {
	if i < 2 || m.t[i-1] != 'k' || m.t[i-2] != 's' && m.t[i-2] != 'p' && m.t[i-2] != 'r' || !m.has(i+1, "live_") && !m.has(i+1, "test_") {
		return i + 1
	}
	body := i + 6
	end := body
	for end < len(m.t) && (m.is(end, alnum) || m.t[end] == '_') {
		end++
	}
	if end-body >= 24 && end-i+2 >= 30 {
		m.add(stripeKey, i-2, end)
		return end
	}
	return body
}

func (m *matcher) slack(i int) int {
	j := i + 3
	if j >= len(m.t) || bytes.IndexByte([]byte("baprs"), m.t[j]) < 0 {
		return j
	}
	for j++; j < len(m.t); {
		if m.t[j] != '-' {
			return j
		}
		end := m.span(j+1, digit)
		if n := end - j - 1; n >= 10 && n <= 13 && m.has(end, "-") {
			j = end
			if count := bytes.Count(m.t[i:j], []byte("-")); count < 2 {
				continue
			}
			if end = m.span(j+1, alnum); end-j-1 >= 24 {
				m.add(slackToken, i, end)
			}
			return end
		}
		return end
	}
	return j
}

// schemes are databases'.
var schemes = []string{"postgres", "postgresql", "mysql", "mongodb", "redis"}

// database finds scheme://user:password@host[:port]/name.
func (m *matcher) database(i int) int {
	start := -1
	for _, s := range schemes {
		if m.has(i-len(s), s) {
			start = i - len(s)
		}
	}
	if start < 0 {
		return i + 3
	}
	j := m.span(i+3, inMail)
	if j == i+3 || !m.has(j, ":") {
		return i + 3
	}
	at := j + 1
	for at < len(m.t) && at-j < 1024 && m.t[at] != '@' && m.t[at] > ' ' {
		at++
	}
	if at == j+1 || !m.has(at, "@") {
		return i + 3
	}
	end := m.span(at+1, inMail)
	if end == at+1 {
		return i + 3
	}
	if m.has(end, ":") && m.is(end+1, digit) {
		end = m.span(end+1, digit)
	}
	if !m.has(end, "/") || !m.is(end+1, token) {
		return i + 3
	}
	end = m.span(end+1, token)
	m.add(databaseURL, start, end)
	return end
}

// maxHeads bounds how often a JSON Web Token may seem to begin in one run.
const maxHeads = 16

func (m *matcher) jwt(i int) int {
	head := m.tokenEnd(i + 3)
	if head-i < 13 || !m.has(head, ".") {
		return head // nor does a token begin later in this run
	}
	if m.heads++; m.heads > maxHeads {
		return head
	}
	if !validJWTHead(m.t[i:head]) {
		return i + 3
	}
	end := head
	for range 2 {
		next := m.span(end+1, token)
		if !m.has(end, ".") || next-end-1 < 10 {
			return head
		}
		end = next
	}
	m.add(jwtToken, i, end)
	return end
}

// names are what makes the value behind them a secret: each may be written
// together, with a hyphen or with an underscore.
var names = [][2]string{{"api", "key"}, {"secret", "key"}, {"access", "token"}, {"auth", "token"}, {"client", "secret"}}

// named finds NAME: "value" and NAME='value', from the colon or the equals sign.
func (m *matcher) named(i int) int {
	open := i + 1
	for open < len(m.t) && m.space(open) {
		open++
	}
	if open >= len(m.t) || m.t[open] != '"' && m.t[open] != '\'' {
		return i + 1
	}
	before := i
	for before > 0 && m.space(before-1) {
		before--
	}
	if before > 0 && (m.t[before-1] == '"' || m.t[before-1] == '\'') {
		before--
	}
	if before < 6 || !m.isNamed(before) {
		return i + 1
	}
	start := open + 1
	end := m.span(start, inToken)
	if end-start >= 20 && end < len(m.t) && (m.t[end] == '"' || m.t[end] == '\'') && entropy(m.t[start:end]) > 3 {
		m.add(genericKey, start, end)
		return end
	}
	return i + 1
}

func (m *matcher) space(i int) bool {
	return m.t[i] == ' ' || m.t[i] == '\t' || m.t[i] == '\n' || m.t[i] == '\r'
}

// isNamed reports whether one of names ends before i.
func (m *matcher) isNamed(i int) bool {
	for _, n := range names {
		j := i - len(n[1])
		if !m.fold(j, n[1]) {
			continue
		}
		if j > 0 && (m.t[j-1] == '_' || m.t[j-1] == '-') {
			j--
		}
		if m.fold(j-len(n[0]), n[0]) {
			return true
		}
	}
	return false
}

// fold is has without regard to case.
func (m *matcher) fold(i int, w string) bool {
	if i < 0 || len(m.t)-i < len(w) {
		return false
	}
	for k := range len(w) {
		if m.t[i+k]|0x20 != w[k] {
			return false
		}
	}
	return true
}

func (m *matcher) email(i int) int {
	start := i
	for start > 0 && i-start < 64 && (m.is(start-1, inMail) || m.t[start-1] == '%' || m.t[start-1] == '+') {
		start--
	}
	end := i + 1
	for end < len(m.t) && end-i <= 256 && m.t[end] != '_' && m.is(end, inMail) {
		end++
	}
	// The address ends with a dot and at least two letters.
	for k := end; k > i+2; k-- {
		if !m.is(k-1, upper|lower) {
			continue
		}
		j := k
		for j > i+1 && m.is(j-1, upper|lower) {
			j--
		}
		if k-j >= 2 && j-1 > i+1 && m.t[j-1] == '.' && start < i {
			m.add(emailAddress, start, k)
			return k
		}
		k = j
	}
	return i + 1
}
