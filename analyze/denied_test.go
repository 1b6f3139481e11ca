package analyze_test

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
)

// What the policy denies is never ordinary, wherever it lies; the same without that line is.
func TestWhatIsDeniedIsNeverOrdinary(t *testing.T) {
	for _, c := range []struct{ deny, path, flags string }{
		{"read:$WORKSPACE/private/**", analyzetest.Workspace + "/private/plan.md", "O_RDONLY"},
		{"/etc/passwd", "/etc/passwd", "O_RDONLY"},
		{"/usr/share/secrets/**", "/usr/share/secrets/a", "O_RDONLY"},
		{"/tmp/**", "/tmp/x", "O_WRONLY|O_CREAT"},
		{"~/.cache/**", analyzetest.Home + "/.cache/x", "O_WRONLY|O_CREAT"},
		{"$SERVER/**", analyzetest.ServerDir + "/state", "O_RDONLY"},
	} {
		l := analyzetest.New(t, nil)
		l.Begin(analyzetest.Note)
		l.Call("format_note", `{}`, func() { l.Open(c.path, c.flags, "") }, nil)
		l.End()
		l.Close()
		for _, denies := range []bool{false, true} {
			text := "tools: {format_note: {}}\n"
			if denies {
				text += "server: {deny: {files: ['" + c.deny + "']}}\n"
			}
			p, err := policy.Parse("coalmine.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			res := l.Judge(analyze.Options{Policy: p})
			found := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Rule == "CM208" && f.Severity == finding.High })
			if found != denies {
				t.Errorf("%s, denied %v: found %v", c.path, denies, found)
			}
		}
	}
}
