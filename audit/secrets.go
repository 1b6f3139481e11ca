package audit

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// secretHit is a credential in a source; its value stays here.
type secretHit struct {
	offset   int
	length   int
	what     string
	severity finding.Severity
	// published says that it is a sample of its issuer's.
	published bool
}

// secretScanner finds credentials in one file's text.
type secretScanner interface {
	// scan gives the error with what it found before ctx ended, or its own bound.
	scan(ctx context.Context, path, src string) ([]secretHit, error)
}

// lazyScanner makes the scanner when the first text is there: a tree without one needs none.
type lazyScanner struct{}

func (lazyScanner) scan(ctx context.Context, path, src string) ([]secretHit, error) {
	s, err := newSecretScanner()
	if err != nil {
		return nil, err
	}
	return s.scan(ctx, path, src)
}

// gitleaks is the secretScanner by gitleaks' default rules.
type gitleaks struct {
	*detectors
	limit time.Duration // for one file
}

// detectors are those of gitleaks' rules: of narrowed, of those whose expressions run over a whole
// text, and of those whose expressions run around their words alone.
type detectors struct {
	narrow, whole, near *detect.Detector
	words               *keywords
	// paths are the names of files that rules of whole are for.
	paths []*regexp.Regexp
}

// A Detector must not be used by two goroutines at a time.
var (
	gitleaksMu   sync.Mutex
	gitleaksOnce = sync.OnceValues(func() (*detectors, error) {
		all, err := secrets.Gitleaks()
		if err != nil {
			return nil, err
		}
		d := &detectors{}
		narrow, near, whole, worded := map[string]config.Rule{}, map[string]config.Rule{}, map[string]config.Rule{}, map[string]config.Rule{}
		for id, rule := range all.Rules {
			switch {
			case narrowed[id] != nil:
				narrow[id] = rule
			case reach(rule) > 0:
				near[id] = rule
			case rule.Path != nil:
				whole[id] = rule
				d.paths = append(d.paths, regexp.MustCompile(rule.Path.String()))
			default:
				whole[id], worded[id] = rule, rule
			}
		}
		d.narrow, d.near, d.whole, d.words = detectorOf(all, narrow), detectorOf(all, near), detectorOf(all, whole), newKeywords(near, worded)
		return d, nil
	})
)

// detectorOf is a detector of some rules of a configuration.
func detectorOf(c config.Config, rules map[string]config.Rule) *detect.Detector {
	c.Rules, c.Keywords = rules, map[string]struct{}{}
	for _, r := range rules {
		for _, word := range r.Keywords {
			c.Keywords[strings.ToLower(word)] = struct{}{}
		}
	}
	d := detect.NewDetector(c)
	d.IgnoreGitleaksAllow = true // the source has no say in what is reported of it
	return d
}

// carried are the kinds by whose shape alone nobody can say that something was
// given away: keys that their issuer has in every copy of an application and
// restricts by caller instead (a Google key, the public key of a map), tokens
// that are often samples or say themselves that they are anonymous, and what
// only looks like a key.
var carried = map[string]bool{
	"generic-api-key": true, "gcp-api-key": true, "mapbox-api-token": true, "flutterwave-public-key": true,
	"jwt": true, "jwt-base64": true, "curl-auth-header": true, "curl-auth-user": true,
}

// testMode begins a key of Stripe's that moves no money: https://docs.stripe.com/keys.
var testMode = lazyregexp.New(`^(?:sk|rk)_test_`)

// publicName is the name of what identifies a program and is no secret: of an OAuth client (RFC 6749, section 2.2), a
// project, a site. The value follows it.
var publicName = lazyregexp.New(`(?i)(?:client|app|application|project|measurement|site|tenant)[_-]?id\b[^\n]{0,20}$`)

// published are credentials that the documentation of their issuers has for tests and samples. They are
// put together here so that no scanner stops at this file.
var published = map[string]bool{
	// https://docs.stripe.com/keys and its older editions
	"sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc": true, "sk_test_" + "BQokikJOvBiI2HlWgH4olfQ2": true, "sk_test_" + "tR3PYbcVNZZ796tH88S4VQ2u": true,
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/security-creds.html and reference_identifiers.html
	"AKIA" + "IOSFODNN7EXAMPLE": true, "ASIA" + "IOSFODNN7EXAMPLE": true, "AKIA" + "I44QH8DHBEXAMPLE": true,
	"wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY": true, "je7MtGbClwBF/2Zp9Utk/" + "h3yCo8nvbEXAMPLEKEY": true,
	// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
	"gho_" + "16C7e42F292c6912E7710c838347Ae178B4a": true, "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a": true,
	// https://jwt.io
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ." + "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c": true,
}

func newSecretScanner() (secretScanner, error) {
	d, err := gitleaksOnce()
	if err != nil {
		return nil, fmt.Errorf("audit: the rules for secrets: %w", err)
	}
	return gitleaks{d, maxScan}, nil
}

