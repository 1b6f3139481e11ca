package secrets

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/detect"
)

// Origin says whose a file is, which decides how closely it is read.
type Origin int

// The origins of a file.
const (
	// Installed was published by others: only what issuers mark as theirs, and private
	// keys, are secrets there.
	Installed Origin = iota
	// Own is the project's, where a value may be a secret by the name that it is given.
	Own
)

// Kind is what a file's content is.
type Kind int

// The kinds of content.
const (
	// Clean has no secret that is known as one.
	Clean Kind = iota
	// Mixed has secrets among other things: Mask takes them out.
	Mixed
	// Whole is nothing but a credential: a key store, a kubeconfig, a service account.
	Whole
)

// Verdict is what Read found in one file.
type Verdict struct {
	Kind  Kind
	spans []span
	texts [][]byte
}

// Read looks for secrets in a file's whole content. name is its path, with slashes.
// An error is ctx's.
func Read(ctx context.Context, name string, data []byte, origin Origin) (Verdict, error) {
	if isStore(data) {
		return Verdict{Kind: Whole}, nil
	}
	if text, _, wide := narrow(data); wide {
		data = text
	}
	if isSettings(name) && isAccount(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
		return Verdict{Kind: Whole}, nil
	}
	v := Verdict{spans: findTokens(data, !isSettings(name))}
	if origin == Own && !IsBinary(data) {
		v.spans = append(v.spans, findNamed(data, !isSettings(name))...)
		var err error
		if v.texts, err = findLeaks(ctx, data, isSettings(name)); err != nil {
			return v, fmt.Errorf("search %s for secrets: %w", name, err)
		}
	}
	if len(v.spans)+len(v.texts) > 0 {
		v.Kind = Mixed
	}
	return v, nil
}

// Mask is a copy of the content that Read saw without its secrets: each of their letters
// and digits is another of its kind, so that whatever the file is still parses.
func (v Verdict) Mask(data []byte) []byte {
	text, low, wide := narrow(data)
	if !wide {
		return v.masked(data)
	}
	out := bytes.Clone(data)
	for i, c := range v.masked(text) {
		if c != text[i] {
			out[2*i+low] = c
		}
	}
	return out
}

func (v Verdict) masked(data []byte) []byte {
	out := bytes.Clone(data)
	for _, s := range v.spans {
		mask(out[s.from:s.to])
	}
	for _, t := range v.texts {
		masked := bytes.Clone(t)
		mask(masked)
		out = bytes.ReplaceAll(out, t, masked)
	}
	return out
}

func mask(b []byte) {
	for i, c := range b {
		switch {
		case i > 0 && b[i-1] == '\\': // an escape stays one
		case c >= '0' && c <= '9':
			b[i] = '0'
		case c >= 'a' && c <= 'z':
			b[i] = 'x'
		case c >= 'A' && c <= 'Z':
			b[i] = 'X'
		}
	}
}

// sampled is how much of a file says whether it is UTF-16.
const sampled = 8000

// narrow is a text in UTF-16 with one byte for each unit, which is a question mark for all
// but ASCII: secrets are ASCII. low is which byte of a unit is the low one. A text
// without a byte order mark, as in the middle of a file, is one whose units are mostly ASCII.
func narrow(data []byte) (text []byte, low int, wide bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		low = 1
	default:
		units, zeros := min(len(data), sampled)/2, [2]int{}
		for i := range 2 * units {
			if data[i] == 0 {
				zeros[i%2]++
			}
		}
		if zeros[0] > zeros[1] {
			low = 1
		}
		if units < leastValue || zeros[1-low] < units*3/4 || zeros[low] > units/8 {
			return nil, 0, false
		}
	}
	text = make([]byte, len(data)/2)
	for i := range text {
		c, high := data[2*i+low], data[2*i+1-low]
		switch {
		case high == 0 && c < 0x80:
			text[i] = c
		case i == 0:
			text[i] = '\n' // the mark: what follows begins a line
		default:
			text[i] = '?'
		}
	}
	return text, low, true
}

