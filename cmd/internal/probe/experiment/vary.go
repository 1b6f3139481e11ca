package experiment

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
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
	vary session.Vary
	// dir is the condition's directory, without its round.
	dir    string
	change func(plan.Plan, *Case) (plan.Plan, error)
	// when, if not nil, says whether a case has what is to be changed: no user asks for it.
	when func(*Case) bool
}

// conditions are the values of each factor of --vary.
var conditions = []condition{
	{session.Vary{Factor: "client", How: "for the client cursor-vscode"}, "client-0", asClient("cursor-vscode", "1.0.0"), nil},
	{session.Vary{Factor: "client", How: "for the client Visual Studio Code"}, "client-1", asClient("Visual Studio Code", "1.104.0"), nil},
	{session.Vary{Factor: "ci", How: "with CI=true"}, "ci-2", variables("CI=true", "GITHUB_ACTIONS=true"), nil},
	{session.Vary{Factor: "clock", How: "with the clock 400 days ahead"}, "clock-3", clock(later), nil},
	{session.Vary{Factor: "clock", How: fmt.Sprintf("left alone with a clock %d times as fast", fastRate), Added: true}, "clock-4", leftAlone, nil},
	{session.Vary{Factor: "locale", How: "in Russian"}, "locale-5", variables("LANG=ru_RU.UTF-8", "LC_ALL=ru_RU.UTF-8", "LANGUAGE=ru", "TZ=Europe/Moscow"), nil},
	{session.Vary{Factor: "locale", How: "in Chinese"}, "locale-6", variables("LANG=zh_CN.UTF-8", "LC_ALL=zh_CN.UTF-8", "LANGUAGE=zh", "TZ=Asia/Shanghai"), nil},
	{session.Vary{Factor: "canaries", How: "for another user with other decoys"}, "canaries-7", otherDecoys, nil},
	{session.Vary{Factor: "canaries", How: "in a bare HOME", Added: true}, "canaries-8", bareHome, nil},
	{session.Vary{Factor: rules.FactorSecrets, How: "with other values of the secrets"}, "secrets-9", otherSecrets, nil},
	{session.Vary{Factor: rules.FactorSecrets, How: "without the secrets", Added: true}, "secrets-10", noSecrets, nil},
	{session.Vary{Factor: rules.FactorNetwork, How: "while no host answers", Added: true}, "network-11", unanswered, nil},
	{session.Vary{Factor: rules.FactorHost, How: "while a second host is missing", Added: true}, "host-12", missing(0), besides(0)},
	{session.Vary{Factor: rules.FactorHost, How: "while another second host is missing", Added: true}, "host-13", missing(1), besides(1)},
}

// control is the run in unchanged surroundings that the others are compared with.
var control = condition{session.Vary{How: "ended by a signal"}, "unchanged", same, nil}.experiment()

// experiment is the condition's entry in the table.
func (c condition) experiment() Experiment {
	return Experiment{
		Name: "vary-" + c.dir, Role: session.RoleVaried, Stage: StageCompare, Dir: "vary/" + c.dir, Rounds: varyRounds,
		Proves: "what the server does, or leaves, only " + c.vary.How,
		When: func(k *Case) bool {
			factors := k.factors()
			return len(factors) > 0 && (c.vary.Factor == "" || slices.Contains(factors, c.vary.Factor)) && (c.when == nil || c.when(k))
		},
		Change:   func(p plan.Plan, k *Case) (plan.Plan, error) { return c.change(c.played(p, k), k) },
		Progress: always("once more, " + c.vary.How),
		How:      always(c.vary.How),
	}
}

// factors are those that the user asked for, and those that answer a question of the declared run:
// that of the secrets where something that looks random has to be compared, that of the network
// where arguments went to a host that nothing declares, and that of a host where it got them beside another.
func (c *Case) factors() []string {
	out := slices.Clone(c.Vary)
	add := func(asked bool, factor string) {
		if asked && !slices.Contains(out, factor) {
			out = append(out, factor)
		}
	}
	add(c.Questions.Sealed, rules.FactorSecrets)
	add(c.Questions.Copied && plan.Answers(c.Plan.Network), rules.FactorNetwork)
	add(len(c.Questions.Besides) > 0 && plan.Answers(c.Plan.Network), rules.FactorHost)
	return out
}

// played makes the declared run's calls again, all of them where the user asked for a comparison.
func (c condition) played(p plan.Plan, k *Case) plan.Plan {
	return p.Repeating(compared(k.Seen.Steps, k.Questions.Calls, len(k.Vary) > 0)).EndingByTerm().Under(c.vary)
}