// A text is searched in pieces, so that an expression runs only where one of its
// words stands, and that a search can be ended. What is no longer than the overlap
// lies whole in one of them: a private key of 4096 bits takes 3.3 KiB.
const (
	pieceSize    = 16 << 10
	pieceOverlap = 4 << 10
	// pieceLead is what an expression looks at before what it names.
	pieceLead = 64
	// maxScan bounds the search of one file.
	maxScan = 30 * time.Second
)

func (g gitleaks) scan(ctx context.Context, name, src string) ([]secretHit, error) {
	gitleaksMu.Lock()
	defer gitleaksMu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, g.limit)
	defer cancel()
	shown := shownPath(name)
	named := slices.ContainsFunc(g.paths, func(p *regexp.Regexp) bool { return p.MatchString(shown) })
	var out []secretHit
	for from, owned := 0, 0; ; {
		to := lineEnd(src, from+pieceSize, pieceSize/2)
		next, until := to, to
		if to < len(src) {
			next = lineEnd(src, to-pieceOverlap, pieceOverlap/2)
			until = next + pieceLead
		}
		var hits []secretHit
		near, far := g.words.places(src[from:to])
		if far || named {
			hits = g.piece(ctx, g.whole, shown, src[from:to], 0)
		}
		for _, w := range near {
			hits = append(hits, g.piece(ctx, g.near, shown, src[from+w.from:from+w.to], w.from)...)
		}
		for id, places := range narrowed {
			for _, w := range places(src[from:to]) {
				for _, h := range g.piece(ctx, g.narrow, shown, src[from+w.from:from+w.to], w.from) {
					if h.what == id {
						hits = append(hits, h)
					}
				}
			}
		}
		slices.SortStableFunc(hits, func(a, b secretHit) int { return cmp.Or(a.offset-b.offset, strings.Compare(a.what, b.what)) })
		for _, h := range specific(hits) {
			if h.offset += from; h.offset >= owned && h.offset < until {
				out = append(out, h)
			}
		}
		if ctx.Err() != nil {
			return out, fmt.Errorf("search %s for secrets: %w", name, ctx.Err())
		}
		if to == len(src) {
			return out, nil
		}
		from, owned = next, until
	}
}

// specific leaves the hits of the generic rule out where another rule has one.
func specific(hits []secretHit) []secretHit {
	return slices.DeleteFunc(slices.Clone(hits), func(h secretHit) bool {
		return h.what == generic && slices.ContainsFunc(hits, func(o secretHit) bool {
			return o.what != generic && h.offset < o.offset+o.length && o.offset < h.offset+h.length
		})
	})
}

// generic is the rule for what only looks like a key.
const generic = "generic-api-key"

// shownPath is what gitleaks is told of a file's path. Its rules pass over files
// by name, "jquery.js" for one, and the server chooses the names of its code: of
// code gitleaks learns the extension alone.
func shownPath(p string) string {
	if isCode(p) {
		return "source" + strings.ToLower(path.Ext(p))
	}
	return p
}

// lineEnd is the end of the last line that ends in the reach before an offset, the
// offset itself where none does.
func lineEnd(src string, at, reach int) int {
	if at >= len(src) {
		return len(src)
	}
	if n := strings.LastIndexByte(src[at-reach:at], '\n'); n >= 0 {
		return at - reach + n + 1
	}
	return at
}

// piece searches one that begins at an offset.
func (g gitleaks) piece(ctx context.Context, by *detect.Detector, name, src string, at int) []secretHit {
	var out []secretHit
	var lines []int
	//nolint:staticcheck // DetectContext takes no other type before gitleaks v9
	for _, f := range by.DetectContext(ctx, detect.Fragment{Raw: src, FilePath: name}) {
		if f.RuleID == "private-key" && !secrets.HasKey([]byte(f.Match)) {
			continue // two headers with code between them
		}
		h := secretHit{what: f.RuleID, severity: finding.Critical, offset: at, length: len(f.Match)}
		switch {
		case published[f.Secret]:
			h.severity, h.published = finding.Info, true
		case carried[f.RuleID] || testMode.MatchString(f.Secret) || isIdentifier(f.Match, f.Secret):
			h.severity = finding.Low
		}
		if lines == nil {
			lines = lineStarts(src)
		}
		if f.StartLine >= 0 && f.StartLine < len(lines) {
			h.offset += lines[f.StartLine] + max(f.StartColumn-1-min(f.StartLine, 1), 0) // past the first line it counts the line's end
		}
		out = append(out, h)
	}
	return out
}

// isIdentifier reports whether what stands in front of a value names it as something that is no secret.
func isIdentifier(match, value string) bool {
	name, _, _ := strings.Cut(match, value)
	return publicName.MatchString(name)
}

// lineStarts are the byte offsets of a text's lines.
func lineStarts(src string) []int {
	out := []int{0}
	for i := range len(src) {
		if src[i] == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}