// magics are how files of keys begin.
var magics = []string{
	"\xfe\xed\xfe\xed", // Java key store
	"\xce\xce\xce\xce", // its extension
	"\x03\xd9\xa2\x9a", // KeePass
}

// derKeys are how the sequence goes on that PKCS #8, PKCS #1 and PKCS #12 begin with in
// DER: with a version.
var derKeys = []string{"\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48", "\x02\x01\x00\x02\x82", "\x02\x01\x03\x30"}

func isStore(data []byte) bool {
	begins := func(data []byte, with []string) bool {
		return slices.ContainsFunc(with, func(w string) bool { return bytes.HasPrefix(data, []byte(w)) })
	}
	return begins(data, magics) || len(data) > 12 && string(data[8:12]) == "KBXf" ||
		len(data) > 4 && data[0] == 0x30 && data[1] == 0x82 && begins(data[4:], derKeys)
}

// settings are the suffixes of files that are read rather than run.
var settings = []string{"", ".json", ".jsonc", ".json5", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".config", ".properties", ".txt", ".xml", ".plist", ".bak", ".old", ".orig", ".sh", ".bash", ".zsh", ".ps1", ".bat", ".md", ".csv", ".log", ".hcl", ".tf", ".pem", ".key", ".crt", ".cer", ".asc", ".ppk", ".p8", ".pub"}

func isSettings(name string) bool {
	return slices.Contains(settings, strings.ToLower(path.Ext(name)))
}

// accounts are files that say themselves that they are credentials: a word that such a
// one has, and the form.
var accounts = []struct {
	word string
	form *regexp.Regexp
}{
	{`"type"`, regexp.MustCompile(`"type"\s*:\s*"(?:service_account|authorized_user|external_account|impersonated_service_account)"`)},
	{"kind:", regexp.MustCompile(`(?m)^kind:\s*["']?Secret\b`)},
	{"users:", regexp.MustCompile(`(?ms)^kind:\s*["']?Config\b.*^users:|^users:.*^kind:\s*["']?Config\b`)},
	{`"auths"`, regexp.MustCompile(`"auths"\s*:\s*\{\s*"[^"]+"\s*:\s*\{[^}]*"(?:auth|identitytoken)"`)},
}

// maxAccount bounds a file that is a credential as a whole.
const maxAccount = 256 << 10

func isAccount(data []byte) bool {
	if len(data) > maxAccount || IsBinary(data) {
		return false
	}
	for _, a := range accounts {
		if bytes.Contains(data, []byte(a.word)) && a.form.Match(data) {
			return true
		}
	}
	return false
}

// named are values that their place makes secret: words that stand there, and how far
// around them the form is looked for.
var named = []struct {
	words         []string
	before, after int
	form          *regexp.Regexp
	// inCode is form where the file is a program, in which a value without quotes is an expression.
	inCode *regexp.Regexp
}{
	{[]string{"://"}, 24, 300, regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@"'<>$` + "`" + `{}]{0,64}:([^\s/@"'<>$` + "`" + `{}]{6,200})@`), nil},
	{[]string{"ecret", "ECRET"}, 1, 100, regexp.MustCompile(`(?i)secret_?access_?key["']?\s{0,8}[:=]\s{0,8}["']?([A-Za-z0-9/+]{40})\b`), nil},
	{
		[]string{"uthorization", "UTHORIZATION", "_auth", "_password"}, 1, longest,
		regexp.MustCompile(authorization + `["']?` + authorizes), regexp.MustCompile(authorization + "[\"'`]" + authorizes),
	},
}

// A header or a setting that holds a credential, before and after a quote.
const (
	authorization = `(?i)(?:^|[^a-z0-9])(?:authorization|_authToken|_auth|_password)["']?\s{0,8}[:=]\s{0,8}`
	authorizes    = `(?:basic |bearer |token )?([A-Za-z0-9+/=._-]{16,})`
)

func findNamed(data []byte, inCode bool) []span {
	var out []span
	for _, n := range named {
		form := n.form
		if inCode && n.inCode != nil {
			form = n.inCode
		}
		for _, word := range n.words {
			for at := 0; ; at += len(word) {
				i := bytes.Index(data[at:], []byte(word))
				if i < 0 {
					break
				}
				at += i
				from := max(at-n.before, 0)
				if m := form.FindSubmatchIndex(data[from:min(at+n.after, len(data))]); m != nil {
					out = append(out, span{from + m[2], from + m[3]})
				}
			}
		}
	}
	return out
}

// IsBinary reports whether the first bytes of a file are not those of a text.
func IsBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), sampled)], 0) >= 0 }

