package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/monitor"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/tracing"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// sweepFlags are the flags of coalmine sweep as they were given.
type sweepFlags struct {
	probeFlags
	registry, filter, shard, dir, store string
	queue, credentials, ca              string
	// metrics is where a worker answers, "" for nowhere.
	metrics string
	// traces is the collector's address, "" for that of OpenTelemetry's variables.
	traces                  string
	replicas, workers, most int
	// maxRuns and maxTime are the budget of the whole sweep, 0 for none.
	maxRuns int
	maxTime time.Duration
	// logFormat is auto, text or json; log is nil for text.
	logFormat string
	log       *slog.Logger
	// elsewhere leaves the work to other processes.
	elsewhere                         bool
	perTarget, maxAge, pause, silence time.Duration
}

const defaultStore = "coalmine-sweep"

func (e *env) sweep() *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use: "sweep [flags] --registry SOURCE", Short: "Probe the servers of a registry, each version once",
		Long: "sweep lists an MCP registry (its URL), npm's search (npm:KEYWORD) or a file of targets, and probes each server.\n" +
			"What is unchanged since the last sweep is not run again; under newer rules it is judged again from its kept\n" +
			"run. A sweep that was ended goes on where it was. Results are in a SQLite database below --store.",
		Args: exactArgs(0, "coalmine sweep --registry SOURCE"),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.runSweep(cmd, f) },
	}
	f.define(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.registry, "registry", "", "list this `SOURCE`: the URL of an MCP registry, npm:KEYWORD, or a file")
	fl.StringVar(&f.filter, "filter", "", "take only targets with this `TEXT` in their names")
	fl.StringVar(&f.shard, "shard", "", "take only part `I/N` of the list, such as 1/4")
	fl.StringVar(&f.store, "store", defaultStore, "keep results and runs in this `DIR`, or results in a PostgreSQL database by its URL")
	fl.StringVar(&f.dir, "runs", "", "keep runs in this `DIR` (default: --store, or "+defaultStore+" where that is a database)")
	fl.DurationVar(&f.maxAge, "max-age", 30*24*time.Hour, "run unchanged targets again after this time, since what they depend on may have changed (0: never)")
	fl.DurationVar(&f.pause, "pause", 200*time.Millisecond, "least time between two requests to a registry")
	fl.IntVar(&f.maxRuns, "max-jobs", 0, "probe at most this many servers; the next sweep goes on there (0: all)")
	fl.DurationVar(&f.maxTime, "max-time", 0, "end the sweep after this time; the next one goes on there (0: never)")
	fl.IntVar(&f.replicas, "replicas", 1, "with --queue: keep each message on this many nodes")
	fl.DurationVar(&f.silence, "silence", time.Minute, "give a job to another worker after this time without a sign of life from its own")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print no progress")
	fl.BoolVar(&f.elsewhere, "elsewhere", false, "with --queue: probe nothing in this process")
	cmd.AddCommand(e.sweepWork(), e.sweepReport(), e.sweepDiff(), e.sweepDead(), e.sweepStop())
	return cmd
}

// define adds the flags that a sweep and a worker share.
func (f *sweepFlags) define(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.defineQueue(cmd, "hand the work to workers through these NATS `ADDRESSES` (default: in this process)")
	fl.IntVar(&f.workers, "workers", 0, "probe this many servers at once (default: one for each processor, as far as the free memory reaches)")
	fl.StringVar(&f.metrics, "metrics", "", "answer /metrics, /healthz and /readyz on this `ADDRESS` (:9464 is loopback's)")
	fl.StringVar(&f.logFormat, "log", "auto", "print what happens as text or json (auto: text on a terminal, json elsewhere)")
	fl.StringVar(&f.traces, "traces", "", "send traces to the OTLP/HTTP collector at this `URL` (default: $OTEL_EXPORTER_OTLP_ENDPOINT)")
	fl.DurationVar(&f.perTarget, "per-target", time.Hour, "give up a target after this time")
	fl.StringVar(&f.Sandbox, "sandbox", "auto", "where servers run: auto, docker or local")
	fl.StringVar(&f.Tracer, "tracer", "auto", "how system calls are recorded, as for coalmine probe")
	fl.StringVar(&f.seed, "seed", "1", "draw all inputs from the seed `N`")
	fl.StringVar(&f.budget, "budget", plan.BudgetQuick, "how much to try: quick, nightly, or a duration such as 10m")
	fl.IntVar(&f.Calls, "calls", plan.DefaultCalls, "how often to call each tool")
	fl.DurationVar(&f.timeout, "timeout", plan.DefaultTimeout, "time limit of each run")
	fl.DurationVar(&f.callOut, "call-timeout", plan.DefaultCallTimeout, "time limit of each call")
	fl.StringVar(&f.failOn, "fail-on", "high", "exit 1 at this severity: critical, high, medium, low, info or never")
	fl.StringVar(&f.policy.file, "policy", "", "apply this policy `FILE` (coalmine.yaml)")
	fl.StringArrayVar(&f.rules, "rules", nil, rulesUsage)
}

