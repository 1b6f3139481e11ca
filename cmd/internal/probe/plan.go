package probe

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/oracle"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// uid is the target's user in every sandbox: the first ordinary one of Linux.
const uid = 1000

// plan is everything that is settled before a sandbox starts.
type plan struct {
	opts   Options
	set    *canaries.Set
	spec   sandbox.Spec
	hints  schema.Hints
	words  []string // names in the source
	world  *oracle.World
	steps  []synth.Step // all calls of the run, in order
	played int          // calls of a replay that were made
	// kept are the files that a second start finds; isFurther says that this is one.
	kept      []rootfs.File
	isFurther bool
	// took is how long the session lasted.
	took time.Duration
	// crashed is the tool in whose call the server ended, "" for none; skip are
	// tools that are left out.
	crashed string
	skip    []string
	// triedLoopback says that a port of the loopback address was tried on which nothing listens.
	triedLoopback bool
	// lookedIn is another user's HOME in which a decoy was looked for, if one was.
	lookedIn account
	// work has the session instead of a drive, nil for a drive.
	work func(context.Context, *conversation) error
	// vary is the condition that this run is under, nil for none; client is who the
	// client says it is, byTerm ends the run with a signal, and preload is a library
	// that the server must load.
	vary    *session.Vary
	client  wire.Implementation
	byTerm  bool
	preload string
	// runtime is what the server's interpreter does by itself, nil for nothing known.
	runtime *session.Runtime
	rooted  bool // the command names the workspaces itself
	target  string
	audit   string   // directory to audit, "" for none
	output  string   // where runs write within the server's directory, "" for elsewhere
	secrets []string // texts of the real values passed in, to be redacted
	// installed is what was fetched to be run, nil for a command that was there.
	installed *fetched
	// placed counts the files of the spec that are what was fetched's own, the first.
	placed int
}

// newRunID draws what a sandbox's processes, containers and directories are told by.
func newRunID() (string, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return "", fmt.Errorf("draw a run's id: %w", err)
	}
	return hex.EncodeToString(id), nil
}

func newPlan(o Options, in *fetched) (*plan, error) {
	if len(o.Command) == 0 && in == nil {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("no command to probe"), Hint: "coalmine probe -- COMMAND…"}
	}
	id, err := newRunID()
	if err != nil {
		return nil, err
	}
	s := o.where(in)
	set, err := canaries.New(rand.Reader, identity(o, s.workspaces))
	if err != nil {
		return nil, err
	}
	workspaces := set.Workspaces()
	p := &plan{opts: o, set: set, target: target(o), audit: s.audit, rooted: s.rooted, installed: in}
	p.spec = sandbox.Spec{
		Command: s.command, Dir: workspaces[0], Hostname: set.Hostname(), ServerDir: s.dir, Workspaces: workspaces,
		User:  agent.User{Name: set.User(), UID: uid, GID: uid, Home: set.Home()},
		Image: o.Image, Runtime: o.Runtime, TraceSet: "core", Ring: o.ring, Limits: o.Limits, AgentPath: o.AgentPath, RunID: id,
		Watch: set.Watch(), Canaries: set.Canaries(),
	}
	p.watchBy(o.Tracer)
	if p.spec.Network, err = p.network(); err != nil {
		return nil, err
	}
	if in != nil {
		p.takeInstalled()
	}
	p.spec.Env = p.environment()
	if p.world, err = oracle.NewWorld(workspaces[0], set.Home(), rand.Reader); err != nil {
		return nil, err
	}
	p.plant(workspaces)
	return p, nil
}

// watchBy settles the tracer.
func (p *plan) watchBy(tracer string) {
	p.opts.Tracer = tracer
	switch tracer {
	case "none":
		p.spec.TraceSet = ""
	case sandbox.TracerEBPF, TracerBoth:
		p.spec.Tracer = sandbox.TracerEBPF
	}
}

// identity says for whom the decoys are made: a replay names its own.
func identity(o Options, workspaces []string) canaries.Options {
	c := canaries.Options{Workspace: workspaces, User: o.as.user, Home: o.as.home}
	if o.Replay != nil {
		c.User, c.Home = o.Replay.User, o.Replay.Home
	}
	return c
}

// target names the server across runs and machines: its name in a
// configuration, its npm package, or its command without directories.
func target(o Options) string {
	if o.Name != "" {
		return o.Name
	}
	if o.Package != nil {
		unversioned := *o.Package
		unversioned.Version = ""
		return shortTarget(unversioned)
	}
	var words []string
	for _, w := range o.Command {
		words = append(words, shortName(w))
	}
	return strings.Join(words[:min(len(words), 4)], " ")
}

