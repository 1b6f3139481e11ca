package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// placed is a result of a SARIF log of ours, as systems for reviews show it.
type placed struct {
	target, rule, title, message, fingerprint string
	severity                                  finding.Severity
	path                                      string
	line, column                              int
}

// placedIn reads SARIF logs that this package wrote: their texts are bounded and act on
// nobody, and their places are those of the configuration.
func placedIn(logs []json.RawMessage) ([]placed, error) {
	var out []placed
	for _, log := range logs {
		var doc struct {
			Runs []struct {
				AutomationDetails struct{ ID string }
				Tool              struct {
					Driver struct {
						Rules []struct {
							ID               string
							ShortDescription struct{ Text string }
						}
					}
				}
				Results []struct {
					RuleID              string
					Message             struct{ Text string }
					PartialFingerprints map[string]string
					Properties          struct{ Severity finding.Severity }
					Locations           []struct {
						PhysicalLocation struct {
							ArtifactLocation struct{ URI string }
							Region           struct{ StartLine, StartColumn int }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(log, &doc); err != nil {
			return nil, fmt.Errorf("read the SARIF of a server: %w", err)
		}
		for _, run := range doc.Runs {
			titles := map[string]string{}
			for _, r := range run.Tool.Driver.Rules {
				titles[r.ID] = r.ShortDescription.Text
			}
			for _, r := range run.Results {
				p := placed{target: run.AutomationDetails.ID, rule: r.RuleID, title: titles[r.RuleID], message: r.Message.Text, fingerprint: r.PartialFingerprints[githubFingerprint], severity: r.Properties.Severity, line: 1}
				if len(r.Locations) > 0 {
					at := r.Locations[0].PhysicalLocation
					p.path, p.line, p.column = at.ArtifactLocation.URI, max(at.Region.StartLine, 1), at.Region.StartColumn
					if name, err := url.PathUnescape(p.path); err == nil {
						p.path = name
					}
				}
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b placed) int { return cmp.Compare(b.severity.Rank(), a.severity.Rank()) })
	return out, nil
}

// forMessage and forProperty escape texts of workflow commands: @actions/core,
// packages/core/src/command.ts.
var (
	forMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	forProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotations writes the results of SARIF logs of ours as workflow commands of GitHub
// Actions, the worst first: a line each, which a runner shows at the configuration's lines.
// Source: docs.github.com, "Workflow commands for GitHub Actions".
func Annotations(w io.Writer, logs ...json.RawMessage) error {
	list, err := placedIn(logs)
	if err != nil {
		return err
	}
	for _, p := range list {
		command := "error"
		switch p.severity {
		case finding.Medium:
			command = "warning"
		case finding.Low, finding.Info:
			command = "notice"
		}
		at := fmt.Sprintf("file=%s,line=%d", forProperty.Replace(p.path), p.line)
		if p.column > 0 {
			at += fmt.Sprintf(",col=%d", p.column)
		}
		if _, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", command, at, forProperty.Replace(p.rule+" "+p.title), forMessage.Replace(p.message)); err != nil {
			return err
		}
	}
	return nil
}

// qualities are GitLab's words for severities.
var qualities = map[finding.Severity]string{finding.Critical: "blocker", finding.High: "critical", finding.Medium: "major", finding.Low: "minor", finding.Info: "info"}

// CodeQuality writes the results of SARIF logs of ours as GitLab's Code Quality report.
// GitLab shows one entry for a fingerprint, so that of a finding has its server too.
// Source: docs.gitlab.com, "Code Quality report format".
func CodeQuality(w io.Writer, logs ...json.RawMessage) error {
	type entry struct {
		Description string `json:"description"`
		CheckName   string `json:"check_name"`
		Fingerprint string `json:"fingerprint"`
		Severity    string `json:"severity"`
		Location    struct {
			Path  string `json:"path"`
			Lines struct {
				Begin int `json:"begin"`
			} `json:"lines"`
		} `json:"location"`
	}
	list, err := placedIn(logs)
	if err != nil {
		return err
	}
	out := []entry{}
	for _, p := range list {
		sum := sha256.Sum256([]byte(p.target + "\x00" + p.rule + "\x00" + p.fingerprint))
		e := entry{Description: p.message, CheckName: p.rule, Fingerprint: hex.EncodeToString(sum[:16]), Severity: qualities[p.severity]}
		e.Location.Path, e.Location.Lines.Begin = p.path, p.line
		out = append(out, e)
	}
	return Encode(w, out)
}
