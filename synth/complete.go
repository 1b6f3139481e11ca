package synth

import (
	"encoding/json"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

const (
	// ClassCancelled is the class of a call that is taken back.
	ClassCancelled = "cancelled"
	// cancelAfter is when it is: sooner than most servers answer.
	cancelAfter    = 500 * time.Microsecond
	maxCompletions = 32
)

// addCompletions takes the arguments of prompts and templates into the drive,
// where the server says that it completes them.
func (d *driver) addCompletions(s *wire.Surface) {
	var declared struct {
		Completions json.RawMessage `json:"completions"`
	}
	if _, ok := d.cfg.Session.(Completer); !ok || d.cfg.Only != "" || json.Unmarshal(s.Capabilities, &declared) != nil || declared.Completions == nil {
		return
	}
	add := func(of client.Completion, argument string) {
		if len(d.complete) < maxCompletions {
			d.complete = append(d.complete, &target{what: WhatCompletion, name: argument, of: of, calls: 1, cover: Coverage{Name: argument}})
		}
	}
	for _, p := range s.Prompts {
		for _, a := range p.Arguments {
			add(client.Completion{Prompt: p.Name}, a.Name)
		}
	}
	for _, t := range s.Templates {
		for _, name := range parseTemplate(t.URITemplate).names {
			add(client.Completion{Template: t.URITemplate}, name)
		}
	}
}

// takeBack calls the first tool that succeeded once more and cancels the call
// at once, as a client does whose user has lost patience.
func (d *driver) takeBack() {
	for _, t := range order(d.tools) {
		if t.base == nil || t.gone || !d.more() {
			continue
		}
		d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: t.base, Class: ClassCancelled}, 1)
		return
	}
}
