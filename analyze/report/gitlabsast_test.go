package report

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestGitLabSAST(t *testing.T) {
	t.Parallel()
	schema := compiled(t, sastSchema)
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
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%d logs: %v", n, err)
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
