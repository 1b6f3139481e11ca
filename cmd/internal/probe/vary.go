package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/synth"
)

const (
	// varyDir holds the logs of the runs under a condition, below the run's directory.
	varyDir = "vary"
	// varyRounds is how often a condition that seems to matter is tried, in turn with
	// unchanged surroundings: what comes by chance in half of all runs passes for a
	// difference once in 256.
	varyRounds = 4
	// fastIdle is how long a server is watched on a fast clock after its last call,
	// and fastRate how much faster that clock is: an hour and forty minutes for ten seconds.
	fastIdle = 10 * time.Second
	fastRate = 600
	// later is how far the clock is moved.
	later = "+400d"
)

// condition is one change of a server's surroundings.
type condition struct {
	vary   session.Vary
	change func(*plan) error
}

// conditions are the values of each factor of --vary.
var conditions = []condition{
	{session.Vary{Factor: "client", How: "for the client cursor-vscode"}, asClient("cursor-vscode", "1.0.0")},
	{session.Vary{Factor: "client", How: "for the client Visual Studio Code"}, asClient("Visual Studio Code", "1.104.0")},
	{session.Vary{Factor: "ci", How: "with CI=true"}, variables("CI=true", "GITHUB_ACTIONS=true")},
	{session.Vary{Factor: "clock", How: "with the clock 400 days ahead"}, clock(later)},
	{session.Vary{Factor: "clock", How: fmt.Sprintf("left alone with a clock %d times as fast", fastRate), Added: true}, leftAlone},
	{session.Vary{Factor: "locale", How: "in Russian"}, variables("LANG=ru_RU.UTF-8", "LC_ALL=ru_RU.UTF-8", "LANGUAGE=ru", "TZ=Europe/Moscow")},
	{session.Vary{Factor: "locale", How: "in Chinese"}, variables("LANG=zh_CN.UTF-8", "LC_ALL=zh_CN.UTF-8", "LANGUAGE=zh", "TZ=Asia/Shanghai")},
	{session.Vary{Factor: "canaries", How: "for another user with other decoys"}, otherDecoys},
	{session.Vary{Factor: "canaries", How: "in a bare HOME", Added: true}, bareHome},
}

// unchanged is the factor "" of the runs that the others are compared with.
var unchanged = condition{session.Vary{How: "ended by a signal"}, func(*plan) error { return nil }}

// CheckVary says which factor of --vary is none, or cannot be had here.
func CheckVary(factors []string) error {
	for _, f := range factors {
		if !slices.ContainsFunc(conditions, func(c condition) bool { return c.vary.Factor == f }) {
			return &sandbox.UsageError{Err: fmt.Errorf("--vary %s is not known", f), Hint: "client, ci, clock, locale, canaries"}
		}
	}
	if slices.Contains(factors, "clock") {
		if _, err := faketime(); err != nil {
			return &sandbox.UsageError{Err: err, Hint: "install it (Debian: apt install libfaketime), or leave clock out of --vary"}
		}
	}
	return nil
}

func asClient(name, version string) func(*plan) error {
	return func(p *plan) error {
		p.client = wire.Implementation{Name: name, Version: version}
		return nil
	}
}

func variables(list ...string) func(*plan) error {
	return func(p *plan) error {
		p.spec.Env = slices.Clone(p.spec.Env)
		for _, kv := range list {
			name, value, _ := strings.Cut(kv, "=")
			p.spec.Env = setEnv(p.spec.Env, name, value)
		}
		return nil
	}
}

// faketime finds the library that moves the clock of programs that load it.
func faketime() (string, error) {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1", "/usr/local/lib*/faketime/libfaketimeMT.so.1"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0], nil
		}
	}
	return "", errors.New("--vary clock: libfaketime, which moves the clock, is not installed here")
}

