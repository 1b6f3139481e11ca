package handout

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// secret is what a value holds; the zero one holds none.
type secret struct {
	// what is how it is told.
	what string
	// name is the variable of a single credential, "" for more than one and for files.
	name string
	// login says that it stands where a protocol has credentials.
	login bool
}

func (s secret) none() bool { return s.what == "" }

// worse is the one of two that says more.
func worse(a, b secret) secret {
	switch {
	case a.none():
		return b
	case b.none():
		return a
	case a.name != "" && (b.name == "" || a.login && !b.login):
		return b
	}
	return a
}

var (
	// secretFile is a file that holds secrets, within a word of a command.
	secretFile = lazyregexp.New(`(?:^|[@=:/\s"'~}(])(\.ssh(?:/[\w.*-]*)?|\.aws(?:/\w+)?|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.kube/config|\.docker/config\.json|\.gnupg|\.config/(?:gcloud|gh)\b|\.azure|\.env(?:\.\w+)?|\.vault-token|\.bash_history|id_rsa|id_ed25519)(?:$|[/\s"');|&>])|(/etc/shadow|/proc/(?:self|\d+)/environ)\b`)
	// openFile is one of those that is for everybody.
	openFile = lazyregexp.New(`\.pub\b|known_hosts|\.ssh/config|authorized_keys|\.env\.(?:example|sample|template|dist)`)
	// secretName is a variable that holds a secret by its name, and openName one that only names one.
	secretName = lazyregexp.New(`(?i)(?:^|_)(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|KEY|TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?)(?:_|$)`)
	openName   = lazyregexp.New(`(?i)_(?:ID|NAME|FILE|PATH|URL|HOST|USER)$|PUBLIC`)
)

// ofFile is what a word names, where it is read.
func ofFile(word string) secret {
	m := secretFile.FindStringSubmatch(word)
	if m == nil || openFile.MatchString(word) || strings.Contains(word, "://") {
		return secret{}
	}
	if m[2] != "" {
		return secret{what: m[2]}
	}
	if strings.HasPrefix(m[1], ".env") {
		return secret{what: "the file " + m[1]}
	}
	return secret{what: "the credentials in " + m[1]}
}

// ofName is what a variable holds.
func ofName(name string) secret {
	if !secretName.MatchString(name) || openName.MatchString(name) {
		return secret{}
	}
	return secret{what: "$" + name, name: name}
}

const (
	wholeEnvironment = "the whole environment"
	allSecrets       = "all secrets of the repository (toJSON(secrets))"
)

var (
	expression   = lazyregexp.New(`\$\{\{(.*?)\}\}`)
	everySecret  = lazyregexp.New(`(?i)\btojson\s*\(\s*secrets\s*\)|\bsecrets\.\*|\bjoin\s*\(\s*secrets\b`)
	wholeContext = lazyregexp.New(`(?i)\btojson\s*\(\s*(github|env|vars)\s*\)`)
	oneSecret    = lazyregexp.New(`(?i)\bsecrets(?:\.(\w+)|\[\s*'(\w+)'\s*\])|\b(github)\.token\b`)
	oneVariable  = lazyregexp.New(`\benv\.(\w+)`)
)

// ofExpression is what an expression of a workflow comes to.
func ofExpression(x string, env map[string]secret) secret {
	if everySecret.MatchString(x) {
		return secret{what: allSecrets}
	}
	if m := wholeContext.FindStringSubmatch(x); m != nil && strings.ToLower(m[1]) != "vars" {
		return secret{what: "the whole context " + strings.ToLower(m[1])}
	}
	if m := oneSecret.FindStringSubmatch(x); m != nil {
		name := m[1] + m[2]
		if m[3] != "" {
			name = "GITHUB_TOKEN"
		}
		return secret{what: "the secret " + name, name: name}
	}
	if m := oneVariable.FindStringSubmatch(x); m != nil {
		return env[m[1]]
	}
	return secret{}
}

// ofExpressions is what the expressions in a value come to.
func ofExpressions(value string, env map[string]secret) (s secret) {
	for _, m := range expression.FindAllStringSubmatch(value, 50) {
		s = worse(s, ofExpression(m[1], env))
	}
	return s
}

// issuers are the domains of who issues a credential, by the beginning of its usual names.
var issuers = map[string][]string{
	"GITHUB": {"github.com", "githubusercontent.com", "ghcr.io", "github.dev"}, "GH": {"github.com", "githubusercontent.com", "ghcr.io"},
	"GITLAB": {"gitlab.com"}, "CI_JOB": {"gitlab.com"}, "NPM": {"npmjs.org", "npmjs.com", "github.com"}, "NODE_AUTH": {"npmjs.org", "npmjs.com", "github.com"},
	"PYPI": {"pypi.org"}, "TWINE": {"pypi.org"}, "AWS": {"amazonaws.com"}, "DOCKERHUB": {"docker.com", "docker.io"}, "DOCKER": {"docker.com", "docker.io"},
	"SLACK": {"slack.com"}, "STRIPE": {"stripe.com"}, "OPENAI": {"openai.com", "azure.com"}, "ANTHROPIC": {"anthropic.com"}, "CARGO": {"crates.io"}, "GOOGLE": {"googleapis.com", "google.com"},
}

// compatible are issuers whose protocol other services speak, with a key under the same name.
var compatible = []string{"OPENAI", "ANTHROPIC", "AWS"}

// leaksTo reports whether it is a leak that a host is sent a secret, and a sure one.
func (s secret) leaksTo(host string) (leak, sure bool) {
	switch {
	case s.none() || host == "" || isPlaceholder(host):
		return false, false
	case s.name == "":
		return true, true
	}
	name := strings.ToUpper(s.name)
	for _, word := range strings.Split(strings.ToLower(name), "_") {
		if len(word) > 2 && !slices.Contains(commonWords, word) && slices.Contains(strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == '-' }), word) {
			return false, false // it is named after the host
		}
	}
	for prefix, domains := range issuers {
		if strings.HasPrefix(name, prefix+"_") || name == prefix {
			if slices.Contains(domains, Domain(host)) || s.login && slices.Contains(compatible, prefix) {
				return false, false
			}
			return true, !s.login
		}
	}
	return !s.login && !signIn.MatchString(name), false
}

// signIn are the credentials that protocols have in the body of a request.
var signIn = lazyregexp.New(`CLIENT_SECRET|REFRESH_TOKEN|PASSWORD|PASSWD|PASSPHRASE`)

var commonWords = strings.Fields("token secret key api access private password auth user deploy url com org net")

// Domain is the part of a host's name that somebody registered, and the host for an address: in lower case.
func Domain(host string) string {
	host = strings.ToLower(host)
	if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return d
	}
	return host
}

// placeholders are parts of names of hosts that a reader is to replace.
var placeholders = lazyregexp.New(`(?i)^(?:www\.)?(?:[\w-]+\.)*example\.(?:com|org|net|edu)$|\byour|(?:^|[.-])my[.-]|<|>|\{|\}|\*|placeholder|(?:^|\.)(?:localhost|local|internal|test-server|host|hostname|server|domain)$|\.svc$|\.lan$`)

// isPlaceholder reports whether a host is the reader's own, or stands for it.
func isPlaceholder(host string) bool {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
	}
	return !strings.Contains(host, ".") || placeholders.MatchString(host)
}
