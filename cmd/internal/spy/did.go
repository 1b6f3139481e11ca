package spy

import (
	"fmt"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// The types of the records of --effects.
const (
	typeEffect  = "effect"
	typeFinding = "finding"
)

// maxShown bounds the effects and findings of a server that are remembered as told.
const maxShown = 50_000

// effectRecord is something that a server did, as JSONL has it.
type effectRecord struct {
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	// Process is the server's, Actor the program that did it, which it may have started.
	Process       *reassembly.Process `json:"process"`
	Server        *serverInfo         `json:"server,omitempty"`
	Conversations []int               `json:"conversations"`
	// Calls name the tools, resources and prompts whose calls were open.
	Calls  []string           `json:"calls,omitempty"`
	Effect finding.EffectKind `json:"effect"`
	Target string             `json:"target"`
	Rung   finding.Rung       `json:"rung,omitempty"`
	Actor  string             `json:"actor,omitempty"`
	Text   string             `json:"text"`
}

// findingRecord is what a rule says of it.
type findingRecord struct {
	Timestamp   string              `json:"timestamp"`
	Type        string              `json:"type"`
	Process     *reassembly.Process `json:"process"`
	Server      *serverInfo         `json:"server,omitempty"`
	Calls       []string            `json:"calls,omitempty"`
	Rule        string              `json:"rule"`
	Severity    finding.Severity    `json:"severity"`
	Message     string              `json:"message"`
	Tool        string              `json:"tool,omitempty"`
	Fingerprint string              `json:"fingerprint"`
}

// report prints what is new of a server.
func (e *effects) report(s *observed) {
	if !s.dirty {
		return
	}
	s.dirty = false
	did, found := s.judge.Now()
	for i := range did {
		d := &did[i]
		key := effectKey{d.Kind, d.Target, d.Actor, d.Rung, d.Phase, d.Call}
		if !s.shown[key] && len(s.shown) < maxShown {
			s.shown[key] = true
			e.w.effect(s, d)
		}
	}
	for i := range found {
		f := &found[i]
		if told := string(f.Severity) + f.Fingerprint; !s.told[told] && len(s.told) < maxShown {
			s.told[told] = true
			e.w.finding(s, f)
		}
	}
}

// during are the calls to which an effect or a finding belongs, by name.
func (s *observed) during(tool string, evidence []finding.Evidence) []string {
	switch {
	case tool != "":
		return []string{tool}
	case len(evidence) > 0:
		return s.openAt(evidence[0].Time)
	}
	return nil
}

// when is the moment of the first piece of evidence.
func (w *watch) when(evidence []finding.Evidence) time.Time {
	if len(evidence) == 0 {
		return time.Now()
	}
	return w.began.Add(evidence[0].Time)
}

// keep writes what a server did into the logs of the conversations whose calls were open, else
// into those of all its conversations.
func (w *watch) keep(s *observed, evidence []finding.Evidence, d *session.Did) {
	d.TS, d.PID, d.Comm = w.when(evidence), s.process.PID, s.process.Comm
	d = hidden(w.hides.logs, d)
	talks := s.talks
	if len(evidence) > 0 {
		if open := s.talksAt(evidence[0].Time); len(open) > 0 {
			talks = open
		}
	}
	for _, id := range talks {
		if log := w.logs[id]; log != nil {
			log.Did(d)
		}
	}
}

func (w *watch) effect(s *observed, e *finding.Effect) {
	w.result.Effects++
	r := &effectRecord{
		Process: s.process, Server: s.name, Conversations: s.talks, Calls: s.during(e.Tool, e.Evidence), Effect: e.Kind, Target: e.Target,
		Rung: e.Rung, Actor: e.Actor, Text: e.Evidence[0].Text,
	}
	w.keep(s, e.Evidence, &session.Did{Type: session.DidEffect, Calls: r.Calls, Effect: string(r.Effect), Target: r.Target, Rung: string(r.Rung), Actor: r.Actor, Text: r.Text})
	r = hidden(w.hides.out, r)
	at := w.when(e.Evidence)
	if w.o.Format == JSONL {
		r.Timestamp, r.Type = at.UTC().Format(time.RFC3339Nano), typeEffect
		w.encode(r)
		return
	}
	line := fmt.Sprintf("%s %s[%d] DID %s%s", at.Format("15:04:05.000"), report.Escape(r.Process.Comm, maxName), r.Process.PID, report.Escape(r.Text, maxContent), while(r.Calls))
	if r.Actor != "" {
		line += " (by " + report.Escape(r.Actor, maxName) + ")"
	}
	w.put(line, colours[typeEffect])
}

// while says which calls were open.
func while(open []string) string {
	if len(open) == 0 {
		return ", between calls"
	}
	names := make([]string, 0, len(open))
	for _, name := range open {
		names = append(names, "“"+report.Escape(name, maxName)+"”")
	}
	if len(names) == 1 {
		return ", while " + names[0] + " was open"
	}
	return ", while " + strings.Join(names, " and ") + " were open"
}

func (w *watch) finding(s *observed, f *finding.Finding) {
	w.result.Found = w.result.Found || f.Severity.Rank() > finding.Info.Rank()
	r := &findingRecord{
		Process: s.process, Server: s.name, Calls: s.during(f.Tool, f.Evidence), Rule: f.Rule, Severity: f.Severity, Message: f.Message, Tool: f.Tool,
		Fingerprint: f.Fingerprint,
	}
	w.keep(s, f.Evidence, &session.Did{Type: session.DidFinding, Calls: r.Calls, Rule: r.Rule, Severity: string(r.Severity), Message: r.Message, Tool: r.Tool, Fingerprint: r.Fingerprint})
	at := w.when(f.Evidence)
	w.say(fmt.Sprintf("%s %s[%d]: [%s] %s: %s", at.Format("15:04:05.000"), report.Escape(s.process.Comm, maxName), s.process.PID, r.Severity, r.Rule, report.Escape(hide(w.hides.said, r.Message), 600)))
	if w.o.Format == JSONL {
		r = hidden(w.hides.out, r)
		r.Timestamp, r.Type = at.UTC().Format(time.RFC3339Nano), typeFinding
		w.encode(r)
	}
}
