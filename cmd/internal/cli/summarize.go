package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/report"
)

func (e *env) summarize() *cobra.Command {
	f := &logFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "summarize LOG", Short: "Summarize a session: declarations, calls and errors", Args: exactArgs(1, "coalmine summarize LOG"),
		Long: "summarize prints what a session log contains: declarations, calls and errors.\n\nExit status: 0, or 2 when LOG is not a session log.",
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := e.readSummary(f, args[0])
			if err != nil {
				return err
			}
			e.printGaps(l)
			if asJSON {
				return e.printJSON(l.Summary)
			}
			e.printSummary(&l.Summary)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON in glassport's format")
	return cmd
}

// printGaps tells on stderr what of a log was not seen.
func (e *env) printGaps(l *detect.Log) {
	for _, h := range l.Gaps() {
		fmt.Fprintln(e.err, "not checked: "+report.Escape(h.Text, 400))
	}
}

func (e *env) printSummary(s *detect.Summary) {
	unknown := "unknown: no complete list was seen"
	if s.DeclarationKnown {
		unknown = "none"
	}
	failure := func(f detect.Failure) string {
		return fmt.Sprintf("seq %d “%s”", f.Seq, report.Escape(f.Message, 160))
	}
	rows := [][2]string{
		{"session", plain(s.Session)},
		{"completeness", s.Completeness},
		{"frames parsed", fmt.Sprint(s.FramesParsed)},
		{"declared", listed(s.DeclaredTools, unknown, plain)},
		{"called", listed(counted(s.CalledTools), "none", plain)},
		{"never called", listed(s.UnusedDeclared, "none", plain)},
		{"fabricated", lines(s.FabricatedCalls, "none", func(c detect.Call) string { return fmt.Sprintf("seq %d “%s”", c.Seq, plain(c.Tool)) })},
		{"protocol errors", lines(s.ProtocolErrors, "none", failure)},
		{"tool errors", lines(s.ToolErrors, "none", failure)},
		{"violations", lines(s.ContextViolations, "none", func(v detect.Violation) string {
			return fmt.Sprintf("[%d] seq %d %s: %s", v.Severity, v.Seq, plain(v.Subcategory), plain(v.Explanation))
		})},
	}
	if len(s.Effects) > 0 {
		rows = append(rows, [2]string{"did", lines(s.Effects, "", func(e detect.Effect) string { return plain(e.String()) })})
	}
	for _, l := range rows {
		fmt.Fprintf(e.out, "%-16s %s\n", l[0]+":", l[1])
	}
}
