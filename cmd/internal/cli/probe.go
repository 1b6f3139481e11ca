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
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/since"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth"
)

// probeFlags are the flags of coalmine probe as they were given.
type probeFlags struct {
	plan.Options
	config, server string
	cwd            string
	remote         remoteFlags
	bin            string
	bad            []error // entries of config that could not be read
	seed           string
	replay, budget string
	replies        string
	format         []string
	// done are the directories of the servers that were probed so far.
	done             []string
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
	quiet, verbose         bool
	// progress is told each step, nil for none.
	progress *progress
	// lock is a file of declarations.
	lock string
	// verdicts are those of earlier runs that may stand for one.
	verdicts verdictFlags
	base     *since.Base
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
		Use:   "probe [flags] -- COMMAND…  |  probe [flags] npm:NAME@V|pypi:NAME==V|oci:IMAGE|DIR [-- ARG…]  |  probe [flags] --config FILE [--server NAME]  |  probe [flags] --url URL",
		Short: "Probe one server, or the servers of a client's configuration",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return e.runProbe(cmd, f, args)
		},
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false)
	fl.StringVar(&f.config, "config", "", "probe the servers in this MCP client configuration `FILE`")
	fl.StringVar(&f.server, "server", "", "probe only the server with this `NAME` in --config")
	fl.StringVar(&f.remote.url, "url", "", "probe the remote server at this `URL` without a sandbox: messages, HTTP, TLS and authorization (never clean)")
	fl.StringArrayVar(&f.remote.headers, "header-env", nil, "--url: send the value of an environment variable as a header, `HEADER=NAME`")
	fl.StringArrayVar(&f.remote.calls, "call", nil, "--url: call this tool with this JSON object, `NAME=JSON` (can be given several times)")
	fl.BoolVar(&f.remote.readOnly, "call-read-only", false, "--url: call each tool that is annotated read-only once, with an ordinary input")
	fl.StringVar(&f.cwd, "cwd", "", "start the server in this `DIR` of its project, and read relative arguments from there")
	fl.StringVar(&f.bin, "bin", "", "run the program with this `NAME` of a package with several programs")
	fl.StringVar(&f.AsOf, "as-of", "", "take a package's dependencies as they were then: a date such as 2025-03-31, release or today (default: today, and release where the server does not start so)")
	fl.BoolVar(&f.NoBuild, "no-build", false, "skip the package's install scripts (a package with scripts is then never clean)")
	fl.BoolVar(&f.Offline, "offline", false, "ask no registry: take packages from the cache, where coalmine prepare --load puts them")
	fl.StringVar(&f.Sandbox, "sandbox", "auto", "where the server runs: auto, docker, local, or inplace (the container that coalmine runs in)")
	fl.StringVar(&f.Image, "image", "", "docker: run the server in this `IMAGE` (default coalmine)")
	fl.StringVar(&f.Runtime, "runtime", "", "docker: use this container `RUNTIME`, such as runsc")
	fl.BoolVar(&f.AllowUserNS, "allow-userns", false, "let the server create user namespaces, as browsers and bubblewrap do (this exposes more of the kernel)")
	fl.StringVar(&f.Tracer, "tracer", "auto", "how system calls are recorded: auto, ebpf (invisible to the server), strace, both (compares one run each) or none (never clean)")
	fl.BoolVar(&f.NoTLSProbes, "no-tls-probes", false, "ebpf: do not read TLS before it is encrypted, since a server that looks at its own memory can see the probes")
	fl.StringVar(&f.Network, "network", plan.NetworkSinkhole, "sinkhole (answers everything, nothing leaves), loopback (sinkhole on loopback ports too), refuse, none, or allow=`HOST,…` (connects to these real hosts)")
	fl.StringSliceVar(&f.Services, "service", nil, "run this real service beside the server: postgres, mariadb or redis (can be given several times)")
	fl.StringVar(&f.ServiceImage, "service-image", "", "docker: run the services in this `IMAGE` (default coalmine-services)")
	fl.StringVar(&f.replies, "replies", "", "answer HTTP requests as this YAML `FILE` says, by host and path")
	fl.StringVar(&f.Transport, "transport", "auto", "MCP transport: stdio, http or sse (the server opens a port inside the sandbox), or auto: stdio, and http where the server only listens on a port")
	fl.StringSliceVar(&f.PassEnv, "pass-env", nil, "pass the real value of this variable to the server (redacted in every file)")
	fl.StringArrayVar(&f.dummies, "env", nil, "pass `NAME=VALUE` to the server: a dummy value, never a secret")
	fl.StringVar(&f.seed, "seed", "", "draw all inputs from the seed `N` (default: random)")
	fl.StringVar(&f.budget, "budget", plan.BudgetQuick, "how much to try: quick, nightly, or a duration such as 10m (--calls and --timeout override it)")
	fl.IntVar(&f.Calls, "calls", plan.DefaultCalls, "how often to call each tool")
	fl.DurationVar(&f.timeout, "timeout", plan.DefaultTimeout, "time limit of the whole run; a build before it has at least 5m")
	fl.DurationVar(&f.callOut, "call-timeout", plan.DefaultCallTimeout, "time limit of each call")
	fl.IntVar(&f.Jobs, "jobs", 0, "run at most `N` sandboxes at once (default: one for each processor)")
	fl.StringVar(&f.Out, "out", plan.DefaultOut, "write the run's files below `DIR`")
	fl.StringSliceVar(&f.format, "format", []string{"text"}, formatUsage)
	fl.StringVar(&f.policy.file, "policy", "", "apply this policy `FILE` (coalmine.yaml): allowed effects and suppressed findings")
	fl.StringVar(&f.policy.emit, "emit-policy", "", "write the smallest policy that allows everything the run did to this new `FILE`")
	fl.StringArrayVar(&f.rules, "rules", nil, rulesUsage)
	fl.StringSliceVar(&f.Vary, "vary", nil, "run again under changed conditions and report what depends on one: client, ci, clock, locale, canaries, secrets, network")
	fl.StringVar(&f.baseline, "baseline", "", "fail only on findings that are not in this baseline `FILE`")
	fl.StringVar(&f.Since, "since", "", "report what the server declares or does differently than in the earlier probe in `DIR`")
	fl.StringVar(&f.lock, "lock", "", "report declarations that differ from this `FILE` of coalmine lock")
	fl.StringVar(&f.textJudge, "text-judge", "", "let your own program `CMD` judge what the server says (runs on this machine without a shell; reads and writes lines of JSON)")
	fl.StringVar(&f.changedSince, "changed-since", "", "probe only servers that differ from the merge base with `REF`, with its policy and baseline")
	fl.StringVar(&f.verdicts.store, "verdicts", "", "take a clean verdict that was signed for the same content, in this `DIR|FILE|URL` of coalmine attest, in place of a run")
	fl.StringArrayVar(&f.verdicts.keys, "verdicts-key", nil, "with --verdicts: trust the public ed25519 keys in this `FILE` (can be given several times)")
	fl.StringVar(&f.failOn, "fail-on", "high", "exit 1 at this severity: critical, high, medium, low, info or never")
	fl.StringArrayVar(&f.Show, "show", nil, "make this host `PATH` visible to the server, although git does not track it or it is outside the repository of --config")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the command and the host files that the server would see, and start nothing (fetches a package)")
	fl.StringVar(&f.replay, "replay", "", "make only the calls of this `FILE` (replay-N.json; exit 1 when they reproduce the finding), or all calls of the run in this directory")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print one line for each server, and no progress (--format says otherwise)")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print each step on standard error, also where that is not a terminal")
	fl.BoolVar(&f.allowIncomplete, "allow-inconclusive", false, "exit 0 when the verdict is inconclusive")
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
		{"--transport", f.Transport, []string{plan.TransportAuto, plan.TransportStdio, plan.TransportHTTP, plan.TransportSSE}},
	} {
		if !slices.Contains(c.known, c.value) {
			return usage("use one of: "+strings.Join(c.known, ", "), "unknown %s %s", c.name, c.value)
		}
	}
	if err := plan.CheckNetwork(f.Network); err != nil {
		return err
	}
	if f.Policy != nil {
		for _, s := range f.Policy.Services {
			f.Services = append(f.Services, s.Text)
		}
	}
	if f.Services, err = plan.CheckServices(f.Services, f.Network); err != nil {
		return err
	}
	if err := experiment.CheckVary(f.Vary); err != nil {
		return err
	}
	if len(f.Vary) > 0 && f.replay != "" {
		return usage("remove one of them", "--vary and --replay exclude each other")
	}
	if _, err := (&env{}).newPrinter(f.format, false); err != nil {
		return err
	}
	if f.quiet && f.verbose {
		return usage("remove one of them", "--quiet and --verbose exclude each other")
	}
	if f.Jobs < 0 {
		return usage("use a positive number such as --jobs 2", "invalid --jobs %d", f.Jobs)
	}
	if f.Calls < 1 || f.timeout <= 0 || f.callOut <= 0 {
		return usage("omit them for the defaults", "--calls, --timeout and --call-timeout must be positive")
	}
	if f.replay != "" {
		if err := f.readReplay(); err != nil {
			return err
		}
	}
	if f.textJudge != "" {
		if f.TextJudge = strings.Fields(f.textJudge); len(f.TextJudge) == 0 {
			return usage("for example --text-judge \"python3 judge.py\"", "--text-judge needs a program")
		}
	}
	f.Seed = time.Now().UnixNano() & 0xffffffff
	if f.seed != "" {
		n, err := strconv.ParseInt(f.seed, 10, 64)
		if err != nil {
			return usage("use a whole number such as --seed 1", "--seed %s is not a number", f.seed)
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
	const hint = "name an earlier run's directory, or a replay-N.json in it"
	if info, err := os.Stat(f.replay); err == nil && info.IsDir() {
		if err := f.readRecorded(); err != nil {
			return &sandbox.UsageError{Err: fmt.Errorf("%s: %w", f.replay, err), Hint: hint}
		}
		return nil
	}
	data, err := readBounded(f.replay, maxConfig)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: hint}
	}
	if f.Replay, err = synth.DecodeReplay(data); err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("%s: %w", f.replay, err), Hint: hint}
	}
	return nil
}

