package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	watching "github.com/coalmine-dev/coalmine/cmd/internal/spy"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/spy"
)

// spyFlags are those that need reading.
type spyFlags struct {
	watching.Options
	rotate, buffer, runAs string
}

func (e *env) spy() *cobra.Command {
	f := &spyFlags{}
	cmd := &cobra.Command{
		Use: "spy [flags]", Short: "Watch the MCP conversations of this machine, without a wrapper",
		Long: "spy watches every MCP conversation of this machine with eBPF: pipes, unix sockets and HTTP between any two processes, with\n" +
			"--tls also HTTP over TLS.\n" +
			"No client and no server has to be changed. It prints a line for each message, or JSON lines. It needs CAP_BPF and\n" +
			"CAP_PERFMON, and drops root once it watches. Of a filter that is given, one side of a conversation must match.\n\n" +
			"Exit status: 0, or with --detect or --effects 1 for an observation above information; 3 when something was lost; 2 when the\n" +
			"machine or the user lacks something.",
		Args: exactArgs(0, "coalmine spy --help lists the flags"),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.runSpy(cmd, f) },
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&f.PIDs, "pid", nil, "watch only the process `PID` and all that it starts")
	fl.StringSliceVar(&f.Comms, "comm", nil, "show only conversations of this `COMMAND`")
	fl.StringSliceVar(&f.Containers, "container", nil, "show only conversations of this container `ID`")
	fl.StringSliceVar(&f.Users, "user", nil, "show only conversations of this `USER`")
	fl.StringSliceVar(&f.Exclude, "exclude", nil, "leave out conversations of this `COMMAND`")
	fl.DurationVar(&f.Duration, "duration", 0, "stop after this `TIME`, such as 10m (default: until interrupted)")
	fl.StringVar(&f.Dir, "out", "", "write a session log of each conversation to `DIR`")
	fl.StringVar(&f.rotate, "rotate", "256MB", "with --out: start a new file at this `SIZE`")
	fl.StringVar(&f.Format, "format", watching.Console, "console or jsonl")
	fl.StringVar(&f.Redact, "redact", watching.RedactAuto, "replace secrets and personal data: auto (on a terminal), always (in all output) or never")
	fl.BoolVar(&f.Detect, "detect", false, "judge the messages as coalmine detect does, while they cross")
	fl.BoolVar(&f.Effects, "effects", false, "also tell which files, programs and connections servers use, and judge that by the rules of a probe")
	fl.BoolVar(&f.AnyAddress, "any-address", false, "also follow HTTP with other machines")
	fl.BoolVar(&f.TLS, "tls", false, "also read HTTP over TLS, of programs on this machine, before it is encrypted (probes in OpenSSL, BoringSSL, GnuTLS and Go)")
	fl.StringVar(&f.buffer, "buffer", "64MB", "`SIZE` of the buffer between the kernel and coalmine")
	fl.StringVar(&f.runAs, "run-as", "", "become this `USER` after the start (default: who called sudo, else who owns --out and --pid, else nobody)")
	fl.BoolVar(&f.KeepRoot, "keep-root", false, "keep all privileges after the start")
	return cmd
}

func (e *env) runSpy(cmd *cobra.Command, f *spyFlags) error {
	o := &f.Options
	if !slices.Contains([]string{watching.Console, watching.JSONL}, o.Format) {
		return usage("use console or jsonl", "unknown --format %s", o.Format)
	}
	if !slices.Contains([]string{watching.RedactAuto, watching.RedactAlways, watching.RedactNever}, o.Redact) {
		return usage("use auto, always or never", "unknown --redact %s", o.Redact)
	}
	for _, pid := range o.PIDs {
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); pid <= 0 || err != nil {
			return usage("name a process that runs", "--pid %d: there is no such process", pid)
		}
	}
	var err error
	if o.Rotate, err = parseSize(f.rotate); err != nil {
		return usage("use a size such as 64MB", "--rotate: %w", err)
	}
	ring, err := parseSize(f.buffer)
	if err != nil || ring < 1<<16 || ring > 1<<30 {
		return usage("use a size from 64KB to 1GB, such as 64MB", "--buffer %s", f.buffer)
	}
	for o.Ring = 1 << 16; int64(o.Ring) < ring; o.Ring *= 2 { // the kernel takes powers of two
	}
	as, why, err := becomes(f.runAs, o.Dir, o.PIDs)
	if err != nil {
		return err
	}
	o.UID, o.GID = as.uid, as.gid
	o.Out, o.Color, o.Terminal, o.SayTerminal = e.out, isTerminal(e.out), terminal(e.out), terminal(e.err)
	o.Say = func(line string) { fmt.Fprintln(e.err, "coalmine spy: "+report.Escape(line, 2000)) }
	o.Ready = func() { o.Say("watching; interrupt it to stop") }
	if why != "" && !o.KeepRoot {
		o.Say("stays root without its capabilities: " + why + "; --run-as USER names another user")
	}
	got, err := watching.Run(cmd.Context(), *o)
	var need *spy.NeedError
	switch {
	case errors.As(err, &need):
		return &sandbox.UsageError{Err: err, Hint: need.Hint}
	case err != nil:
		return err
	case got.Found:
		e.status = ExitFindings
	case !got.Complete():
		e.status = ExitInconclusive
	}
	return nil
}
