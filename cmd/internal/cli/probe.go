package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/since"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth"
)

// probeFlags are the flags of coalmine probe as they were given.
type probeFlags struct {
	plan.Options
	config, server   string
	bin              string
	bad              []error // entries of config that could not be read
	seed             string
	replay, budget   string
	replies          string
	format           []string
	printer          *printer
	failOn           string
	allowIncomplete  bool
	timeout, callOut time.Duration
	policy           policyFlags
	rules            []string // files of the user's own rules, and directories of such
	dummies          []string
	// baseline is a file of what is known; changedSince is a ref, and base the merge
	// base with it, nil without one.
	baseline, changedSince string
	base                   *since.Base
	// entries are the configuration's servers.
	entries []config.Server
	// textJudge is the user's own program, as one line.
	textJudge string
	// dryRun prints what would be run and shown, and starts nothing.
	dryRun bool
}

func (e *env) probe() *cobra.Command {
	f := &probeFlags{}
	cmd := &cobra.Command{
		Use:   "probe [flags] -- COMMAND…  |  probe [flags] npm:NAME@V|pypi:NAME==V|oci:IMAGE|DIR [-- ARG…]  |  probe [flags] --config FILE [--server NAME]",
		Short: "Probe one server, or the servers of a client's configuration",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.spend(cmd.Flags().Changed); err != nil {
				return err
			}
			return e.runProbe(cmd, f, args)
		},
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false)
	fl.StringVar(&f.config, "config", "", "an MCP client's configuration `FILE` that names the servers")
	fl.StringVar(&f.server, "server", "", "only the server of this `NAME` in --config")
	fl.StringVar(&f.bin, "bin", "", "of a package with several programs the one of this `NAME`")
	fl.BoolVar(&f.NoBuild, "no-build", false, "leave out the scripts that installing a package would run (never clean where there are any)")
	fl.StringVar(&f.Sandbox, "sandbox", "auto", "auto, docker, local, or inplace: the container that coalmine runs in")
	fl.StringVar(&f.Image, "image", "", "docker: the `IMAGE` to run in (default coalmine)")
	fl.StringVar(&f.Runtime, "runtime", "", "docker: the container `RUNTIME`, such as runsc")
	fl.BoolVar(&f.AllowUserNS, "allow-userns", false, "let the server make user namespaces, which the sandboxes of browsers and bubblewrap need (more of the kernel is in its reach)")
	fl.StringVar(&f.Tracer, "tracer", "auto", "auto, ebpf (from outside: the server cannot tell; auto prefers it where it is allowed), strace, both (one run each, compared) or none (never clean)")
	fl.StringVar(&f.Network, "network", plan.NetworkSinkhole, "sinkhole (everything answers and nothing leaves), loopback (that answers too), refuse, none, or allow=`HOST,…`: these hosts are really reached")
	fl.StringVar(&f.replies, "replies", "", "HTTP answers of your own by host and path, from this YAML `FILE`")
	fl.StringVar(&f.Transport, "transport", "auto", "auto (stdio), stdio, http or sse: the server opens a port inside the sandbox")
	fl.StringSliceVar(&f.PassEnv, "pass-env", nil, "give the server the real value of this variable (redacted in every file)")
	fl.StringArrayVar(&f.dummies, "env", nil, "give the server this value, `NAME=VALUE`, that is no secret: a dummy for a key that it needs")
	fl.StringVar(&f.seed, "seed", "", "the `N` from which all inputs are drawn (default drawn anew)")
	fl.StringVar(&f.budget, "budget", plan.BudgetQuick, "quick, nightly, or a duration such as 10m: how much is tried; --calls and --timeout go before it")
	fl.IntVar(&f.Calls, "calls", plan.DefaultCalls, "calls of each tool")
	fl.DurationVar(&f.timeout, "timeout", plan.DefaultTimeout, "for the whole run")
	fl.DurationVar(&f.callOut, "call-timeout", plan.DefaultCallTimeout, "for each call")
	fl.IntVar(&f.Jobs, "jobs", 0, "at most `N` sandboxes of this server at once (default one for each processor)")
	fl.StringVar(&f.Out, "out", plan.DefaultOut, "the `DIR` below which the run's files are written")
	fl.StringSliceVar(&f.format, "format", []string{"text"}, formatUsage)
	fl.StringVar(&f.policy.file, "policy", "", "a `FILE` (coalmine.yaml) of what the server may do, and of findings that somebody answers for")
	fl.StringVar(&f.policy.emit, "emit-policy", "", "write the least policy under which the run would have been quiet to this new `FILE`")
	fl.StringArrayVar(&f.rules, "rules", nil, rulesUsage)
	fl.StringSliceVar(&f.Vary, "vary", nil, "run again under changed conditions, and say what comes with one only: client, ci, clock, locale, canaries, secrets")
	fl.StringVar(&f.baseline, "baseline", "", "a `FILE` of coalmine baseline: only findings that are not in it decide")
	fl.StringVar(&f.textJudge, "text-judge", "", "have a program of your own judge what the server says: `CMD` is started on this machine, without a shell, and reads and writes lines of JSON")
	fl.StringVar(&f.changedSince, "changed-since", "", "probe only servers that differ from the merge base with this `REF`, by its policy and baseline")
	fl.StringVar(&f.failOn, "fail-on", "high", "critical, high, medium, low, info or never")
	fl.StringArrayVar(&f.Show, "show", nil, "show the server this `PATH` of the host, which git does not track or which lies outside of --config's repository")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print what would be run and what of the host it would be shown, and start nothing (a package is fetched)")
	fl.StringVar(&f.replay, "replay", "", "make only the calls of this `FILE`, as a finding names it; exit 1 where they show the finding again")
	fl.BoolVar(&f.allowIncomplete, "allow-inconclusive", false, "exit 0 where not everything could be looked at")
	return cmd
}