// leaks are gitleaks' rules: all of them for settings, and for code all but the one that
// goes by a name and randomness alone, which there finds checksums. A Detector must
// not be used by two goroutines at a time.
var (
	leaksMu       sync.Mutex
	settingsLeaks = sync.OnceValues(func() (*detect.Detector, error) { return newLeaks() })
	codeLeaks     = sync.OnceValues(func() (*detect.Detector, error) { return newLeaks("generic-api-key") })
)

// newLeaks is a detector of all rules without some.
func newLeaks(without ...string) (*detect.Detector, error) {
	c, err := Gitleaks()
	if err != nil {
		return nil, err
	}
	for _, id := range without {
		delete(c.Rules, id)
	}
	// A repository's own words and the names of its files allow nothing here.
	c.Allowlists = nil
	d := detect.NewDetector(c)
	d.IgnoreGitleaksAllow = true
	return d, nil
}

// The windows in which gitleaks looks.
const (
	// leastValue is the shortest value that one of its rules takes.
	leastValue = 10
	// before is how far a value may stand from its name, after what ends it.
	before, after = 120, 16
	// batch is how much is given to it at once.
	batch = 16 << 10
)

// findLeaks is what gitleaks takes for secrets. It reads some hundred kilobytes in a
// second: it is given only the neighbourhood of what could be a value.
func findLeaks(ctx context.Context, data []byte, settings bool) ([][]byte, error) {
	leaks := codeLeaks
	if settings {
		leaks = settingsLeaks
	}
	d, err := leaks()
	if err != nil {
		return nil, err
	}
	leaksMu.Lock()
	defer leaksMu.Unlock()
	var out [][]byte
	var text bytes.Buffer
	look := func() {
		//nolint:staticcheck // DetectContext takes no other type before gitleaks v9
		for _, f := range d.DetectContext(ctx, detect.Fragment{Raw: text.String()}) {
			if len(f.Secret) >= leastValue {
				out = append(out, []byte(f.Secret))
			}
		}
		text.Reset()
	}
	for _, w := range windows(data) {
		text.Write(data[w.from:w.to])
		text.WriteString("\n\n")
		if text.Len() > batch {
			look()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	look()
	return out, ctx.Err()
}

// windows are the neighbourhoods of runs of characters that could be a secret: long
// enough, and with a digit and a letter in them.
func windows(data []byte) []span {
	var out []span
	for i := 0; i < len(data); {
		if !isToken(data[i]) {
			i++
			continue
		}
		to, digit, letter := i, false, false
		for to < len(data) && isToken(data[to]) {
			c := data[to] | 0x20
			digit = digit || c >= '0' && c <= '9'
			letter = letter || c >= 'a' && c <= 'z'
			to++
		}
		if digit && letter && to-i >= leastValue && to-i <= longest {
			w := span{max(i-before, 0), min(to+after, len(data))}
			if n := len(out); n > 0 && w.from <= out[n-1].to {
				out[n-1].to = w.to
			} else {
				out = append(out, w)
			}
		}
		i = to
	}
	return out
}