// defineQueue adds the flags that say where the queue is.
func (f *sweepFlags) defineQueue(cmd *cobra.Command, use string) {
	fl := cmd.Flags()
	fl.StringVar(&f.queue, "queue", "", use)
	fl.StringVar(&f.credentials, "queue-credentials", "", "with --queue: NATS credentials `FILE`")
	fl.StringVar(&f.ca, "queue-ca", "", "with --queue: trust the certificates of this `FILE`")
}

// ready checks the flags and reads the files that they name.
func (f *sweepFlags) ready(cmd *cobra.Command) error {
	f.Network, f.Transport, f.format = plan.NetworkSinkhole, plan.TransportAuto, []string{"text"}
	if err := f.spend(cmd.Flags().Changed); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.workers < 0 || f.perTarget <= 0 || f.maxRuns < 0 || f.maxTime < 0 {
		return usage("omit them for the defaults", "--workers, --per-target, --max-jobs and --max-time must be positive")
	}
	if f.elsewhere && f.queue == "" {
		return usage("--queue nats://HOST:4222", "--elsewhere needs --queue")
	}
	o := f.Options
	o.Jobs, o.Limits = 0, plan.DefaultLimits
	f.share(probe.Slots(cmd.Context(), &o))
	if err := f.readPolicy(cmd.Context()); err != nil {
		return err
	}
	return f.readRules(cmd.Context())
}

// share divides the sandboxes that can run at once among the workers.
func (f *sweepFlags) share(atOnce int) {
	if f.workers == 0 {
		f.workers = atOnce
	}
	f.Jobs = max(1, atOnce/f.workers)
}

// runsDir sets where runs are kept.
func (f *sweepFlags) runsDir() {
	switch {
	case f.dir != "":
	case store.IsURL(f.store):
		f.dir = defaultStore
	default:
		f.dir = f.store
	}
}

// digests are those of what a judgement depends on, and of what a run does.
func (f *sweepFlags) digests() (rules, settings string, err error) {
	program, err := programHash()
	if err != nil {
		return "", "", err
	}
	var policy []byte
	if f.policy.file != "" {
		if policy, err = readBounded(f.policy.file, maxConfig); err != nil {
			return "", "", err
		}
	}
	rules = digestOf(version(), program, string(policy), f.PolicyRules, f.Rules, f.failOn)
	settings = digestOf(f.Sandbox, f.Tracer, f.Seed, f.budget, f.Calls, f.timeout, f.callOut, f.Vary)
	return rules, settings, nil
}

// inputs puts the files of this sweep in the place of those that a kept run was judged by.
func (f *sweepFlags) inputs() (func(*analyze.Inputs), error) {
	var policy *analyze.File
	if f.policy.file != "" {
		data, err := readBounded(f.policy.file, maxConfig)
		if err != nil {
			return nil, err
		}
		policy = &analyze.File{Name: f.policy.file, Text: string(data)}
	}
	return func(in *analyze.Inputs) {
		in.Policy, in.PolicyRules, in.Rules, in.FailOn = policy, f.PolicyRules, f.Rules, f.FailOn
	}, nil
}

func digestOf(parts ...any) string {
	data, _ := json.Marshal(parts) // texts and numbers
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// programHash is that of this program, whose rules judge.
func programHash() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// queueOptions say where the queue of the flags is.
func (f *sweepFlags) queueOptions() queue.Options {
	return queue.Options{Dir: filepath.Join(f.dir, "queue"), URL: f.queue, Credentials: f.credentials, CA: f.ca, Replicas: f.replicas}
}

// openQueue opens the queue of the flags, the embedded one in the store's directory.
func (f *sweepFlags) openQueue(ctx context.Context, settings string, worker bool) (*queue.Queue, error) {
	o := f.queueOptions()
	o.AckWait, o.Settings, o.Worker = f.silence, settings, worker
	q, err := queue.Open(ctx, o)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "end the other sweep of this store, or check --queue and its credentials"}
	}
	return q, nil
}

