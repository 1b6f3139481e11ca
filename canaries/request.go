package canaries

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"path"
	"strings"
)

const (
	positionAWS     = "AWS signature"
	positionSession = "X-Amz-Security-Token"
	// maxHead bounds the header of a request, and what of a body is looked at for
	// a credential: far above what a service takes.
	maxHead, maxForm = 256 << 10, 64 << 10
)

// credential is a place in a request at which its protocol has a credential.
type credential struct {
	from, to int64 // in the stream
	position string
	host     string // that the request itself names
	values   []string
}

// apiKeys are headers that are nothing but a credential to one service.
var apiKeys = []struct{ host, header string }{
	{"api.anthropic.com", "X-Api-Key"},
	{"gitlab.com", "Private-Token"}, {"*.gitlab.com", "Private-Token"},
	{"*.supabase.co", "Apikey"}, {"*.amazonaws.com", positionSession}, {"*.api.aws", positionSession},
}

// forms are the places where a service takes a credential in the body.
var forms = []struct {
	host, path string // the path is a pattern of path.Match
	fields     []string
}{
	{"oauth2.googleapis.com", "/token", []string{"client_secret", "refresh_token"}},
	{"www.googleapis.com", "/oauth2/v[34]/token", []string{"client_secret", "refresh_token"}},
	{"accounts.google.com", "/o/oauth2/token", []string{"client_secret", "refresh_token"}},
	{"auth.docker.io", "/token", []string{"password", "refresh_token"}},
	{"slack.com", "/api/*", []string{"token"}}, {"*.slack.com", "/api/*", []string{"token"}},
}

// head is the header of a request of HTTP/1.1.
type head struct {
	method, target string
	host           string
	lines          []headLine
	size           int64 // of the body, unless it is chunked
	chunked        bool
	ends           bool // what follows is no HTTP any more
	form           bool // the body is a form
}

// headLine is one field; at is where its value starts in the header.
type headLine struct {
	name, value string
	at          int
}

// parseHead reads a header up to its empty line. It is strict: what two
// programs could read in two ways has no credentials.
func parseHead(b []byte) (head, bool) {
	first, rest, _ := bytes.Cut(b, []byte("\r\n"))
	words := strings.Split(string(first), " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/") || !strings.HasPrefix(words[1], "/") || !isToken(words[0]) {
		return head{}, false
	}
	h := head{method: words[0], target: words[1]}
	seen := map[string]bool{}
	for at := len(b) - len(rest); len(rest) > 0; at = len(b) - len(rest) {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if len(line) == 0 {
			break
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok || !isToken(name) || bytes.ContainsAny(line, "\r\n\x00") {
			return head{}, false
		}
		lead := len(value) - len(strings.TrimLeft(value, " \t"))
		l := headLine{name: strings.ToLower(name), value: strings.TrimSpace(value), at: at + len(name) + 1 + lead}
		if !h.framing(l, seen[l.name]) {
			return head{}, false
		}
		seen[l.name] = true
		h.lines = append(h.lines, l)
	}
	return h, !h.chunked || !seen["content-length"]
}

// framing takes in a field that says where the request goes or where it ends.
func (h *head) framing(l headLine, again bool) bool {
	switch l.name {
	case "host":
		h.host = hostName(l.value)
		return !again
	case "content-length":
		n, ok := number10(l.value)
		h.size = n
		return ok && !again
	case "transfer-encoding":
		h.chunked = strings.EqualFold(l.value, "chunked")
		return h.chunked && !again
	case "upgrade":
		h.ends = true
	case "content-type":
		kind, _, _ := strings.Cut(l.value, ";")
		h.form = strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded")
	}
	return true
}

// number10 reads a length in decimal digits.
func number10(s string) (int64, bool) {
	if s == "" || len(s) > 15 {
		return 0, false
	}
	var n int64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// isToken reports whether s may be a method or the name of a field.
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r > 0x7f || !isDigit(byte(r)) || r == '/') && !strings.ContainsRune("!#$%&'*.^`|~", r)
	}) < 0
}

