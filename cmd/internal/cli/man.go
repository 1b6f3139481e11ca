package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// man writes the manual pages. They are made from the same texts as --help and docs/cli.md.
func (e *env) man() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use: "man", Short: "Write the manual pages", Args: exactArgs(0, "coalmine man --out DIR"),
		Long: "man writes one manual page for each command into DIR, such as coalmine-probe.1.\n" +
			"Install them below a man directory: coalmine man --out ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name a directory that can be written"}
			}
			pages := manPages(cmd.Root())
			for _, p := range pages {
				if err := os.WriteFile(filepath.Join(dir, p.name), p.text, 0o644); err != nil {
					return &sandbox.UsageError{Err: err, Hint: "name a directory that can be written"}
				}
			}
			fmt.Fprintf(e.out, "%s written to %s\n", plural(len(pages), "page"), dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "out", dir, "write the pages into this `DIR`")
	return cmd
}

// manPage is a manual page: its file name and its text in the macros of man(7).
type manPage struct {
	name string
	text []byte
}

// manPages are those of a command and of all below it.
func manPages(root *cobra.Command) []manPage {
	var out []manPage
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		out = append(out, manPage{name + ".1", manText(cmd, name)})
		for _, below := range cmd.Commands() {
			each(below)
		}
	}
	each(root)
	return out
}

func manText(cmd *cobra.Command, name string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q \"coalmine manual\"\n", strings.ToUpper(roff(name)), "coalmine")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	b.WriteString(".SH SYNOPSIS\n")
	for use := range strings.SplitSeq(cmd.UseLine(), "  |  ") {
		if !strings.HasPrefix(use, "coalmine") {
			use = "coalmine " + use
		}
		fmt.Fprintf(&b, ".PP\n%s\n", roff(use))
	}
	b.WriteString(".SH DESCRIPTION\n")
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		b.WriteString(".PP\n" + roff(paragraph) + "\n")
	}
	manCommands(&b, cmd)
	manOptions(&b, cmd)
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0 clean, 1 findings, 2 usage or configuration error, 3 inconclusive\n.SH SEE ALSO\n")
	if cmd.HasParent() {
		fmt.Fprintf(&b, "%s(1)\n", roff(strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")))
	} else {
		b.WriteString("https://github.com/coalmine\\-dev/coalmine\n")
	}
	return b.Bytes()
}

func manCommands(b *bytes.Buffer, cmd *cobra.Command) {
	title := ".SH COMMANDS\n"
	for _, below := range cmd.Commands() {
		if below.Hidden || below.Name() == "help" {
			continue
		}
		fmt.Fprintf(b, "%s.TP\n\\fB%s\\fP\n%s\n", title, roff(below.Name()), roff(below.Short))
		title = ""
	}
}

func manOptions(b *bytes.Buffer, cmd *cobra.Command) {
	title := ".SH OPTIONS\n"
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		fmt.Fprintf(b, "%s.TP\n\\fB%s\\fP", title, roff(names))
		title = ""
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fP", roff(value))
		}
		fmt.Fprintf(b, "\n%s", roff(usage))
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
			fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
		}
		b.WriteString("\n")
	})
}

// roff is a text as man(7) takes it: no line begins with a request, and hyphens can be
// copied to a shell.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\[u2026]`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