func (e *env) runSweep(cmd *cobra.Command, f *sweepFlags) (err error) {
	ctx := cmd.Context()
	if f.registry == "" {
		return usage("coalmine sweep --registry https://registry.modelcontextprotocol.io", "sweep needs a --registry")
	}
	if err := listing.Check(f.registry); err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a file with a target a line, the address of an MCP registry, or npm:KEYWORD"}
	}
	if err := f.ready(cmd); err != nil {
		return err
	}
	if err := f.openLog(e.err); err != nil {
		return err
	}
	f.runsDir()
	if err := f.refuseLinks(); err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(f.dir, "work"), 0o700); err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a --store or --runs that can be written"}
	}
	if o.Store, err = store.Open(ctx, f.store); err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name another --store"}
	}
	defer func() { err = errors.Join(err, o.Store.Close()) }()
	if o.Queue, err = f.openQueue(ctx, o.Settings+o.Rules, false); err != nil {
		return err
	}
	defer o.Queue.Close()
	p := &sweepProgress{start: time.Now()}
	if !f.quiet && f.log == nil {
		p.progress = e.newProgress()
	}
	if !f.elsewhere {
		o.Workers = f.worker(o.Queue, filepath.Join(f.dir, "work"), p.begin)
	}
	tracer, end, err := e.observed(f, o.Queue, o.Workers)
	if err != nil {
		return err
	}
	defer func() { _ = end() }()
	o.Tracer, o.Progress, o.Log = tracer, p.count, f.log
	p.tell("listing " + f.registry)
	done, counts, status, err := sweep.Run(ctx, o)
	p.clear()
	if err != nil {
		return hintStopped(err)
	}
	e.status = status
	e.sweepDone(f, done, counts)
	return nil
}

// refuseLinks is an error where something of a sweep would be written through a link.
func (f *sweepFlags) refuseLinks() error {
	for _, dir := range []string{f.dir, filepath.Join(f.dir, "work"), filepath.Join(f.dir, "queue"), filepath.Join(f.dir, "runs"), filepath.Join(f.dir, "pages"), filepath.Join(f.dir, store.File)} {
		if err := probe.RefuseLink(dir, "--store"); err != nil {
			return err
		}
	}
	return nil
}

// options are those of a sweep as far as the flags say them.
func (f *sweepFlags) options() (o sweep.Options, err error) {
	o = sweep.Options{Source: f.registry, Filter: f.filter, Dir: f.dir, MaxAge: f.maxAge, MaxRuns: f.maxRuns, MaxTime: f.maxTime, Pause: f.pause, Version: version(), Hash: f.filesHash}
	o.Exit = func(res *analyze.Result) int { return analyze.ExitStatus(res, f.FailOn, false) }
	if o.Shard, o.Shards, err = parseShard(f.shard); err != nil {
		return o, err
	}
	if o.Rules, o.Settings, err = f.digests(); err != nil {
		return o, err
	}
	o.Inputs, err = f.inputs()
	return o, err
}

// sweepDone says what a sweep came to.
func (e *env) sweepDone(f *sweepFlags, done *store.Sweep, p sweep.Progress) {
	for _, line := range done.Refused {
		f.say(e.err, "not taken: "+line)
	}
	if done.Incomplete != "" {
		f.say(e.err, "the list is not complete: "+done.Incomplete)
	}
	fmt.Fprintf(e.out, "sweep %d: %d jobs, %d run, %d judged again, %d unchanged, %d failed\n", done.ID, p.Jobs, p.Run, p.Judged, p.Skipped, p.Failed)
	if p.Left > 0 {
		fmt.Fprintf(e.out, "%d jobs were not reached within --max-jobs or --max-time: the same coalmine sweep goes on there\n", p.Left)
		return
	}
	fmt.Fprintf(e.out, "coalmine sweep report --store %s shows the results\n", quoteWord(store.Shown(f.store)))
}