// credentials are those in the header, which starts at base in the stream, in
// their order.
func (h *head) credentials(base int64) []credential {
	var out []credential
	add := func(at, size int, position string, values ...string) {
		out = append(out, credential{base + int64(at), base + int64(at+size), position, h.host, values})
	}
	_, query, _ := strings.Cut(h.target, "?")
	at := len(h.method) + 1 + len(h.target) - len(query)
	formValues(query, func(from int, key, raw, value string) {
		if key == "X-Amz-Credential" || key == "AWSAccessKeyId" {
			id, _, _ := strings.Cut(value, "/")
			add(at+from, len(raw), positionAWS, id)
		}
		if key == positionSession {
			add(at+from, len(raw), positionSession, value)
		}
	})
	for _, l := range h.lines {
		if l.name == "authorization" {
			h.authorization(l, add)
			continue
		}
		if l.name == "cookie" {
			cookies(l, add)
			continue
		}
		for _, k := range apiKeys {
			if strings.EqualFold(l.name, k.header) && (Canary{Issuers: []string{k.host}}).IssuedBy(h.host) {
				add(l.at, len(l.value), k.header, l.value)
			}
		}
	}
	return out
}

// authorization reads the field of that name.
func (h *head) authorization(l headLine, add func(at, size int, position string, values ...string)) {
	scheme, rest, ok := strings.Cut(l.value, " ")
	if !ok { // Linear's
		add(l.at, len(l.value), "Authorization", l.value)
		return
	}
	secret := strings.TrimLeft(rest, " ")
	at := l.at + len(l.value) - len(secret)
	switch strings.ToLower(scheme) {
	case "bearer", "token":
		add(at, len(secret), "Authorization: "+scheme, secret)
	case "basic":
		text, err := base64.StdEncoding.DecodeString(secret)
		if user, password, ok := strings.Cut(string(text), ":"); err == nil && ok {
			add(at, len(secret), "Authorization: Basic", user, password)
		}
	case "aws4-hmac-sha256", "aws4-ecdsa-p256-sha256":
		_, id, _ := strings.Cut(secret, "Credential=")
		from := at + len(secret) - len(id)
		id, _, _ = strings.Cut(id, "/")
		add(from, len(id), positionAWS, id)
	case "aws":
		id, _, _ := strings.Cut(secret, ":")
		add(at, len(id), positionAWS, id)
	}
}

// cookies reads the one cookie that is a credential of a planted kind: Argo's.
func cookies(l headLine, add func(at, size int, position string, values ...string)) {
	const name = "argocd.token="
	if i := strings.Index(l.value, name); i == 0 || i > 0 && l.value[i-1] == ' ' {
		value, _, _ := strings.Cut(l.value[i+len(name):], ";")
		add(l.at+i+len(name), len(value), "Cookie", value)
	}
}

// formFields are the names of the body's fields that are credentials.
func (h *head) formFields() []string {
	where, _, _ := strings.Cut(h.target, "?")
	if h.method != "POST" || !h.form {
		return nil
	}
	for _, f := range forms {
		if ok, err := path.Match(f.path, where); err == nil && ok && (Canary{Issuers: []string{f.host}}).IssuedBy(h.host) {
			return f.fields
		}
	}
	return nil
}

// formValues calls f for each field of a query or a form: where its value starts,
// the value as it stands there, and what it says.
func formValues(s string, f func(from int, key, raw, value string)) {
	at := 0
	for field := range strings.SplitSeq(s, "&") {
		name, raw, _ := strings.Cut(field, "=")
		key, err := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(raw)
		if err == nil && err2 == nil {
			f(at+len(field)-len(raw), key, raw, value)
		}
		at += len(field) + 1
	}
}