// shortName is a path's package below node_modules, or its last two names.
func shortName(w string) string {
	if !strings.Contains(w, "/") {
		return w
	}
	parts := strings.Split(filepath.ToSlash(filepath.Clean(w)), "/")
	for i := len(parts) - 1; i > 0; i-- {
		if parts[i-1] != "node_modules" {
			continue
		}
		if strings.HasPrefix(parts[i], "@") && i+1 < len(parts) {
			return parts[i] + "/" + parts[i+1]
		}
		return parts[i]
	}
	if base := parts[len(parts)-1]; strings.Contains(base, ".") && len(parts) > 1 {
		return parts[len(parts)-2] + "/" + base
	}
	return parts[len(parts)-1]
}

// absolute makes the relative paths of a command absolute: the working
// directory inside the sandbox is another one.
func absolute(command []string) []string {
	out := slices.Clone(command)
	for i, a := range out {
		if a == "" || filepath.IsAbs(a) || strings.HasPrefix(a, "-") || (i == 0 && !strings.Contains(a, "/")) {
			continue
		}
		if _, err := os.Stat(a); err != nil {
			continue
		}
		if abs, err := filepath.Abs(a); err == nil {
			out[i] = abs
		}
	}
	return out
}

// environment is built from nothing: what any login has, the decoys, what the
// configuration names and what the user passes.
func (p *plan) environment() []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + p.set.Home(), "USER=" + p.set.User(), "LOGNAME=" + p.set.User(),
		"SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm-256color", "PWD=" + p.spec.Dir,
	}
	env = append(env, p.set.Env()...)
	names := make([]string, 0, len(p.opts.Env))
	for name := range p.opts.Env {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, kv := range p.vars() {
		name, value, _ := strings.Cut(kv, "=")
		env = setEnv(env, name, decoy(name, value))
	}
	for _, name := range names {
		env = setEnv(env, name, decoy(name, p.opts.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(p.opts.Dummies)) {
		value := p.opts.Dummies[name]
		env = setEnv(env, name, value)
		// Somebody may take it for the place of a real one.
		if len(value) >= 16 && isSecret(name, value) {
			p.secrets = append(p.secrets, value)
		}
	}
	for _, name := range p.opts.PassEnv {
		value, ok := os.LookupEnv(name)
		if v, named := p.opts.Env[name]; named && !ok {
			value, ok = v, true
		}
		if ok {
			env = setEnv(env, name, value)
			p.secrets = append(p.secrets, value)
		}
	}
	p.secrets = written(p.secrets)
	return env
}

func setEnv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return append(env, name+"="+value)
}

// secretNames are parts of a variable's name that make its value a secret.
var secretNames = []string{"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED", "DSN", "PRIVATE", "COOKIE", "SESSION", "WEBHOOK", "URL", "URI"}

// decoy is a value of the same shape: each letter and digit of what could be a
// secret is drawn anew. Settings ("debug", "8080") stay, since servers need them.
func decoy(name, value string) string {
	if !isSecret(name, value) {
		return value
	}
	if i := strings.Index(value, "://"); i >= 0 && !strings.Contains(value, "@") && !strings.Contains(value, "?") {
		return value[:i+3] + "service.internal/"
	}
	random := make([]byte, len(value))
	_, _ = rand.Read(random) // crypto/rand never fails
	out := []byte(value)
	for i, c := range out {
		switch {
		case c >= '0' && c <= '9':
			out[i] = '0' + random[i]%10
		case c >= 'a' && c <= 'z':
			out[i] = 'a' + random[i]%26
		case c >= 'A' && c <= 'Z':
			out[i] = 'A' + random[i]%26
		}
	}
	return string(out)
}

// isSecret reports whether a variable could hold a secret, by its name or its value's shape.
func isSecret(name, value string) bool {
	return len(value) >= 16 && !strings.ContainsAny(value, " /") ||
		slices.ContainsFunc(secretNames, func(s string) bool { return strings.Contains(strings.ToUpper(name), s) })
}

// plant lists what the agent writes before the start: the decoy HOME and the workspaces.
func (p *plan) plant(workspaces []string) {
	for _, f := range p.set.Files() {
		p.spec.Files = append(p.spec.Files, rootfs.File{Path: f.Path, Mode: uint32(f.Mode.Perm()), Data: f.Data, Dir: f.Dir, ModTime: f.ModTime})
	}
	for _, w := range workspaces {
		p.spec.Files = append(p.spec.Files, synth.Workspace(w)...)
	}
	p.spec.Files = append(p.spec.Files, p.world.Files()...)
	p.hints = synth.WorkspaceHints(workspaces[0])
	p.readSource()
}
