package analyze_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// flowing is the audit of a server whose tool "do" puts its parameter into a command.
func flowing(t *testing.T) *audit.Report {
	t.Helper()
	dir := t.TempDir()
	src := "import os\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool()\ndef do(host: str):\n    return os.system('ping ' + host)\n"
	if err := os.WriteFile(filepath.Join(dir, "server.py"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := audit.Dir(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAuditedSaysWhatWasNotDone(t *testing.T) {
	r := flowing(t)
	for _, c := range []struct {
		failOn  finding.Severity
		verdict analyze.Verdict
		status  int
	}{{finding.High, analyze.Findings, 1}, {finding.Critical, analyze.Findings, 0}, {"", analyze.Findings, 0}} {
		res := analyze.Audited(r, time.Unix(0, 0), analyze.Options{FailOn: c.failOn})
		if res.Verdict != c.verdict || analyze.ExitStatus(res, c.failOn, false) != c.status || res.Run.Sandbox != analyze.NotRun || len(res.Coverage.Unseen) == 0 {
			t.Errorf("%q: %s, %d", c.failOn, res.Verdict, analyze.ExitStatus(res, c.failOn, false))
		}
	}
	partly := *r
	partly.Findings, partly.Skipped = nil, 1
	if res := analyze.Audited(&partly, time.Unix(0, 0), analyze.Options{}); res.Verdict != analyze.Inconclusive || analyze.ExitStatus(res, finding.High, false) != 3 {
		t.Errorf("a part that was not read: %s", res.Verdict)
	}
}

// TestTheRunConfirmsTheAudit compares a flow of the source with what the run shows.
func TestTheRunConfirmsTheAudit(t *testing.T) {
	r := flowing(t)
	for _, c := range []struct {
		called string
		want   string
	}{{"do", "did not confirm it"}, {"format_note", "did not call the tool"}} {
		l := analyzetest.New(t, nil)
		l.Begin(quiet)
		l.Call(c.called, `{}`, nil, nil)
		l.End()
		res := l.Judge(analyze.Options{Audit: r})
		i := slices.IndexFunc(res.Audit.Findings, func(f finding.Finding) bool { return f.Rule == audit.TaintCommand })
		if i < 0 {
			t.Fatalf("%+v", res.Audit.Findings)
		}
		if f := res.Audit.Findings[i]; !strings.HasSuffix(f.Message, c.want) || f.Confidence != finding.Probable {
			t.Errorf("%s called: %s, %s", c.called, f.Message, f.Confidence)
		}
	}
	if strings.Contains(r.Findings[0].Message, "the run") {
		t.Error("the audit that was given was changed")
	}
}

// A path that the caller chooses as a whole is no traversal where the tool's schema says that the parameter is a
// path, unless the tool promises to stay in a directory.
func TestDeclaredPathsAreNoTraversal(t *testing.T) {
	dir := t.TempDir()
	src := "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool()\ndef header(photo: str):\n    return open(photo).read(20)\n"
	if err := os.WriteFile(filepath.Join(dir, "server.py"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := audit.Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, photo string
		want        finding.Severity
	}{
		{"Reads the header of a picture.", "A picture, such as ~/Pictures/beach.jpg", finding.Low},
		{"Reads the header of a picture.", "A picture", finding.Medium},
		{"Reads the header of a picture within the working directory only.", "A picture, such as ./images/beach.jpg", finding.Medium},
	} {
		l := analyzetest.New(t, nil)
		l.Begin(`{"name":"header","description":"` + c.tool + `","inputSchema":{"type":"object","properties":{"photo":{"type":"string","description":"` + c.photo + `"}}}}`)
		l.Call("header", `{}`, nil, nil)
		l.End()
		res := l.Judge(analyze.Options{Audit: r})
		i := slices.IndexFunc(res.Audit.Findings, func(f finding.Finding) bool { return f.Rule == audit.TaintPath })
		if i < 0 || res.Audit.Findings[i].Severity != c.want {
			t.Errorf("%s %s: %+v", c.tool, c.photo, res.Audit.Findings)
		}
	}
}

// A credential of the environment that the source reads is a finding where nobody speaks of its service.
func TestUndeclaredCredentials(t *testing.T) {
	dir := t.TempDir()
	src := "import os\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\nstate = os.environ.get('GITHUB_TOKEN', '')\n@mcp.tool()\ndef dice() -> str:\n    return state\n"
	if err := os.WriteFile(filepath.Join(dir, "server.py"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := audit.Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for description, want := range map[string]finding.Severity{"Rolls dice.": finding.High, "Lists the issues of a GitHub repository.": finding.Info, "Needs GITHUB_TOKEN.": finding.Info} {
		l := analyzetest.New(t, nil)
		l.Begin(`{"name":"dice","description":"` + description + `"}`)
		l.Call("dice", `{}`, nil, nil)
		l.End()
		res := l.Judge(analyze.Options{Audit: r})
		i := slices.IndexFunc(res.Audit.Findings, func(f finding.Finding) bool { return f.Rule == audit.EnvCredential })
		if i < 0 || res.Audit.Findings[i].Severity != want {
			t.Errorf("%s: %+v", description, res.Audit.Findings)
		}
	}
}

// A parameter whose values the schema lists is low where attack inputs of the run did not get through.
func TestListedValuesAreNoInjection(t *testing.T) {
	r := flowing(t)
	for _, c := range []struct {
		host    string
		attacks int
		want    finding.Severity
	}{
		{`{"type":"string","enum":["a.example","b.example"]}`, 1, finding.Low},
		{`{"type":"string","enum":["a.example","b.example"]}`, 0, finding.High},
		{`{"type":"string"}`, 1, finding.High},
	} {
		l := analyzetest.New(t, nil)
		l.Begin(`{"name":"do","description":"Does it.","inputSchema":{"type":"object","properties":{"host":` + c.host + `}}}`)
		l.Call("do", `{}`, nil, nil)
		for range c.attacks {
			l.Attack("do", `{"host":"; id"}`, session.Injection{Oracle: session.OracleCommand, Token: "k3"})
		}
		l.End()
		res := l.Judge(analyze.Options{Audit: r})
		i := slices.IndexFunc(res.Audit.Findings, func(f finding.Finding) bool { return f.Rule == audit.TaintCommand })
		if i < 0 || res.Audit.Findings[i].Severity != c.want {
			t.Errorf("%s after %d attack inputs: %+v", c.host, c.attacks, res.Audit.Findings)
		}
	}
}
