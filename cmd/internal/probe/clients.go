package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/local"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// The bounds of a client's sandbox.
const (
	clientMemory = 4 << 30
	clientDisk   = 6 << 30
	clientOutput = 4 << 30
	clientTime   = 10 * time.Minute
	maxClientErr = 1 << 20
)

// The files of a job fit into the agent's configuration, with what else is in it.
const _ uint = agent.MaxConfig - install.MaxFiles - 2<<20

// clients run the clients of registries, npm, pip and go, each in a sandbox that shows
// this machine's programs and reaches nothing but a proxy to the user's registries.
type clients struct {
	opts *plan.Options
	// helpers makes their runs, and trees is where those are until there is a target's directory.
	helpers *helpers
	trees   install.Cache
	// cache is where the proxy keeps what it fetched, "" for nowhere.
	cache string
	// python is the interpreter of a package's server, whose settings for pip count too.
	python string

	mu       sync.Mutex
	settings *registry.Settings
	refused  error // why there are no namespaces for them
	told     map[string]bool
}

// run implements install.Sandbox.
func (c *clients) run(ctx context.Context, j install.Job, out io.Writer) (install.Result, error) {
	settings, err := c.load(j.Tool)
	if err != nil {
		return install.Result{}, err
	}
	proxy, err := registry.NewProxy(settings, registry.Options{Tools: []registry.Tool{j.Tool}, Cache: c.cache, Offline: c.opts.Offline, Keep: c.opts.Keep, Before: j.Before, Dated: j.Dated})
	if err != nil {
		return install.Result{}, plan.Mendable(err)
	}
	defer func() { _ = proxy.Close() }()
	f := c.fetchOf(j, settings, proxy)
	if err := c.noNamespaces(); err == nil {
		if found, err := anyProgram(j.Programs); !found {
			return install.Result{Code: 127}, err
		}
		res, err := c.start(ctx, f, local.New(), out)
		var not *run.NotStarted
		var usage *sandbox.UsageError
		if !errors.As(err, &not) || !errors.As(err, &usage) {
			return res, err
		}
		c.mu.Lock()
		c.refused = err
		c.mu.Unlock()
	}
	if len(f.shown) > 0 {
		return install.Result{}, &sandbox.UsageError{
			Err:  fmt.Errorf("the directories of find-links cannot be shown in a container, and a sandbox of namespaces is refused: %w", c.noNamespaces()),
			Hint: "name an index in place of find-links, or: " + hintOf(c.noNamespaces()),
		}
	}
	res, err := c.start(ctx, f, docker.New(c.opts.Image), out)
	var not *run.NotStarted
	if errors.As(err, &not) && ctx.Err() == nil {
		return install.Result{}, &sandbox.UsageError{
			Err:  fmt.Errorf("packages are fetched in a sandbox, and none works here: %w; docker: %w", c.noNamespaces(), err),
			Hint: hintOf(c.noNamespaces()) + "; or start a Docker Engine with the image " + docker.DefaultImage,
		}
	}
	return res, err
}

// anyProgram reports whether one of some programs is on this machine. A PATH that leads
// to one in the working directory, which may be a checkout, is an error.
func anyProgram(programs []string) (bool, error) {
	for _, program := range programs {
		_, err := exec.LookPath(program)
		if err == nil {
			return true, nil
		}
		if errors.Is(err, exec.ErrDot) {
			return false, &sandbox.UsageError{Err: err, Hint: "take relative directories out of PATH"}
		}
	}
	return false, nil
}

// noNamespaces is why the local sandbox was refused, nil while it was not.
func (c *clients) noNamespaces() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

func hintOf(err error) string {
	var usage *sandbox.UsageError
	if errors.As(err, &usage) {
		return usage.Hint
	}
	return ""
}

