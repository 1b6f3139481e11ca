package doctor

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// twinProgram is a server in Python, and leakProgram what makes it leaky.
//
//go:embed twin.py
var twinProgram []byte

//go:embed leak.py
var leakProgram []byte

// The twins declare the same tool, byte for byte. The leaky one also reads a key and posts it.
const (
	twinHonest = "honest"
	twinLeaky  = "leaky"
)

// proveTimeout bounds one probe of a twin.
const proveTimeout = 3 * time.Minute

// provenIn are the sandboxes in which the twins run.
var provenIn = []string{"local", "docker"}

// Prove probes the twins in each sandbox of this machine and says which guarantees held.
// tell is told each step. All that it writes is removed.
func Prove(ctx context.Context, version string, tell func(string)) ([]Row, error) {
	dir, err := os.MkdirTemp("", "coalmine-prove")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := prover{dir: dir, version: version, tell: tell}
	if err := p.place(); err != nil {
		return nil, fmt.Errorf("place the twins: %w", err)
	}
	var rows []Row
	for _, name := range provenIn {
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
		rows = append(rows, p.prove(ctx, name)...)
	}
	return rows, nil
}

// runsServer is the row of a sandbox without which the others mean nothing.
const runsServer = "the sandbox runs a server"

// Runs reports whether the row says that a sandbox runs at all.
func (r *Row) Runs() bool { return strings.HasSuffix(r.What, ": "+runsServer) }

// prover probes the twins.
type prover struct {
	dir, version string
	tell         func(string)
}

// place writes the twins' programs, and the marker: a file of the host that no sandbox may
// show. The programs' arguments do not name it, for what they name is made for the server.
func (p *prover) place() error {
	marker := filepath.Join(p.dir, "host", "marker")
	leak := bytes.Replace(leakProgram, []byte(`MARKER = ""`), fmt.Appendf(nil, "MARKER = %q", marker), 1)
	for _, f := range []struct {
		name string
		data []byte
	}{
		{marker, []byte("a file of the host\n")}, {p.twin(twinHonest), twinProgram}, {p.twin(twinLeaky), twinProgram},
		{filepath.Join(filepath.Dir(p.twin(twinLeaky)), "leak.py"), leak},
	} {
		if err := os.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(f.name, f.data, 0o644); err != nil {
			return err
		}
		// Sandboxes run as other users, whatever the umask is.
		if err := errors.Join(os.Chmod(p.dir, 0o755), os.Chmod(filepath.Dir(f.name), 0o755), os.Chmod(f.name, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// twin is the program of a twin.
func (p *prover) twin(kind string) string { return filepath.Join(p.dir, kind, "notes.py") }

// probe runs one twin and returns what was found, with the session's log.
func (p *prover) probe(ctx context.Context, backend, kind string) (*analyze.Result, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, proveTimeout)
	defer cancel()
	var o plan.Options
	o.Command, o.Sandbox, o.Seed, o.Version = []string{"python3", p.twin(kind)}, backend, 1, p.version
	o.Calls, o.Timeout, o.ShrinkTime, o.FailOn = 2, proveTimeout/2, time.Nanosecond, finding.High
	o.Out = filepath.Join(p.dir, "out-"+backend+"-"+kind)
	o.Progress = func(line string) { p.tell(backend + ", the " + kind + " twin: " + line) }
	got, err := probe.Run(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	log, err := os.ReadFile(filepath.Join(got.Dir, session.FramesFile))
	return got.Result, log, err
}

// prove says what held in one sandbox.
func (p *prover) prove(ctx context.Context, backend string) []Row {
	var rows []Row
	row := func(what string, s sandbox.Support) {
		rows = append(rows, Row{What: backend + ": " + what, OK: s.OK, Reason: s.Reason, Hint: s.Hint})
	}
	leaky, log, err := p.probe(ctx, backend, twinLeaky)
	if err != nil {
		s := no("", "%v", err)
		var wrong *sandbox.UsageError
		if errors.As(err, &wrong) {
			s.Hint = wrong.Hint
		}
		row(runsServer, s)
		return rows
	}
	row(runsServer, yes("tracer %s", leaky.Run.Tracer))
	for _, proof := range []rules.Proof{rules.ProofRead, rules.ProofSent} {
		row(string(proof), found(leaky, proof))
	}
	row("the sinkhole answers the network", held(bytes.Contains(log, []byte("twin-network-answered")), "192.0.2.1 answered, which no host on the internet is", "nobody answered, so what the server would send is unknown"))
	row("files of the host are hidden", held(!bytes.Contains(log, []byte("twin-marker-read")), "a file beside the server's directory could not be read", "a file beside the server's directory was read"))
	honest, _, err := p.probe(ctx, backend, twinHonest)
	switch {
	case err != nil:
		row("the honest twin is clean", unknown("%v", err))
	case honest.Verdict == analyze.Clean:
		row("the honest twin is clean", yes("no finding and no gap"))
	case len(honest.Inconclusive) > 0:
		row("the honest twin is clean", no("coalmine probe on a server of yours shows the same gap, and what closes it", "inconclusive: %s", honest.Inconclusive[0]))
	default:
		row("the honest twin is clean", no("please report it", "%d findings", len(honest.Findings)))
	}
	return rows
}

// found says whether a finding proves something.
func found(r *analyze.Result, proof rules.Proof) sandbox.Support {
	for _, f := range r.Findings {
		if rule, ok := rules.Of(f.Rule); ok && rule.Proof == proof {
			return yes("%s", f.Rule)
		}
	}
	reason := "no finding"
	if len(r.Inconclusive) > 0 {
		reason += "; " + r.Inconclusive[0]
	}
	return no("coalmine doctor lists what this sandbox lacks", "%s", reason)
}

func held(ok bool, yesText, noText string) sandbox.Support {
	if ok {
		return yes("%s", yesText)
	}
	return no("", "%s", noText)
}