// readRecorded takes all calls of an earlier run, and its seed where no other is given: the
// workspace is drawn from it.
func (f *probeFlags) readRecorded() error {
	dir, err := os.OpenRoot(f.replay)
	if err != nil {
		return err
	}
	defer dir.Close()
	log, err := session.Open(dir)
	if err != nil {
		return err
	}
	if f.seed == "" {
		f.seed = strconv.FormatInt(log.Header.Seed, 10)
	}
	f.Replay, err = synth.Recorded(log)
	return err
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
	hint := "a list \"replies\" of host, path, query, method, status, headers and body"
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

// runProbe probes each target that the arguments and the flags name.
func (e *env) runProbe(cmd *cobra.Command, f *probeFlags, args []string) (err error) {
	if err := f.openBase(cmd.Context()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.closeBase()) }()
	if err := f.read(cmd); err != nil {
		return err
	}
	e.follow(f)
	if f.quiet && !cmd.Flags().Changed("format") {
		f.format = []string{"line"}
	}
	if f.config == "" && f.server == "" && len(args) == 0 {
		e.wouldProbe()
	}
	runs, err := f.runs(args)
	if err != nil {
		return err
	}
	if f.lock != "" && len(runs) > 1 {
		return usage("choose one with --server NAME", "--lock needs exactly one server, got %d", len(runs))
	}
	if f.policy.emit != "" && len(runs) > 1 {
		return usage("choose one with --server NAME", "--emit-policy needs exactly one server, got %d", len(runs))
	}
	all := len(runs)
	if runs, err = e.unchanged(cmd.Context(), f, runs); err != nil {
		return err
	}
	if all > 0 && len(runs) == 0 {
		fmt.Fprintf(e.err, "nothing to probe: no server differs from the merge base with %s\n", report.Clean(f.changedSince, 100))
	}
	if f.printer, err = e.newPrinter(f.format, len(runs) > 1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.printer.finish()) }()
	return e.probeAll(cmd.Context(), f, runs)
}