// load reads the user's registries once, and says which of a tool's cannot be served.
func (c *clients) load(tool registry.Tool) (*registry.Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.settings == nil {
		home, _ := os.UserHomeDir()
		src := registry.Source{Env: os.Environ(), Home: home, Prefixes: []string{"/usr", "/usr/local"}}
		if c.python != "" {
			src.Prefixes = append(src.Prefixes, filepath.Dir(filepath.Dir(c.python)))
		}
		settings, err := registry.Load(src)
		if err != nil {
			return nil, plan.Mendable(err)
		}
		c.settings, c.told = settings, map[string]bool{}
	}
	for _, u := range c.settings.Unserved {
		if line := u.String(); u.Tool == tool && !u.Fallback && !c.told[line] {
			c.told[line] = true
			c.opts.Progress("not used: " + line)
		}
	}
	return c.settings, nil
}

// fetching is a job with its sandbox.
type fetching struct {
	plan  plan.Plan
	proxy *registry.Proxy
	// shown are directories of the host's that the job reads.
	shown []string
}

// fetchOf is the sandbox of a job.
func (c *clients) fetchOf(j install.Job, settings *registry.Settings, proxy *registry.Proxy) *fetching {
	const config = plan.HelperHome + "/.registries"
	client := proxy.Client(j.Tool, fmt.Sprintf("127.0.0.1:%d", sandbox.CarrierPort), config)
	h := plan.Helper{
		Command: append([]string{"/bin/sh", "-c", j.Script, "sh"}, j.Args...), Tools: j.Programs, Dir: install.JobDir,
		Env:    slices.Concat([]string{"HOME=" + plan.HelperHome, "NO_COLOR=1"}, client.Env, j.Env),
		Files:  []rootfs.File{{Path: install.JobDir, Dir: true, Mode: 0o755}},
		Limits: agent.Limits{Wall: clientTime, CPU: clientTime, Memory: clientMemory, Disk: clientDisk, Output: clientOutput, Pids: 512},
	}
	for _, f := range client.Files {
		h.Files = append(h.Files, rootfs.File{Path: f.Path, Data: f.Data, Mode: uint32(f.Mode.Perm())})
	}
	for name, data := range j.Files {
		h.Files = append(h.Files, rootfs.File{Path: filepath.Join(install.JobDir, filepath.FromSlash(name)), Data: data, Mode: 0o644})
	}
	f := &fetching{plan: h.Plan(c.opts), proxy: proxy}
	if j.Tool == registry.Pip || j.Tool == registry.UV {
		f.shown = settings.FindLinks
	}
	return f
}

// start runs a job in a backend; what it prints goes to out.
func (c *clients) start(ctx context.Context, f *fetching, b sandbox.Backend, out io.Writer) (install.Result, error) {
	sink := &clientSink{out: out}
	seen, err := c.helpers.run(ctx, run.Runner{
		Backend: b, Progress: c.opts.Progress, Sink: sink, Connect: func(s *sandbox.Spec) { s.Carry, s.Shown = f.proxy.ServeConn, f.shown },
	}, &experiment.Fetch, f.plan, c.trees)
	if err != nil {
		return install.Result{}, err
	}
	exit := seen.Exit
	if exit.Reason != "" || exit.Signal != "" {
		return install.Result{}, fmt.Errorf("it was ended: %s%s", exit.Reason, exit.Signal)
	}
	res := install.Result{Code: exit.Code, Stderr: sink.errs.String()}
	report := f.proxy.Report()
	for _, p := range report.Refused {
		if p.Host != "" {
			res.Refused = append(res.Refused, p.Host)
		}
	}
	for _, p := range report.Failed {
		if p.Unreached {
			res.Unreached = append(res.Unreached, p.Host+": "+p.Reason)
		}
	}
	return res, nil
}

// clientSink takes what a job prints.
type clientSink struct {
	sandbox.NopSink
	out  io.Writer
	errs bytes.Buffer
}

// Stdout implements sandbox.Sink.
func (s *clientSink) Stdout(_ time.Duration, p []byte) { _, _ = s.out.Write(p) }

// Stderr implements sandbox.Sink.
func (s *clientSink) Stderr(_ time.Duration, p []byte) {
	s.errs.Write(p[:min(len(p), maxClientErr-s.errs.Len())])
}

// pythonOf asks the interpreter that the server will have what it can load.
func (c *clients) pythonOf(ctx context.Context, b sandbox.Backend) (*install.Python, error) {
	py, err := c.queryPython(ctx, b)
	if err == nil {
		c.python = py.Executable
	}
	return py, err
}