// Factors are what --vary knows, in the order in which it is done.
func Factors() []string {
	var out []string
	for _, c := range conditions {
		if f := c.vary.Factor; f != "" && c.when == nil && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// CheckVary says which factor of --vary is unknown, or unavailable here.
func CheckVary(factors []string) error {
	for _, f := range factors {
		if !slices.Contains(Factors(), f) {
			return &sandbox.UsageError{Err: fmt.Errorf("--vary %s is not known", f), Hint: strings.Join(Factors(), ", ")}
		}
	}
	if slices.Contains(factors, "clock") {
		if _, err := faketime(); err != nil {
			return &sandbox.UsageError{Err: err, Hint: "install it (Debian: apt install libfaketime), or leave clock out of --vary"}
		}
	}
	return nil
}

func asClient(name, version string) func(plan.Plan, *Case) (plan.Plan, error) {
	return func(p plan.Plan, _ *Case) (plan.Plan, error) {
		return p.WithClient(wire.Implementation{Name: name, Version: version}), nil
	}
}

func variables(list ...string) func(plan.Plan, *Case) (plan.Plan, error) {
	return func(p plan.Plan, _ *Case) (plan.Plan, error) {
		for _, kv := range list {
			name, value, _ := strings.Cut(kv, "=")
			p = p.With(plan.Variable{Name: name, Value: value})
		}
		return p, nil
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
func clock(spec string) func(plan.Plan, *Case) (plan.Plan, error) {
	return func(p plan.Plan, c *Case) (plan.Plan, error) {
		name, err := faketime()
		if err != nil {
			return p, err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return p, fmt.Errorf("read the library that moves the clock: %w", err)
		}
		p = p.Preloading(p.Identity.Home + "/.local/lib/" + filepath.Base(name))
		p = p.Planting(rootfs.File{Path: p.Preload, Mode: 0o644, Data: data})
		// Only the day is moved: timers keep their pace, unless the pace is what is changed.
		real := "1"
		if strings.Contains(spec, " x") {
			real = "0"
		}
		return variables("LD_PRELOAD="+p.Preload, "FAKETIME="+spec, "FAKETIME_DONT_FAKE_MONOTONIC="+real)(p, c)
	}
}

func leftAlone(p plan.Plan, c *Case) (plan.Plan, error) {
	b := p.Budget
	b.Idle = cmp.Or(c.Test.FastIdle, fastIdle)
	return clock(fmt.Sprintf("+0 x%d", fastRate))(p.WithBudget(b), c)
}

// otherDecoys makes everything about the decoys anew: names, values, HOME.
func otherDecoys(p plan.Plan, c *Case) (plan.Plan, error) {
	as, err := plan.AnotherAccount(plan.Account{User: p.Identity.User, Home: p.Identity.Home})
	if err != nil {
		return p, err
	}
	q, err := c.Renew(as)
	if err != nil {
		return p, err
	}
	return q.DrivenAs(p), nil
}

// otherSecrets changes the values of the decoys, and nothing else.
func otherSecrets(p plan.Plan, _ *Case) (plan.Plan, error) {
	set, change, err := p.Decoys.Altered(rand.Reader)
	if err != nil {
		return p, fmt.Errorf("change the values of the decoys: %w", err)
	}
	return p.WithSecrets(set, change), nil
}

// noSecrets leaves out the files and the variables that hold decoys, and nothing else.
func noSecrets(p plan.Plan, _ *Case) (plan.Plan, error) {
	held := map[string]bool{}
	for _, c := range p.Decoys.Canaries() {
		held[c.Path], held[c.Env] = c.Path != "", c.Env != ""
	}
	return p.Without(func(path string) bool { return held[path] }, func(v plan.Variable) bool { return held[v.Name] }), nil
}

// unanswered has every connection refused.
func unanswered(p plan.Plan, _ *Case) (plan.Plan, error) {
	return p.OnNetwork(plan.NetworkRefuse), nil
}

// missing takes one of the hosts away that got arguments beside the host that a call is for.
func missing(i int) func(plan.Plan, *Case) (plan.Plan, error) {
	return func(p plan.Plan, k *Case) (plan.Plan, error) {
		if i >= len(k.Questions.Besides) {
			return p, nil
		}
		return p.WithoutHost(k.Questions.Besides[i]), nil
	}
}

func besides(i int) func(*Case) bool {
	return func(k *Case) bool { return i < len(k.Questions.Besides) }
}

// bareHome leaves out every decoy but those of the workspaces.
func bareHome(p plan.Plan, _ *Case) (plan.Plan, error) {
	decoys := map[string]bool{}
	for _, f := range p.Decoys.Files() {
		in := slices.ContainsFunc(p.Server.Workspaces, func(w string) bool {
			return f.Path == w || strings.HasPrefix(f.Path, w+"/") || strings.HasPrefix(w, f.Path+"/")
		})
		decoys[f.Path] = f.Path != p.Identity.Home && !in
	}
	given := map[string]bool{}
	for _, kv := range p.Decoys.Env() {
		given[kv] = true
	}
	return p.Without(func(path string) bool { return decoys[path] }, func(v plan.Variable) bool { return given[v.Name+"="+v.Value] }), nil
}