// read takes in the files that the flags name, and checks what depends on them.
func (f *probeFlags) read(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if err := f.readPolicy(ctx); err != nil {
		return err
	}
	if err := fromPolicy(cmd.Flags(), f.Policy); err != nil {
		return err
	}
	if err := f.spend(cmd.Flags().Changed); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	for _, from := range []func(context.Context) error{
		f.readReplies, f.readRules, func(context.Context) error { return f.readDummies() }, f.readBaseline, f.readLock, f.readVerdicts,
	} {
		if err := from(ctx); err != nil {
			return err
		}
	}
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

// follow says how each step is told: not at all, each on a line of its own, or as progress.
func (e *env) follow(f *probeFlags) {
	switch {
	case f.verbose:
		// Several servers may be probed at once.
		f.Progress = probe.OneAtATime(func(line string) { fmt.Fprintln(e.err, report.Escape(line, 400)) })
	case !f.quiet:
		f.progress = e.newProgress()
		f.Progress = f.progress.tell
	}
}

// progressOf tells the steps of a server, one of so many, with its name where the line does not show it; nil for none.
func (f *probeFlags) progressOf(name string, servers int) func(line string) {
	tell := f.Progress
	if tell == nil || servers == 1 && !f.progress.stays() {
		return tell
	}
	return func(line string) { tell(name + ": " + line) }
}

// say prints what was asked for of a server that was probed, and returns the status.
func (e *env) say(got *probe.Outcome, o plan.Options, f *probeFlags) (int, error) {
	if got.Why != "" && f.printer.shows("text") {
		fmt.Fprintln(e.err, "sandbox: "+report.Escape(got.Why, 300))
	}
	if err := f.printer.add(got.Result, got.Dir, got.Redactor); err != nil {
		return 0, err
	}
	if err := f.policed(got.Result, got.Redactor); err != nil {
		return 0, err
	}
	if o.Replay != nil && o.Replay.Fingerprint != "" {
		return replayStatus(got, o.Replay), nil
	}
	f.done = append(f.done, got.Dir)
	return analyze.ExitStatus(got.Result, o.FailOn, f.allowIncomplete), nil
}
