package pii

import (
	"fmt"
	"slices"
	"strings"
)

// Pattern is one kind of data to look for.
type Pattern struct {
	// Category names it: "ssn", "aws_access_key" …
	Category string
	// Severity is 1 worth a look, 2 should not be there, 3 hostile unless proven otherwise.
	Severity int
	// Description says in a few words what it is.
	Description string

	custom *custom // nil for a built-in pattern
}

// Hit is one place in a text.
type Hit struct {
	*Pattern
	// Start and End are bytes of the text that was scanned, or of its plain form
	// where the text was obfuscated (Scanner.Plain).
	Start, End int
}

// The built-in patterns, most specific first.
var (
	rsaKey       = &Pattern{Category: "rsa_private_key", Severity: 3, Description: "a private key (PEM)"}
	pgpKey       = &Pattern{Category: "pgp_private_key", Severity: 3, Description: "a PGP private key"}
	anthropicKey = &Pattern{Category: "anthropic_key", Severity: 3, Description: "an Anthropic API key"}
	openaiKey    = &Pattern{Category: "openai_key", Severity: 3, Description: "an OpenAI API key"}
	awsAccess    = &Pattern{Category: "aws_access_key", Severity: 3, Description: "an AWS access key id"}
	awsSecret    = &Pattern{Category: "aws_secret_key", Severity: 3, Description: "an AWS secret access key"}
	githubToken  = &Pattern{Category: "github_token", Severity: 3, Description: "a GitHub token"}
	stripeKey    = &Pattern{Category: "stripe_key", Severity: 3, Description: "a Stripe key"}
	slackToken   = &Pattern{Category: "slack_token", Severity: 3, Description: "a Slack token"}
	databaseURL  = &Pattern{Category: "database_url", Severity: 3, Description: "a database's address with its password"}
	jwtToken     = &Pattern{Category: "jwt_token", Severity: 2, Description: "a JSON Web Token"}
	genericKey   = &Pattern{Category: "generic_api_key", Severity: 2, Description: "a key or secret by its name"}
	ssnNumber    = &Pattern{Category: "ssn", Severity: 3, Description: "a US social security number"}
	creditCard   = &Pattern{Category: "credit_card", Severity: 3, Description: "a payment card's number"}
	ibanNumber   = &Pattern{Category: "iban", Severity: 3, Description: "a bank account's number (IBAN)"}
	emailAddress = &Pattern{Category: "email_address", Severity: 1, Description: "an e-mail address"}
	privateIP    = &Pattern{Category: "private_ip", Severity: 1, Description: "a private network's address"}
)

// Builtin lists the built-in patterns in their order.
func Builtin() []*Pattern {
	return []*Pattern{rsaKey, pgpKey, anthropicKey, openaiKey, awsAccess, awsSecret, githubToken, stripeKey, slackToken,
		databaseURL, jwtToken, genericKey, ssnNumber, creditCard, ibanNumber, emailAddress, privateIP}
}

// The bounds of one text. maxScan is more than a message of the wire can be, and maxSlow what an
// expression gets that is not linear. maxHits bounds the hits of each pattern: those of one
// must not crowd out another's.
const (
	maxScan = 16 << 20
	maxSlow = 1 << 20
	maxHits = 1000
)

// Scanner looks for the built-in patterns and a user's own. One goroutine uses
// it; the zero Scanner has the built-in ones.
type Scanner struct {
	// Truncated counts texts whose beginning alone a pattern searched.
	Truncated int

	own   []*Pattern
	hits  []Hit
	plain []byte
}

// NewScanner returns a Scanner with a user's patterns beside the built-in ones.
func NewScanner(own []*Pattern) *Scanner { return &Scanner{own: own} }

// Scan finds what is in text, which is best given as it crossed the wire: as
// JSON. The result is valid until the next call; equal values of a category are
// one hit.
func (s *Scanner) Scan(text []byte) []Hit {
	s.hits = s.hits[:0]
	cut := len(text) > maxScan
	text = text[:min(len(text), maxScan)]
	s.plain = text
	if obfuscated(text) {
		s.plain = normalize(text)
	}
	m := matcher{t: s.plain, hits: s.hits}
	m.run()
	for _, p := range s.own {
		m.custom(p)
	}
	s.hits = m.hits
	if cut || m.cut {
		s.Truncated++
	}
	if len(s.hits) > 0 {
		s.deduplicate()
	}
	return s.hits
}

// Value is what a hit of the last Scan stands for. It must not be shown.
func (s *Scanner) Value(h Hit) []byte { return s.plain[h.Start:h.End] }

// deduplicate drops generic hits within a token and repeated values, and brings the
// rest into the patterns' order.
func (s *Scanner) deduplicate() {
	inToken := func(h Hit) bool {
		if h.Pattern != awsSecret && h.Pattern != genericKey {
			return false
		}
		return slices.ContainsFunc(s.hits, func(j Hit) bool { return j.Pattern == jwtToken && j.Start <= h.Start && h.End <= j.End })
	}
	type value struct {
		pattern *Pattern
		text    string
	}
	seen := map[value]bool{}
	var out []Hit
	for _, h := range s.hits {
		v := value{h.Pattern, string(s.Value(h))}
		if inToken(h) || seen[v] {
			continue
		}
		seen[v] = true
		out = append(out, h)
	}
	order := Builtin()
	rank := func(h Hit) int {
		if i := slices.Index(order, h.Pattern); i >= 0 {
			return i
		}
		return len(order) + slices.Index(s.own, h.Pattern)
	}
	slices.SortStableFunc(out, func(a, b Hit) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return a.Start - b.Start
	})
	s.hits = append(s.hits[:0], out...)
}

// Tag stands for a value of a category wherever one would be shown.
func Tag(category string, length int) string {
	return fmt.Sprintf("[%s redacted · %d chars]", category, length)
}

// withheld stands for a text whose secrets have no place in it that could be cut out.
const withheld = "[text withheld: it holds a secret in another spelling]"

// Redact replaces everything of severity 2 and above by its Tag.
func (s *Scanner) Redact(text string) string {
	hits := slices.DeleteFunc(slices.Clone(s.Scan([]byte(text))), func(h Hit) bool { return h.Severity < 2 })
	if len(hits) == 0 {
		return text
	}
	if obfuscated([]byte(text)) {
		return withheld
	}
	slices.SortFunc(hits, func(a, b Hit) int { return a.Start - b.Start })
	var out []byte
	at := 0
	for i := 0; i < len(hits); i++ {
		h := hits[i]
		// Overlapping values are one place.
		for i+1 < len(hits) && hits[i+1].Start < h.End {
			i++
			h.End = max(h.End, hits[i].End)
		}
		out = append(append(out, text[at:h.Start]...), Tag(h.Category, h.End-h.Start)...)
		at = h.End
	}
	out = append(out, text[at:]...)
	// A value that is said twice was one hit.
	var pairs []string
	for _, h := range hits {
		pairs = append(pairs, text[h.Start:h.End], Tag(h.Category, h.End-h.Start))
	}
	return strings.NewReplacer(pairs...).Replace(string(out))
}
