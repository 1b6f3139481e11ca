package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/remote"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// RunRemote probes a server at an address. There is no sandbox: only what crosses the wire is
// judged, and the Result is never clean.
func RunRemote(ctx context.Context, o plan.Options) (out *Outcome, err error) {
	o.Fill()
	address, err := remote.Address(o.Remote.Address)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "for example --url https://example.com/mcp"}
	}
	if len(o.Remote.Header) > 0 && address.Scheme == "http" && !remote.Loopback(address) {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("credentials are not sent to %s over plain HTTP", address.Host), Hint: "use https"}
	}
	redactor := canaries.NewRedactor(o.Remote.Secrets)
	defer func() { err = withoutValues(redactor, err) }()
	target := cmp.Or(o.Name, address.Host)
	p := &probe{opts: o}
	if err := p.readEarlier(redactor.Redact(target)); err != nil {
		return nil, err
	}
	dir, name, err := openOut(o.Out, redactor.Redact(target))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := experiment.Clear(dir); err != nil {
		return nil, run.Unwritable(err)
	}
	w := session.Output{Root: dir, Redactor: redactor}
	q, err := remotePlan(&o, target, redactor)
	if err != nil {
		return nil, err
	}
	if err := run.WritePlan(dir, q); err != nil {
		return nil, err
	}
	h := session.Header{
		RunID: q.RunID, Seed: q.Seed, Command: []string{}, Target: q.Target, Sandbox: q.Sandbox.Backend, Tracer: q.Tracer, Network: q.Network,
		Version: q.Version, Remote: &session.Remote{URL: address.String(), Flags: remoteFlags(&o)},
	}
	if err := remote.Run(ctx, remote.Settings{Remote: o.Remote, URL: address, Seed: o.Seed, CallTimeout: o.CallTimeout, Older: o.Transport == plan.TransportSSE, Progress: o.Progress}, w, h); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, run.Unwritable(err)
	}
	p.dir, p.out, p.name = dir, w, name
	res, err := p.judgeRemote(ctx, target)
	if err != nil {
		return nil, err
	}
	return &Outcome{Result: res, Dir: name, Redactor: redactor}, nil
}

// remotePlan is the plan of a run without a sandbox: its calls are those of the options.
func remotePlan(o *plan.Options, target string, redactor *canaries.Redactor) (plan.Plan, error) {
	var steps []synth.Step
	for _, c := range o.Remote.Calls {
		steps = append(steps, synth.Step{What: synth.WhatTool, Name: c.Name, Args: c.Args})
	}
	return plan.Plan{
		Target: target, Seed: o.Seed, Version: o.Version, Tracer: plan.TracerNone, Network: "not watched", Redactor: redactor,
		Server: plan.Server{Transport: o.FirstTransport()}, Sandbox: plan.Sandbox{Backend: session.SandboxRemote},
		Budget: plan.Budget{CallTimeout: o.CallTimeout}, Drive: plan.Drive{Kind: plan.DrivePlay, Steps: steps},
	}.For(experiment.Declared.Name)
}

// judgeRemote judges the session of a remote server and writes the reports.
func (p *probe) judgeRemote(ctx context.Context, target string) (*analyze.Result, error) {
	at := finding.Location{Path: target, Line: 1}
	if l := p.opts.Location; l != nil {
		at = plan.Location(l, nil, plan.Plan{})
	}
	if err := p.writeInputs(p.inputs(at), nil); err != nil {
		return nil, err
	}
	if err := p.judgeTexts(ctx); err != nil {
		return nil, err
	}
	if err := p.out.WriteIndex([]session.IndexedRun{{Role: session.RoleDeclared, Experiment: experiment.Declared.Name, Dir: "."}}); err != nil {
		return nil, run.Unwritable(err)
	}
	res, in, err := analyze.Judge(p.dir, p.opts.Version)
	if err != nil {
		return nil, err
	}
	if err := report.Write(p.out, res, in); err != nil {
		return nil, run.Unwritable(err)
	}
	return res, nil
}

// remoteFlags are the flags that repeat a probe of a remote server, without credentials.
func remoteFlags(o *plan.Options) []string {
	var out []string
	for header, variable := range o.Remote.Variables {
		out = append(out, "--header-env="+header+"="+variable)
	}
	slices.Sort(out)
	for _, c := range o.Remote.Calls {
		args, err := json.Marshal(c.Args)
		if err == nil {
			out = append(out, "--call="+c.Name+"="+string(args))
		}
	}
	if o.Remote.CallReadOnly {
		out = append(out, "--call-read-only")
	}
	if o.Transport == plan.TransportSSE {
		out = append(out, "--transport=sse")
	}
	return out
}
