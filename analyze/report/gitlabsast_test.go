package report

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// gitlabSchemas are what security reports have to be: the constraints of GitLab's schema on the
// members that are written, and the schema itself where COALMINE_GITLAB_SCHEMA names its file.
func gitlabSchemas(t *testing.T) []*jsonschema.Schema {
	t.Helper()
	var out []*jsonschema.Schema
	for _, name := range []string{"testdata/gitlab-sast.schema.json", os.Getenv("COALMINE_GITLAB_SCHEMA")} {
		if name == "" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		doc, err := jsonschema.UnmarshalJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("https://example.org/schema.json", doc); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("https://example.org/schema.json")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestGitLabSAST(t *testing.T) {
	t.Parallel()
	schemas := gitlabSchemas(t)
	var scan Scan
	started := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	scan.Add("1.2.3", started.Add(time.Hour), started.Add(2*time.Hour))
	scan.Add("1.2.3", started, started.Add(time.Minute))
	var logs []json.RawMessage
	for _, target := range []string{"one", "two"} {
		res := sample("evil\n\x1b[31m")
		res.Run.Target = target
		var b bytes.Buffer
		if err := SARIF(&b, res, SARIFOptions{Default: At(".mcp.json")}); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, b.Bytes())
	}
	for n := range len(logs) + 1 {
		var b bytes.Buffer
		if err := GitLabSAST(&b, scan, logs[:n]...); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range schemas {
			if err := s.Validate(doc); err != nil {
				t.Errorf("%d logs: %v", n, err)
			}
		}
		var got gitlabReport
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, v := range got.Vulnerabilities {
			if seen[v.ID] || seen[v.Identifiers[0].Value] || v.Severity == "" || v.Location.File == "" || v.Location.Start < 1 {
				t.Errorf("%+v", v)
			}
			seen[v.ID] = true
		}
		if (len(got.Vulnerabilities) > 0) != (n > 0) || got.Scan.Start != "2026-01-02T02:04:05" || got.Scan.End != "2026-01-02T04:04:05" {
			t.Errorf("%d logs: %d findings, %+v", n, len(got.Vulnerabilities), got.Scan)
		}
	}
	if err := GitLabSAST(&bytes.Buffer{}, scan, json.RawMessage(`7`)); err == nil {
		t.Error("what is no SARIF is read")
	}
	if got := cut("äöü", 2); got != "ä…" {
		t.Errorf("cut to %q", got)
	}
}
