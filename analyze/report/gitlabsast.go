package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// gitlabSchema is the version of GitLab's schema of security reports that GitLabSAST follows.
const gitlabSchema = "15.0.7"

// gitlabSeverities are GitLab's words for severities in security reports.
var gitlabSeverities = map[finding.Severity]string{finding.Critical: "Critical", finding.High: "High", finding.Medium: "Medium", finding.Low: "Low", finding.Info: "Info"}

// The members of a security report that are set.
type (
	gitlabReport struct {
		Schema          string                `json:"schema"`
		Version         string                `json:"version"`
		Scan            gitlabScan            `json:"scan"`
		Vulnerabilities []gitlabVulnerability `json:"vulnerabilities"`
	}
	gitlabScan struct {
		Analyzer gitlabTool `json:"analyzer"`
		Scanner  gitlabTool `json:"scanner"`
		Type     string     `json:"type"`
		Start    string     `json:"start_time"`
		End      string     `json:"end_time"`
		Status   string     `json:"status"`
	}
	gitlabTool struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		URL     string `json:"url"`
		Version string `json:"version"`
		Vendor  struct {
			Name string `json:"name"`
		} `json:"vendor"`
	}
	gitlabVulnerability struct {
		ID          string             `json:"id"`
		Name        string             `json:"name"`
		Description string             `json:"description"`
		Severity    string             `json:"severity"`
		Location    gitlabLocation     `json:"location"`
		Identifiers []gitlabIdentifier `json:"identifiers"`
	}
	gitlabLocation struct {
		File  string `json:"file"`
		Start int    `json:"start_line"`
	}
	gitlabIdentifier struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Value string `json:"value"`
		URL   string `json:"url,omitempty"`
	}
)

// Scan says when a report's runs were made, and by which version of coalmine.
type Scan struct {
	Version       string
	Started, Done time.Time
}

// Add widens the time to that of another run.
func (s *Scan) Add(version string, started, done time.Time) {
	s.Version = version
	if s.Started.IsZero() || started.Before(s.Started) {
		s.Started = started
	}
	if done.After(s.Done) {
		s.Done = done
	}
}

// gitlabTime is the form of a time in security reports, in UTC and without a zone.
const gitlabTime = "2006-01-02T15:04:05"

// GitLabSAST writes the results of SARIF logs of ours as GitLab's security report of static
// tests, the only kind that places a finding in a file of the repository.
// Source: docs.gitlab.com, "Security scanner integration"; the schema sast-report-format.json.
func GitLabSAST(w io.Writer, s Scan, logs ...json.RawMessage) error {
	list, err := placedIn(logs)
	if err != nil {
		return err
	}
	tool := gitlabTool{ID: "coalmine", Name: "coalmine", URL: informationURI, Version: cmp.Or(s.Version, "devel")}
	tool.Vendor.Name = "coalmine"
	doc := gitlabReport{
		Schema: "https://gitlab.com/gitlab-org/security-products/security-report-schemas/-/raw/v" + gitlabSchema + "/dist/sast-report-format.json", Version: gitlabSchema,
		Scan:            gitlabScan{Analyzer: tool, Scanner: tool, Type: "sast", Start: s.Started.UTC().Format(gitlabTime), End: s.Done.UTC().Format(gitlabTime), Status: "success"},
		Vulnerabilities: []gitlabVulnerability{},
	}
	for _, p := range list {
		sum := sha256.Sum256([]byte(p.target + "\x00" + p.rule + "\x00" + p.fingerprint))
		doc.Vulnerabilities = append(doc.Vulnerabilities, gitlabVulnerability{
			ID: hex.EncodeToString(sum[:16]), Name: cut(cmp.Or(p.title, p.rule), 255), Description: p.message, Severity: gitlabSeverities[p.severity],
			Location: gitlabLocation{File: p.path, Start: p.line},
			// The first identifier is what GitLab tells findings of one line apart by.
			Identifiers: []gitlabIdentifier{
				{Type: "coalmine_fingerprint", Name: p.rule + " " + hex.EncodeToString(sum[:4]), Value: hex.EncodeToString(sum[:16])},
				{Type: "coalmine_rule", Name: p.rule, Value: p.rule},
			},
		})
	}
	return Encode(w, doc)
}

// cut bounds a text, in characters.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
