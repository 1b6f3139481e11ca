package cli

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coalmine-dev/coalmine/cmd/internal/tui"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// tuiHint names what the command shows.
const tuiHint = "name a session log, a run's directory, a report.json, a directory of these, or the socket of coalmine gate --ask"

func (e *env) tui() *cobra.Command {
	var o tui.Options
	var plain bool
	cmd := &cobra.Command{
		Use: "tui [DIR|LOG|REPORT|SOCKET]", Short: "Look into runs and sessions in a terminal",
		Long: "tui shows a session log as a stream of frames, and the directory of a run with its findings, its timeline, and what\n" +
			"each tool declares beside what it did. It lists the runs and logs of any other directory. Of the socket\n" +
			"of coalmine gate --ask it shows what the gate holds, lets through and blocks, and o, s and d decide. Press ? for the keys.\n" +
			"Without an argument, it opens coalmine-out, else the directory where taps keep their logs.\n\n" +
			"With --plain, or when input or output is not a terminal, it prints plain lines instead.\n\n" +
			"Exit status: 0, or 2 when the argument cannot be shown.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(tuiHint, "tui takes one DIR, LOG, REPORT or SOCKET, got %d arguments", len(args))
			}
			path, err := tuiPath(args)
			if err != nil {
				return err
			}
			o.Path, o.Version, o.In, o.Out = path, version(), e.in, e.out
			o.Color = os.Getenv("NO_COLOR") == ""
			show := tui.Show
			if plain || !e.hasTerminal() {
				show = tui.Plain
			}
			if err := show(cmd.Context(), o); err != nil && cmd.Context().Err() == nil {
				return &sandbox.UsageError{Err: err, Hint: tuiHint}
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&plain, "plain", false, "print plain lines, for screen readers and pipes")
	fl.BoolVarP(&o.Follow, "follow", "f", false, "with --plain, wait for more frames of a growing log")
	fl.StringVar(&o.Filter, "filter", "", "show only these frames of a log: "+tui.FilterHelp)
	return cmd
}

// tuiPath is what is named, else where runs are, else where taps keep their logs.
func tuiPath(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	if info, err := os.Stat("coalmine-out"); err == nil && info.IsDir() {
		return "coalmine-out", nil
	}
	return session.WireDir()
}

// hasTerminal reports whether a user sits at both ends of the command.
func (e *env) hasTerminal() bool {
	in, ok := e.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || os.Getenv("TERM") == "dumb" {
		return false
	}
	out, ok := e.out.(*os.File)
	return ok && term.IsTerminal(int(out.Fd()))
}
