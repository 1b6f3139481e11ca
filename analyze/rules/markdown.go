package rules

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// Markdown is a rule's documentation: what coalmine rules, the SARIF help and
// the rules' README are made of.
func Markdown(r *finding.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n**%s** · %s", r.ID, r.Title, r.Severity)
	for _, ref := range append(append([]string(nil), r.CWE...), r.OWASP...) {
		fmt.Fprintf(&b, " · %s", ref)
	}
	if a := &r.Advice; a.Fix != "" {
		fmt.Fprintf(&b, " · %s", a.Tier())
	}
	fmt.Fprintf(&b, "\n\n%s%s\n", r.Help, AdviceMarkdown(r))
	return b.String()
}

// AdviceMarkdown is the advice for a rule as the end of its help, "" where there is none.
func AdviceMarkdown(r *finding.Rule) string {
	a := &r.Advice
	if a.Fix == "" {
		return ""
	}
	return "\n\n**Why it matters.** " + a.Why + "\n\n**Fix.** " + a.Fix
}

// README documents the rules given, in their order.
func README(rs []finding.Rule) string {
	var b strings.Builder
	b.WriteString("# Rules\n\nMade from the rules themselves by `make generate`; a test fails where it differs.\n")
	for _, r := range rs {
		b.WriteString("\n" + Markdown(&r))
	}
	return b.String()
}

// Page documents one rule as a page of its own.
func Page(r *finding.Rule) string {
	return strings.Replace(Markdown(r), "## ", "# ", 1)
}

// Index lists the pages of the rules given, in their order.
func Index(rs []finding.Rule) string {
	var b strings.Builder
	b.WriteString("# Rules\n\nMade from the rules themselves by `make generate`; a test fails where it differs.\n\n" +
		"A change of a stable rule that affects a verdict stands in [changes](../changes.md). A preview rule may still change its severity and scope.\n\n" +
		"| rule | title | severity | tier |\n|---|---|---|---|\n")
	for _, r := range rs {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Title, r.Severity, r.Advice.Tier())
	}
	return b.String()
}
