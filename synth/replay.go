package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ReplaySchema is the version of a replay file.
const ReplaySchema = "coalmine/replay/v1"

// Step is one call of a sequence.
type Step struct {
	What string `json:"what"`
	// Name is the tool's or prompt's name, or the resource's URI.
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
	// Oracles are what the arguments carry to be proven by an effect.
	Oracles []session.Injection `json:"oracles,omitempty"`
	// Turn is the kind of answer that services gave meanwhile: see Call.
	Turn int `json:"turn,omitempty"`
	// Of is what a completion completes an argument of, nil for other calls.
	Of *client.Completion `json:"of,omitempty"`
	// Progress says that the call asks for progress, and Cancelled that it is taken back.
	Progress  bool `json:"progress,omitempty"`
	Cancelled bool `json:"cancelled,omitempty"`
	// Took is how long the server needed for it, 0 for unknown.
	Took time.Duration `json:"-"`
}

// StepOf is what repeats a call. One that was taken back is made to its end.
func StepOf(c Call) Step {
	s := Step{What: c.What, Name: c.Tool, Args: c.Args, Oracles: c.Oracles, Progress: c.asksProgress(), Turn: c.Turn}
	if c.What == WhatCompletion {
		s.Of = &c.Of
	}
	return s
}

// call is what a player makes of a step.
func (s *Step) call() (*target, Call) {
	t := &target{what: s.What, name: s.Name}
	c := Call{What: s.What, Tool: s.Name, Args: s.Args, Class: ClassReplay, Oracles: s.Oracles, Progress: s.Progress, Turn: s.Turn}
	if s.Of != nil {
		t.of, c.Of = *s.Of, *s.Of
	}
	if s.Cancelled {
		c.Class = ClassCancelled
	}
	return t, c
}

// Replay is the smallest sequence known that shows a finding.
type Replay struct {
	Schema string `json:"schema"`
	// Rule, Tool and Fingerprint name the finding.
	Rule        string `json:"rule"`
	Tool        string `json:"tool,omitempty"`
	Fingerprint string `json:"fingerprint"`
	// User and Home are those of the run, which the calls may name.
	User string `json:"user"`
	Home string `json:"home"`
	// Steps are the calls.
	Steps []Step `json:"steps"`
	// Shown of Tried fresh starts showed the finding again.
	Shown int `json:"shown"`
	Tried int `json:"tried"`
	// Minimal says that no part of the steps could be left out or made simpler.
	Minimal bool `json:"minimal"`
}

// maxReplay bounds a replay file.
const maxReplay = 16 << 20

// Encode writes a replay file.
func (r *Replay) Encode() ([]byte, error) {
	r.Schema = ReplaySchema
	r.Steps = slices.Clone(r.Steps)
	Aim(r.Steps, func(string) string { return "" })
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("write a replay: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeReplay reads a replay file.
func DecodeReplay(data []byte) (*Replay, error) {
	if len(data) > maxReplay {
		return nil, fmt.Errorf("a replay of more than %d bytes", maxReplay)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	r := &Replay{}
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("read a replay: %w", err)
	}
	switch {
	case r.Schema != ReplaySchema:
		return nil, fmt.Errorf("read a replay: its schema is no %s", ReplaySchema)
	case !path.IsAbs(r.Home) || path.Clean(r.Home) != r.Home || r.User == "":
		return nil, errors.New("read a replay: it names no user and home")
	case len(r.Steps) == 0 || r.Fingerprint == "":
		return nil, errors.New("read a replay: it has no steps, or names no finding")
	}
	return r, nil
}

// Aim gives the steps' injections the texts of the files that are planted in
// this run: value tells one by its path without suffix.
func Aim(steps []Step, value func(stem string) string) {
	for i := range steps {
		steps[i].Oracles = slices.Clone(steps[i].Oracles)
		for k := range steps[i].Oracles {
			if in := &steps[i].Oracles[k]; in.Path != "" {
				in.Value = value(in.Path)
			}
		}
	}
}

// Player makes sequences of calls in one session.
type Player struct {
	// After is told of each step that was made, by its place in the sequence; nil for nobody.
	After func(i int)
	d     *driver
}

// NewPlayer prepares a session for sequences; of cfg it needs what a drive needs.
func NewPlayer(ctx context.Context, cfg Config) (*Player, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	return &Player{d: newDriver(ctx, cfg)}, nil
}

// Play makes the calls in their order. It returns the number of the first and
// of the last; an error says that the server ended or the time was up.
func (p *Player) Play(steps []Step) (first, last int, err error) {
	first = p.d.n + 1
	p.d.unseen.each = len(steps) <= shortReplay
	for i, s := range steps {
		if !p.d.more() {
			break
		}
		t, c := s.call()
		p.d.carryOut(t, c, 1)
		if p.After != nil {
			p.After(i)
		}
	}
	p.d.listLast()
	return first, p.d.n, p.d.stopped
}

// ClassReplay is the class of a call that repeats another.
const ClassReplay = "replay"
