package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// The exit statuses, as docs/exit-status.md documents them.
const (
	ExitOK           = 0
	ExitFindings     = 1
	ExitUsage        = 2
	ExitInconclusive = 3
	ExitInterrupted  = 130
)

// env is what a command may touch of the world.
type env struct {
	in       io.Reader
	out, err io.Writer
	// status is the exit status of a command that did its work.
	status int
}

// usage is an error of the command line itself.
func usage(hint, format string, a ...any) error {
	return &sandbox.UsageError{Err: fmt.Errorf(format, a...), Hint: hint}
}

// Main runs one command and returns the exit status.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	e := &env{in: in, out: out, err: errw}
	root := e.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return e.status
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		var left *run.LeftError
		if errors.As(err, &left) {
			fmt.Fprintln(errw, "error: interrupted; the sandbox still exists: "+report.Escape(left.Error(), 1000))
			fmt.Fprintln(errw, "hint: coalmine clean removes it")
			return ExitInterrupted
		}
		fmt.Fprintln(errw, "error: interrupted; coalmine removed the sandbox")
		return ExitInterrupted
	}
	return e.fail(err)
}

// fail prints an error with its hint and returns the exit status. Every text
// passes Printable: an error may quote a server or a file.
func (e *env) fail(err error) int {
	fmt.Fprintln(e.err, "error: "+report.Escape(err.Error(), 2000))
	var u *sandbox.UsageError
	if errors.As(err, &u) {
		if u.Hint != "" {
			fmt.Fprintln(e.err, "hint: "+report.Escape(u.Hint, 2000))
		}
		return ExitUsage
	}
	return ExitInconclusive
}

func (e *env) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "coalmine",
		Short: "Run an MCP server in a sandbox and report behaviour that it does not declare",
		Long: "coalmine runs an MCP server in a sandbox with decoy secrets, records its system calls and its MCP messages,\n" +
			"calls every tool, and reports behaviour that differs from what the server declares.\n\n" +
			"Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage or configuration error,\n" +
			"3 inconclusive: no finding at the threshold, but coalmine could not check everything.",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.SetVersionTemplate("coalmine {{.Version}}\n")
	root.SetFlagErrorFunc(unknownFlag)
	root.AddCommand(e.probe(), e.judge(), e.together(), e.audit(), e.targets(), e.sweep(), e.attest(), e.verify(), e.comment(), e.rules(), e.schema(), e.doctor(), e.clean(), e.prepare(), e.tap(), e.spy(), e.summarize(), e.detect(), e.report(), e.watch(), e.health(), e.serve(), e.advise(), e.gate(), e.answer(), e.replayDecisions(), e.lock(), e.baseline(), e.bundle(), e.prune(), e.tui(), e.init(), e.man(), e.version())
	completes(root)
	exemplify(root)
	return root
}

// isTerminal reports whether w is a terminal that may get colours.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("CI") == "" && os.Getenv("TERM") != "dumb"
}

// terminal reports whether w is a terminal, of any kind.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// exactArgs is cobra's check with an error and a hint of ours. The command's use line
// names the argument: "targets needs a FILE".
func exactArgs(n int, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, what, _ := strings.Cut(cmd.Use, " ")
		switch {
		case len(args) == n:
			return nil
		case n == 0:
			return usage(hint, "%s takes no arguments, got %d", cmd.Name(), len(args))
		case len(args) < n:
			return usage(hint, "%s needs a %s", cmd.Name(), what)
		}
		return usage(hint, "%s takes one %s, got %d arguments", cmd.Name(), what, len(args))
	}
}

func plural(n int, word string) string { return text.Plural(n, word) }