// parseShard reads "I/N".
func parseShard(text string) (shard, shards int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	a, b, ok := strings.Cut(text, "/")
	shard, errA := strconv.Atoi(a)
	shards, errB := strconv.Atoi(b)
	if !ok || errA != nil || errB != nil || shard < 1 || shard > shards {
		return 0, 0, usage("such as --shard 1/4", "--shard %s is not a part such as 1/4", text)
	}
	return shard, shards, nil
}

// worker makes runs as the flags say.
func (f *sweepFlags) worker(q *queue.Queue, dir string, begin func(string)) *sweep.Worker {
	return &sweep.Worker{Queue: q, Jobs: f.workers, Dir: dir, Budget: f.perTarget, Begin: begin, Probe: f.probeTarget, Most: f.most, Log: f.log}
}

// monitored has a worker counted, where there is one here, and answers on the address of --metrics until stop.
func (e *env) monitored(f *sweepFlags, q *queue.Queue, w *sweep.Worker) (stop func() error, err error) {
	if f.metrics == "" {
		return func() error { return nil }, nil
	}
	jobs := 0
	if w != nil {
		jobs = w.Jobs
	}
	m := monitor.New(q, version(), jobs)
	if w != nil {
		begin := w.Begin
		w.Begin = func(name string) {
			m.Began()
			if begin != nil {
				begin(name)
			}
		}
		w.End = m.Ended
	}
	at, stop, err := m.Serve(f.metrics)
	if err != nil {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("--metrics: %w", err), Hint: "name a free address such as --metrics :9464"}
	}
	f.say(e.err, "metrics: http://"+at+"/metrics")
	return stop, nil
}

// observed has the work of a worker, nil for none here, traced and counted as the flags say, until end.
func (e *env) observed(f *sweepFlags, q *queue.Queue, w *sweep.Worker) (t trace.Tracer, end func() error, err error) {
	t, flush, err := tracing.Open(tracing.Options{Endpoint: f.traces, Version: version(), Say: func(line string) { f.say(e.err, line) }})
	if err != nil {
		return nil, nil, &sandbox.UsageError{Err: err, Hint: "name a collector, such as --traces http://127.0.0.1:4318"}
	}
	if w != nil {
		w.Tracer = t
	}
	stop, err := e.monitored(f, q, w)
	if err != nil {
		flush()
		return nil, nil, err
	}
	return t, func() error {
		err := stop()
		flush()
		return err
	}, nil
}

// probeTarget probes a target of a list.
func (f *sweepFlags) probeTarget(ctx context.Context, t listing.Target, out string) (string, int, error) {
	o := f.Options
	o.Env, o.Name, o.Out = t.Env, t.Name, out
	// What the list names is meant, not a checkout of that name around the working directory.
	o, err := f.target(o, t.Words, os.DevNull)
	if err != nil {
		return "", 0, err
	}
	if o.Package == nil && len(o.Command) > 0 {
		if _, err := exec.LookPath(o.Command[0]); err != nil {
			return "", 0, fmt.Errorf("%s is not installed here", o.Command[0])
		}
	}
	got, err := probe.Run(ctx, o)
	if err != nil {
		return "", 0, err
	}
	return got.Dir, analyze.ExitStatus(got.Result, o.FailOn, false), nil
}

// The bounds on the files of a command that are hashed.
const (
	maxHashed      = 50_000
	maxHashedBytes = 1 << 30
)

// filesHash is that of all files that a run of a command would show the server, "" where
// there are too many of them.
func (f *sweepFlags) filesHash(words []string) string {
	o, err := f.target(f.Options, words, os.DevNull)
	if err != nil {
		return ""
	}
	h := sha256.New()
	files, left := 0, int64(maxHashedBytes)
	for _, top := range plan.Reads(o) {
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			if files > maxHashed || !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0 {
				return errors.New("too many files, or no file")
			}
			if d.Type()&fs.ModeSymlink != 0 {
				to, err := os.Readlink(name)
				fmt.Fprintf(h, "%q -> %q\n", name, to)
				return err
			}
			data, err := os.Open(name)
			if err != nil {
				return err
			}
			defer data.Close()
			fmt.Fprintf(h, "%q\n", name)
			n, err := io.Copy(h, io.LimitReader(data, left+1))
			if left -= n; left < 0 {
				return errors.New("too large")
			}
			return err
		})
		if err != nil {
			return ""
		}
	}
	if files == 0 {
		return ""
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
