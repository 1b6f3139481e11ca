package online

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
)

// Bounds of the questions to OSV: packages, packages of one question (the service takes 1,000),
// pages, and vulnerabilities whose details are asked for.
const (
	maxAsked, perQuery, maxPages, maxDetails = 5_000, 1_000, 5, 100
)

const osvService = "OSV"

// osvQuery is one of POST /v1/querybatch (google.github.io/osv.dev/post-v1-querybatch).
type osvQuery struct {
	Package osvPackage `json:"package"`
	Version string     `json:"version"`
	Page    string     `json:"page_token,omitempty"`
}

type osvPackage struct {
	Name      string `json:"name"`
	Ecosystem string `json:"ecosystem"`
}

// osvAnswer has a result for each query, in their order.
type osvAnswer struct {
	Results []struct {
		Vulns []struct {
			ID string `json:"id"`
		} `json:"vulns"`
		Next string `json:"next_page_token"`
	} `json:"results"`
}

// osvRecord is what of a record is shown (ossf.github.io/osv-schema). GitHub's records have a
// severity in words.
type osvRecord struct {
	Summary   string `json:"summary"`
	Withdrawn string `json:"withdrawn"`
	Specific  struct {
		Severity string `json:"severity"`
	} `json:"database_specific"`
	Affected []struct {
		Package osvPackage `json:"package"`
		Ranges  []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

var osvID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{2,60}$`)

// vulnerable is a package with the ids of what is known of it.
type vulnerable struct {
	audit.LockedPackage
	ids []string
}

// vulnerabilities asks OSV for the package and for all that its lockfiles name.
func (c *checker) vulnerabilities(ctx context.Context) {
	var list []*vulnerable
	seen := map[audit.LockedPackage]bool{}
	for _, p := range append([]audit.LockedPackage{c.Package}, c.Locked...) {
		key := p
		key.Path = ""
		if len(list) < maxAsked && p.Ecosystem != "" && isName(p.Name) && isVersion(p.Version) && !seen[key] {
			seen[key] = true
			list = append(list, &vulnerable{LockedPackage: p})
		}
	}
	for part := range slices.Chunk(list, perQuery) {
		if c.query(ctx, part) != nil {
			return
		}
	}
	details := 0
	for _, v := range list {
		for _, id := range v.ids {
			if details++; details > maxDetails {
				c.add(audit.VulnKnown, finding.Medium, v.Path, v.Name+" "+v.Version+" has known vulnerabilities: "+strings.Join(v.ids[:min(len(v.ids), 5)], ", "), v.Name+" "+v.Version)
				break
			}
			c.vulnerability(ctx, v, id)
		}
	}
}

// query asks for a part of the packages, page by page.
func (c *checker) query(ctx context.Context, part []*vulnerable) error {
	pages := make([]string, len(part))
	todo := part
	for range maxPages {
		queries := make([]osvQuery, len(todo))
		for i, v := range todo {
			queries[i] = osvQuery{osvPackage{v.Name, v.Ecosystem}, v.Version, pages[i]}
		}
		body, err := json.Marshal(map[string]any{"queries": queries})
		if err != nil {
			return err
		}
		var a osvAnswer
		if err := c.get(ctx, osvService, Question{URL: osv + "/v1/querybatch", Body: body, Accept: "application/json"}, &a); err != nil {
			if !slices.Contains(c.failed, osvService) {
				c.failed = append(c.failed, osvService)
			}
			return err
		}
		if len(a.Results) != len(todo) {
			c.failed = append(c.failed, osvService)
			return errMissing
		}
		var rest []*vulnerable
		var next []string
		for i, r := range a.Results {
			for _, found := range r.Vulns {
				if osvID.MatchString(found.ID) && !slices.Contains(todo[i].ids, found.ID) {
					todo[i].ids = append(todo[i].ids, found.ID)
				}
			}
			if r.Next != "" && len(r.Next) < 4096 {
				rest, next = append(rest, todo[i]), append(next, r.Next)
			}
		}
		if todo, pages = rest, next; len(todo) == 0 {
			return nil
		}
	}
	c.failed = append(c.failed, osvService+" (beyond its first pages)")
	return nil
}

// ofWords are the severities of GitHub's advisories. A malicious package is critical.
var ofWords = map[string]finding.Severity{"CRITICAL": finding.High, "HIGH": finding.High, "MODERATE": finding.Medium, "MEDIUM": finding.Medium, "LOW": finding.Low}

// vulnerability adds the finding of one.
func (c *checker) vulnerability(ctx context.Context, v *vulnerable, id string) {
	var r osvRecord
	if err := c.get(ctx, osvService, Question{URL: osv + "/v1/vulns/" + id, Accept: "application/json"}, &r); err == nil && r.Withdrawn != "" {
		return
	}
	sev, ok := ofWords[strings.ToUpper(r.Specific.Severity)]
	if !ok {
		sev = finding.Medium
	}
	if strings.HasPrefix(id, "MAL-") {
		sev = finding.Critical
	}
	what := v.Name + " " + v.Version + " has a known vulnerability, " + id
	if r.Summary != "" {
		what += ": " + r.Summary
	}
	if fixed := r.fixed(v); fixed != "" {
		what += " (fixed in " + fixed + ")"
	}
	c.add(audit.VulnKnown, sev, v.Path, what, v.Name+" "+id)
}

// fixed is the first version that a record names as mended for a package.
func (r *osvRecord) fixed(v *vulnerable) string {
	for _, a := range r.Affected {
		if a.Package.Name != v.Name {
			continue
		}
		for _, one := range a.Ranges {
			for _, e := range one.Events {
				if isVersion(e.Fixed) {
					return e.Fixed
				}
			}
		}
	}
	return ""
}
