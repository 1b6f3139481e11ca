package report

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Words are the texts that reports and logs are made of, whatever the server was:
// what stands in them cannot be taken out as somebody's secret.
func Words() string {
	out := append(session.Words(), string(Schema), pageTemplate, pageStyle)
	for _, r := range rules.All() {
		a := &r.Advice
		out = append(out, r.ID, r.Name, r.Title, r.Help, a.Why, a.Fix)
	}
	for _, g := range session.GapKinds() {
		out = append(out, g.Meaning, g.Remedy)
	}
	out = append(out, "testsuites testsuite testcase classname failure system-out skipped failures")
	return strings.Join(out, "\n")
}