// check turns the flags into Options, or says which is wrong.
func (f *probeFlags) check() (err error) {
	f.Timeout, f.CallTimeout, f.Version = f.timeout, f.callOut, version()
	if f.FailOn, err = threshold(f.failOn); err != nil {
		return err
	}
	for _, c := range []struct {
		name, value string
		known       []string
	}{
		{"--sandbox", f.Sandbox, []string{"auto", "docker", "local", "inplace"}}, {"--tracer", f.Tracer, []string{"auto", "ebpf", "strace", "both", "none"}},
		{"--transport", f.Transport, []string{"auto", plan.TransportStdio, plan.TransportHTTP, plan.TransportSSE}},
	} {
		if !slices.Contains(c.known, c.value) {
			return usage(strings.Join(c.known, ", "), "%s %s is not known", c.name, c.value)
		}
	}
	if err := plan.CheckNetwork(f.Network); err != nil {
		return err
	}
	if err := experiment.CheckVary(f.Vary); err != nil {
		return err
	}
	if len(f.Vary) > 0 && f.replay != "" {
		return usage("leave out one of them", "--vary makes all calls again, and --replay only some")
	}
	if _, err := (&env{}).newPrinter(f.format, false); err != nil {
		return err
	}
	if f.Jobs < 0 {
		return usage("a whole number, such as --jobs 2", "--jobs %d is not a number of sandboxes", f.Jobs)
	}
	if f.Calls < 1 || f.timeout <= 0 || f.callOut <= 0 {
		return usage("leave them out for the defaults", "--calls, --timeout and --call-timeout must be above zero")
	}
	if f.replay != "" {
		if err := f.readReplay(); err != nil {
			return err
		}
	}
	if f.textJudge != "" {
		if f.TextJudge = strings.Fields(f.textJudge); len(f.TextJudge) == 0 {
			return usage("such as --text-judge \"python3 judge.py\"", "--text-judge names no program")
		}
	}
	f.Seed = time.Now().UnixNano() & 0xffffffff
	if f.seed != "" {
		n, err := strconv.ParseInt(f.seed, 10, 64)
		if err != nil {
			return usage("a whole number, such as --seed 1", "--seed %s is no number", f.seed)
		}
		f.Seed = n
	}
	return nil
}

// spend takes over a budget where no flag says more exactly.
func (f *probeFlags) spend(given func(flag string) bool) error {
	b, err := plan.ParseBudget(f.budget)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "--budget quick, --budget nightly, or such as --budget 10m"}
	}
	f.OracleTime, f.ShrinkTime = b.OracleTime, b.ShrinkTime
	if !given("calls") {
		f.Calls = b.Calls
	}
	if !given("timeout") {
		f.timeout = b.Timeout
	}
	return nil
}

// readReplay reads the file of --replay.
func (f *probeFlags) readReplay() error {
	const hint = "name a replay-N.json of an earlier run's directory"
	data, err := readBounded(f.replay, maxConfig)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: hint}
	}
	if f.Replay, err = synth.DecodeReplay(data); err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("%s: %w", f.replay, err), Hint: hint}
	}
	return nil
}

// replayStatus is 1 where a replay showed its finding, 3 where it was not made.
func replayStatus(got *probe.Outcome, r *synth.Replay) int {
	switch {
	case got.Result.Shows(r.Fingerprint):
		return ExitFindings
	case !got.Replayed():
		return ExitInconclusive
	}
	return ExitOK
}

// readReplies reads the user's own answers of HTTP.
func (f *probeFlags) readReplies(ctx context.Context) error {
	if f.replies == "" {
		return nil
	}
	hint := "a list \"replies\" of host, path, method, status, headers and body"
	data, ok, err := f.judgedBy(ctx, "replies", f.replies)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: hint}
	}
	if !ok {
		return nil
	}
	if f.Replies, err = sinkhole.ParseReplies(f.replies, data); err != nil {
		return &sandbox.UsageError{Err: err, Hint: hint}
	}
	return nil
}

