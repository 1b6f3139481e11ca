package online

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit"
)

// Asker answers one question at a public address. It bounds the answer and the time. An answer
// of the service, whatever its status, is no error.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is a GET, or a POST where Body is set.
type Question struct {
	URL    string
	Body   []byte
	Accept string
}

// Answer is a status of HTTP with a body.
type Answer struct {
	Status int
	Body   []byte
}

// Subject is what is asked about.
type Subject struct {
	// Package is the server's own, with an empty Name where it is not published.
	Package audit.LockedPackage
	// File is the name of the archive at PyPI, "" for any.
	File string
	// Repository is the address that its manifest names, "" for none.
	Repository string
	// Locked are the packages that its lockfiles name.
	Locked []audit.LockedPackage
	// Now and Recent decide what was published lately.
	Now    time.Time
	Recent time.Duration
}

// The addresses of the services.
const (
	npmRegistry = "https://registry.npmjs.org"
	pypi        = "https://pypi.org"
	osv         = "https://api.osv.dev"
)

// stale is the age of a package's latest version from which on nobody seems to care for it.
const stale = 730 * 24 * time.Hour

// checker is one check under way.
type checker struct {
	Subject
	ask Asker
	out []finding.Finding
	// failed are the services that did not answer, each once.
	failed []string
}

// Check asks all questions about a subject. What could not be asked is a finding too, of the
// rule prov-unavailable. Its error is that of the context.
func Check(ctx context.Context, ask Asker, s Subject) ([]finding.Finding, error) {
	c := &checker{Subject: s, ask: ask}
	if isName(s.Package.Name) && isVersion(s.Package.Version) {
		switch s.Package.Ecosystem {
		case audit.NPM:
			c.npm(ctx)
		case audit.PyPI:
			c.pypi(ctx)
		}
	}
	c.vulnerabilities(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, name := range c.failed {
		c.add(audit.ProvUnavailable, finding.Info, "", name+" gave no readable answer, so its result is unknown", name)
	}
	slices.SortStableFunc(c.out, func(a, b finding.Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	return c.out, nil
}

// What names and versions look like that are asked about: nothing else leaves this machine.
var (
	names    = regexp.MustCompile(`^(?:@[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w./-]*$`)
	versions = regexp.MustCompile(`^v?[0-9][\w.+!-]*$`)
)

func isName(s string) bool {
	return len(s) <= 214 && names.MatchString(s) && !strings.Contains(s, "..")
}
func isVersion(s string) bool { return len(s) <= 100 && versions.MatchString(s) }

// errMissing says that a service knows nothing of what it was asked.
var errMissing = errors.New("not found")

// get asks and reads an answer of JSON. A service that fails is noted.
func (c *checker) get(ctx context.Context, service string, q Question, to any) error {
	a, err := c.ask.Ask(ctx, q)
	switch {
	case err != nil:
	case a.Status == 404 || a.Status == 410:
		return errMissing
	case a.Status != 200:
		err = fmt.Errorf("status %d", a.Status)
	default:
		err = json.Unmarshal(a.Body, to)
	}
	if err != nil && !slices.Contains(c.failed, service) {
		c.failed = append(c.failed, service)
	}
	return err
}

func (c *checker) add(rule string, sev finding.Severity, p, message, identity string) {
	title := rule
	for _, r := range audit.Rules() {
		if r.ID == rule {
			title = r.Title
		}
	}
	if p == "" {
		p = manifests[c.Package.Ecosystem]
	}
	at := &finding.Location{Path: text.Printable(p, 400), Line: 1, Column: 1}
	message = text.Printable(message, 400)
	c.out = append(c.out, finding.Finding{
		Rule: rule, Severity: sev, Title: title, Message: message, Phase: finding.PhaseStatic, Location: at, Confidence: finding.Probable,
		Evidence:    []finding.Evidence{{Source: "source", Text: message, Location: at}},
		Fingerprint: finding.Fingerprint(rule, c.Package.Ecosystem, c.Package.Name, identity),
	})
}

// manifests are the files that name a package, by its ecosystem.
var manifests = map[string]string{audit.NPM: "package.json", audit.PyPI: "pyproject.toml", audit.Go: "go.mod", audit.Crates: "Cargo.toml", "": "."}

// dates judges when a version and the latest one were published; a zero time is unknown.
func (c *checker) dates(version, latest time.Time) {
	if age := c.Now.Sub(version); !version.IsZero() && age >= 0 && age < c.Recent {
		c.add(audit.ProvRecent, finding.Low, "", fmt.Sprintf("version %s was published %d days ago: few have looked at it yet", c.Package.Version, int(age.Hours()/24)), c.Package.Version)
	}
	if age := c.Now.Sub(latest); !latest.IsZero() && age > stale {
		c.add(audit.ProvStale, finding.Low, "", fmt.Sprintf("the latest version was published %d days ago", int(age.Hours()/24)), "")
	}
}

// repositoryOf is the owner and name of a repository's address, in lower case, "" for none.
func repositoryOf(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	for _, prefix := range []string{"git+", "https://", "http://", "ssh://", "git://", "git@", "github:"} {
		address = strings.TrimPrefix(address, prefix)
	}
	address = strings.Replace(address, "github.com:", "github.com/", 1)
	address, _, _ = strings.Cut(address, "#")
	address = strings.TrimSuffix(strings.Trim(address, "/"), ".git")
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(address, "www."), "github.com/"), "/")
	if len(parts) < 2 || strings.Contains(parts[0], ".") {
		return ""
	}
	return parts[0] + "/" + parts[1]
}

// built judges the repository that a provenance names.
func (c *checker) built(from string) {
	stated, built := repositoryOf(c.Repository), repositoryOf(from)
	if stated != "" && built != "" && stated != built {
		c.add(audit.ProvRepository, finding.Medium, "", "the provenance says that it was built from "+built+", and its manifest names "+stated, built)
	}
}