// clock has the server load the library with a specification of its own.
func clock(spec string) func(*plan) error {
	return func(p *plan) error {
		name, err := faketime()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the library that moves the clock: %w", err)
		}
		p.preload = p.set.Home() + "/.local/lib/" + filepath.Base(name)
		p.spec.Files = append(slices.Clone(p.spec.Files), rootfs.File{Path: p.preload, Mode: 0o644, Data: data})
		// Only the day is moved: timers keep their pace, unless the pace is what is changed.
		return variables("LD_PRELOAD="+p.preload, "FAKETIME="+spec, "FAKETIME_DONT_FAKE_MONOTONIC="+map[bool]string{true: "0", false: "1"}[strings.Contains(spec, " x")])(p)
	}
}

func leftAlone(p *plan) error {
	p.opts.Idle = cmp.Or(p.opts.fastIdle, fastIdle)
	return clock(fmt.Sprintf("+0 x%d", fastRate))(p)
}

// otherDecoys makes everything about the decoys anew: names, values, HOME.
func otherDecoys(p *plan) error { return p.renew(account{}) }

// renew makes the decoys anew for an account, or for one that is drawn.
func (p *plan) renew(as account) error {
	o := p.opts
	o.Vary, o.Replay, o.as = nil, nil, as
	q, err := newPlan(o, p.installed)
	if err != nil {
		return err
	}
	old := p.set.Home()
	steps := slices.Clone(p.steps)
	for i := range steps {
		steps[i].Args = bytes.ReplaceAll(steps[i].Args, []byte(old), []byte(q.set.Home()))
	}
	q.spec.Hidden = p.spec.Hidden
	p.set, p.spec, p.world, p.hints, p.steps = q.set, q.spec, q.world, q.hints, steps
	return nil
}

// bareHome leaves out every decoy but those of the workspaces.
func bareHome(p *plan) error {
	decoys := map[string]bool{}
	for _, f := range p.set.Files() {
		in := slices.ContainsFunc(p.spec.Workspaces, func(w string) bool {
			return f.Path == w || strings.HasPrefix(f.Path, w+"/") || strings.HasPrefix(w, f.Path+"/")
		})
		decoys[f.Path] = f.Path != p.set.Home() && !in
	}
	p.spec.Files = slices.DeleteFunc(slices.Clone(p.spec.Files), func(f rootfs.File) bool { return decoys[f.Path] })
	p.spec.Watch = slices.DeleteFunc(slices.Clone(p.spec.Watch), func(w string) bool { return decoys[w] })
	given := map[string]bool{}
	for _, kv := range p.set.Env() {
		given[kv] = true
	}
	p.spec.Env = slices.DeleteFunc(slices.Clone(p.spec.Env), func(kv string) bool { return given[kv] })
	return nil
}