// readBounded reads a file of at most so many bytes.
func readBounded(name string, limit int64) ([]byte, error) {
	fh, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer fh.Close()
	data, err := io.ReadAll(io.LimitReader(fh, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is longer than %d bytes", name, limit)
	}
	return data, err
}

func (e *env) runProbe(cmd *cobra.Command, f *probeFlags, args []string) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if err := f.openBase(cmd.Context()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.closeBase()) }()
	if err := f.readReplies(cmd.Context()); err != nil {
		return err
	}
	if err := f.readPolicy(cmd.Context()); err != nil {
		return err
	}
	if err := f.readRules(cmd.Context()); err != nil {
		return err
	}
	if err := f.readDummies(); err != nil {
		return err
	}
	if err := f.readBaseline(cmd.Context()); err != nil {
		return err
	}
	if e.terminalProgress() {
		f.Progress = func(line string) { fmt.Fprintf(e.err, "\r\x1b[K%s", report.Escape(line, 100)) }
	}
	runs, err := f.runs(args)
	if err != nil {
		return err
	}
	if f.policy.emit != "" && len(runs) > 1 {
		return usage("name one of them with --server NAME", "--emit-policy is for one server, and these are %d", len(runs))
	}
	if runs, err = e.unchanged(cmd.Context(), f, runs); err != nil {
		return err
	}
	probeOne := e.one
	if f.dryRun {
		probeOne = e.dryRun
	}
	if f.printer, err = e.newPrinter(f.format, len(runs) > 1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.printer.finish()) }()
	worst := e.badEntries(f.bad)
	for _, o := range runs {
		status, err := probeOne(cmd.Context(), o, f)
		if err != nil {
			if len(runs) == 1 || cmd.Context().Err() != nil {
				return err
			}
			// One server that cannot be probed must not hide the others.
			fmt.Fprintln(e.err, "in "+report.Escape(o.Name, 100)+":")
			status = e.fail(err)
		}
		worst = worse(worst, status)
	}
	e.status = worse(worst, e.stale(f))
	return nil
}

// worse joins the statuses of several servers: 1, else 3, else 2, else 0.
func worse(a, b int) int {
	for _, s := range []int{ExitFindings, ExitInconclusive, ExitUsage} {
		if a == s || b == s {
			return s
		}
	}
	return ExitOK
}

func (e *env) terminalProgress() bool { return isTerminal(e.err) }

// runs lists what is to be probed: the command, or a configuration's servers.
func (f *probeFlags) runs(args []string) ([]plan.Options, error) {
	if f.config == "" {
		if f.server != "" {
			return nil, usage("coalmine probe --config FILE --server NAME", "--server needs --config")
		}
		if len(args) == 0 {
			return nil, usage("coalmine probe -- COMMAND…", "no command to probe")
		}
		if len(args) == 1 && (strings.HasPrefix(args[0], "https://") || strings.HasPrefix(args[0], "http://")) {
			return nil, remote("the server at that address", args[0])
		}
		o, err := f.target(f.Options, args, "")
		return []plan.Options{o}, err
	}
	if len(args) > 0 {
		return nil, usage("leave out one of them", "both --config and a command were given")
	}
	servers, bad, err := readConfig(f.config)
	if err != nil {
		return nil, err
	}
	f.bad, f.entries = bad, servers
	if f.server != "" {
		s, err := config.FromArg(servers, f.server)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "coalmine targets " + f.config + " lists them"}
		}
		servers, f.bad = []config.Server{s}, nil
	}
	var out []plan.Options
	names := map[string]string{} // by the directory of a server's files
	for _, s := range servers {
		dir := report.Slug(s.Name)
		if other, taken := names[dir]; taken {
			f.bad = append(f.bad, fmt.Errorf("%s:%d: server %q would write its files over those of %q, in %s", f.config, s.Line, s.Name, other, dir))
			continue
		}
		names[dir] = s.Name
		if len(s.Command) == 0 {
			return nil, remote(fmt.Sprintf("server %q", s.Name), s.URL)
		}
		o := f.Options
		o.Env, o.Name, o.Sandboxed = s.Env, s.Name, s.Sandbox
		o.Location = &finding.Location{Path: f.config, Line: s.Line, Column: s.Column}
		o.Within = confines(f.config)
		if o, err = f.target(o, s.Command, f.config); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// one probes one server, prints what was asked for, and returns the status.
func (e *env) one(ctx context.Context, o plan.Options, f *probeFlags) (int, error) {
	got, err := probe.Run(ctx, o)
	if e.terminalProgress() {
		fmt.Fprint(e.err, "\r\x1b[K")
	}
	if err != nil {
		return 0, err
	}
	if got.Why != "" && f.printer.shows("text") {
		fmt.Fprintln(e.err, "sandbox: "+report.Escape(got.Why, 300))
	}
	if err := f.printer.add(got.Result, got.Dir, got.Redactor); err != nil {
		return 0, err
	}
	if err := f.policed(got.Result, got.Redactor); err != nil {
		return 0, err
	}
	if o.Replay != nil {
		return replayStatus(got, o.Replay), nil
	}
	return analyze.ExitStatus(got.Result, o.FailOn, f.allowIncomplete), nil
}
