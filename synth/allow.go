package synth

import (
	"encoding/json"
	"path"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// Tools that set what others may reach, by their names: a verb, and what is set or allowed.
var (
	setterVerb  = lazyregexp.New(`(?i)^(?:set|configure|config|init|initialize|add|allow|register|grant|permit|trust|enable|mount|open|select|use|change|switch|update)(?:[_\-./ ]|$|[A-Z])`)
	setterNoun  = lazyregexp.New(`(?i)root|director|dir(?:s|_|$)|folder|workspace|vault|project|base|allow|permi|whitelist|path|host|domain|origin|configur|working|cwd|scope`)
	setterPlace = lazyregexp.New(`(?i)root|dir|folder|workspace|vault|project|base|path|location|allow|url|uri|host|domain|origin`)
)

const (
	// allowShare is the time for calls after a setter, in parts of the oracles'.
	allowShare = 0.2
	// maxSetters bounds the setters of a server, and maxEscapes the inputs for one tool after one.
	maxSetters = 4
	maxEscapes = 8
)

// allowing calls tools that set what others may reach with something harmless, and then gives the
// others inputs that lead out of it: a server that refuses everything before shows nothing else.
func (d *driver) allowing() {
	if d.cfg.World == nil || d.stopped != nil {
		return
	}
	end := d.cfg.Now().Add(time.Duration(allowShare * float64(d.cfg.OracleTime)))
	setters := 0
	for _, t := range order(d.tools) {
		if !isSetter(t.name) || t.leftAlone() || setters >= maxSetters {
			continue
		}
		setters++
		if !d.allow(t) {
			continue
		}
		for _, other := range order(d.tools) {
			if other == t || isSetter(other.name) || other.slow {
				continue
			}
			if !d.escape(other, end) {
				return
			}
		}
	}
}

func isSetter(name string) bool { return setterVerb.MatchString(name) && setterNoun.MatchString(name) }

// allow calls a setter with a directory of the workspace, or a host, and reports whether it took one.
func (d *driver) allow(t *target) bool {
	base := d.baseOf(t)
	places, _ := d.placesOf(base)
	for _, p := range places {
		if !setterPlace.MatchString(p.Name) {
			continue
		}
		text := path.Dir(d.cfg.World.Link)
		if oracle.MeaningOf(p.Name) == oracle.Address {
			text = "https://docs.example.com"
		}
		if args, ok := oracle.Put(base, p.At, text); ok && d.more() && d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: args, Class: ClassSequence}, 1) == OK {
			return true
		}
	}
	return false
}

// escape gives a tool inputs that lead out of what was allowed, and reports whether there is time
// for more.
func (d *driver) escape(t *target, end time.Time) bool {
	base, n := d.baseOf(t), 0
	token := func(int) string {
		n++
		return oracle.Token(d.cfg.Seed, t.name+" allowed", n)
	}
	made := 0
	for _, p := range oracle.Places(base) {
		for _, in := range oracle.Escapes(d.cfg.World, oracle.MeaningOf(p.Name), token) {
			if made >= maxEscapes || t.gone {
				return true
			}
			if t.hangs() {
				t.unmade++
				return true
			}
			if d.stopped != nil || !d.more() || d.cfg.Now().After(end) {
				return false
			}
			in.At = p.At
			if args, ok := oracle.Put(base, p.At, in.Text); ok {
				made++
				d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: args, Class: ClassSequence, Oracles: []session.Injection{in.Injection}}, 1)
			}
		}
	}
	return true
}

// baseOf are arguments with which a tool succeeded, else such as its schema allows.
func (d *driver) baseOf(t *target) json.RawMessage {
	if t.base != nil {
		return t.base
	}
	if gen := d.generator(t); gen != nil {
		if base, err := gen.Draw(d.seed(t), 0); err == nil {
			return base
		}
	}
	return json.RawMessage(`{}`)
}