// varied runs the server again under each condition of --vary with the calls of
// the run, and repeats what seems to make a difference, with and without.
func (p *plan) varied(ctx context.Context, b sandbox.Backend, dir *os.Root) error {
	if err := dir.RemoveAll(varyDir); err != nil {
		return fmt.Errorf("remove earlier runs under conditions: %w", err)
	}
	if len(p.opts.Vary) == 0 || p.opts.Replay != nil {
		return nil
	}
	below, err := openBelow(dir, varyDir)
	if err != nil {
		return err
	}
	defer below.Close()
	controls, rounds := 0, cmp.Or(p.opts.rounds, varyRounds)
	control := func() error {
		controls++
		return p.under(ctx, b, below, unchanged, fmt.Sprintf("unchanged-%d", controls))
	}
	if err := control(); err != nil {
		return err
	}
	for i, c := range conditions {
		if !slices.Contains(p.opts.Vary, c.vary.Factor) {
			continue
		}
		for round := 1; round <= rounds; round++ {
			if err := p.under(ctx, b, below, c, fmt.Sprintf("%s-%d-%d", c.vary.Factor, i, round)); err != nil {
				return err
			}
			differs, err := p.differs(dir, c)
			if err != nil {
				return err
			}
			if !differs {
				break
			}
			if controls < rounds {
				if err := control(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// under runs the server once under a condition, with its log in name below dir.
func (p *plan) under(ctx context.Context, b sandbox.Backend, dir *os.Root, c condition, name string) error {
	id, err := newRunID()
	if err != nil {
		return err
	}
	sub, err := openBelow(dir, name)
	if err != nil {
		return err
	}
	defer sub.Close()
	q := *p
	q.isFurther, q.crashed, q.vary, q.byTerm = true, "", &c.vary, true
	q.opts.Progress = func(string) {}
	p.opts.Progress("once more, " + c.vary.How)
	q.steps = slices.DeleteFunc(slices.Clone(p.steps), func(s synth.Step) bool { return len(s.Oracles) > 0 })
	if err := c.change(&q); err != nil {
		return err
	}
	q.spec.RunID = id
	if q.spec.Network, err = q.network(); err != nil {
		return err
	}
	q.work = q.again
	return q.session(ctx, b, sub)
}

// again makes the run's calls once more, and watches the server a while.
func (p *plan) again(ctx context.Context, c *conversation) error {
	player, err := p.player(ctx, c, true)
	if err != nil {
		return err
	}
	if _, _, err := player.Play(p.steps); err != nil && !errors.Is(err, synth.ErrCrash) {
		c.doubt(session.GapCallsIncomplete, finding.PhaseCall, "the calls were not all made again: "+err.Error())
	}
	return nil
}

// differs asks the judge whether a condition seems to make a difference.
func (p *plan) differs(dir *os.Root, c condition) (bool, error) {
	log, err := session.Open(dir)
	if err != nil {
		return false, fmt.Errorf("read the run's log: %w", err)
	}
	logs, done, err := variedLogs(dir)
	if err != nil {
		return false, err
	}
	defer done()
	logs = slices.DeleteFunc(logs, func(l *session.Reader) bool {
		v := l.Header.Vary
		return v == nil || v.Factor != "" && *v != c.vary
	})
	return analyze.Differs(log, analyze.Options{Policy: p.opts.Policy, Varied: logs})
}

// variedLogs opens the logs of the runs under conditions, in the order of their names.
func variedLogs(dir *os.Root) (logs []*session.Reader, done func(), err error) {
	var roots []*os.Root
	done = func() {
		for _, r := range roots {
			_ = r.Close()
		}
	}
	names, err := fs.ReadDir(dir.FS(), varyDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, done, nil
	}
	for i := 0; err == nil && i < len(names); i++ {
		var root *os.Root
		if root, err = dir.OpenRoot(varyDir + "/" + names[i].Name()); err != nil {
			break
		}
		roots = append(roots, root)
		var log *session.Reader
		if log, err = session.Open(root); err == nil {
			logs = append(logs, log)
		}
	}
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("read the logs of the runs under conditions: %w", err)
	}
	return logs, done, nil
}

// addVaried adds to a result what the runs under conditions showed by themselves:
// findings that each run under a condition has, and the first has not.
func (p *plan) addVaried(dir *os.Root, res *analyze.Result, o analyze.Options) error {
	logs, done, err := variedLogs(dir)
	if err != nil {
		return err
	}
	defer done()
	o.Audit, o.AuditErr, o.Varied = nil, nil, nil
	shared := map[session.Vary]*analyze.Result{}
	var order []session.Vary
	for _, log := range logs {
		more, err := analyze.Judge(log, o)
		if err != nil {
			return err
		}
		v := *log.Header.Vary
		if first := shared[v]; first != nil {
			first.Findings = slices.DeleteFunc(first.Findings, func(f finding.Finding) bool { return !more.Shows(f.Fingerprint) })
			continue
		}
		more.Gaps = nil // the judge has what is missing of them
		shared[v], order = more, append(order, v)
	}
	for _, v := range order {
		analyze.Add(res, shared[v], v.How, o)
	}
	return nil
}

// awaits says that a program must load the library that moves its clock, and
// met that it did.
type awaits struct {
	name string
	met  bool
}

// preloadMissed reports whether the server did not load what it was to load.
func (r *recorder) preloadMissed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.awaits.name != "" && !r.awaits.met
}

func (a *awaits) record(r *trace.Record) {
	a.met = a.met || a.name != "" && r.Op == trace.OpOpen && r.OK() && r.Path == a.name
}
