package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm604 = Rule{Rule: cm604Doc, Check: checkCM604}

var cm604Doc = finding.Rule{
	ID: "CM604", Name: "OutlivesInput", Title: "Server keeps running after stdin closes", Severity: finding.Info, Family: finding.FamilyRobustness,
	Advice: finding.Advice{Why: "The process stays after the client has gone.", Fix: "Exit when stdin reaches its end, and end all child processes."},
	CWE:    []string{"CWE-772"}, OWASP: []string{"MCP02"},
	Help: "The stdio transport ends a session when the client closes the server's stdin. This server, or a process that it started, kept running, and the sandbox had to end it.\n\n" +
		"**Evidence.** The agent's notice that it had to signal what was left. Where a tool or the server promises that nothing runs between calls, in the background or after the session, it is high if the server itself had ended and another process was left, and medium if the server itself was. What the server reached outside of calls then is evidence too. Where the server started a program after its input was closed, and left that behind, it is medium, and high if the program is its own. A tool that declares to start something in the background keeps it at info.\n\n" +
		"**False positive when** a client is expected to send a signal as well.",
}

var (
	// endsWithSession are promises that nothing runs but for a call, or after the session.
	endsWithSession = lazyregexp.New(`(?i)\b(?:nothing|no [\w-]+(?: [\w-]+)?) (?:[\w-]+ ){0,2}?(?:runs?|running|stays?|remains?|lives?|left|continues?|survives?|outlives?|happens)\b.{0,60}\b(?:between (?:the )?(?:calls|requests)|after|afterwards|background|behind|beyond|once|session)\b` +
		`|\b(?:does not|doesn't|do not|don't|will not|won't|never) (?:run|stay|remain|keep|continue|leave|start|spawn|live|linger|do)s?\b.{0,50}\b(?:between (?:the )?calls|background|after|behind|beyond|daemons?|resident)\b` +
		`|\b(?:no|without(?: any)?) (?:background|resident|long-running|lingering|left-?over|detached) (?:[\w-]+ )?(?:process\w*|tasks?|jobs?|threads?|work|activity|services?|daemons?)\b|\bno daemons?\b` +
		`|\b(?:ends?|exits?|stops?|terminates?|quits?) (?:[\w-]+ ){0,2}?(?:with|when|as soon as|once) the (?:session|client|conversation|connection)\b`)
	// onlyInCalls are promises to work only when a tool is called.
	onlyInCalls = lazyregexp.New(`(?i)\bonly (?:when|while|during|if) (?:a |the |each |its |you )*(?:tools?|calls?|request|ask)\b`)
	// runsOn are declarations that something runs beyond a call.
	runsOn = lazyregexp.New(`(?i)\b(?:in the background|background (?:process|job|task)|daemons?|detached|keeps? (?:it )?running|dev(?:elopment)? server)\b`)
)

func checkCM604(r *Run) []finding.Finding {
	if !r.End.Killed {
		return nil
	}
	f := finding.Finding{
		Rule: cm604Doc.ID, Severity: cm604Doc.Severity, Title: cm604Doc.Title, Confidence: finding.Certain, Phase: finding.PhaseShutdown,
		Message:     "the server, or a process that it started, kept running after stdin closed",
		Evidence:    facts([]Fact{{Time: r.End.Time, Text: "the sandbox ended it with a signal"}}),
		Fingerprint: finding.Fingerprint("CM604"),
	}
	reached := r.reachedOutside()
	if left := r.startedAtEnd(); left != nil && r.End.WithStatus() {
		f.Severity, f.Tool, f.Message = finding.Medium, "", "at the end of the session the server started "+path.Base(left.Target)+", and left it running when it had ended itself ("+r.End.How()+")"
		if left.Became || r.remembered().launch(r).programs[left.Target] {
			f.Severity = finding.High
		}
		f.Evidence = append(f.Evidence, left.Evidence...)
	} else if promise := r.promiseToEnd(len(reached) > 0); promise != "" {
		f.Severity, f.Message = finding.Medium, "the server kept running after stdin closed"
		if r.End.WithStatus() {
			f.Severity, f.Message = finding.High, "a process that the server started kept running after the session, when the server itself had ended ("+r.End.How()+")"
		}
		f.Message += ", although it promises otherwise: “" + promise + "”"
		var hosts []string
		for _, e := range reached {
			f.Evidence = append(f.Evidence, e.Evidence...)
			if !slices.Contains(hosts, e.Target) {
				hosts = append(hosts, e.Target)
			}
		}
		if len(hosts) > 0 {
			f.Message += "; outside of calls it reached " + list(hosts, 3)
		}
		f.Evidence = f.Evidence[:min(len(f.Evidence), maxEvidence)]
	}
	return []finding.Finding{f}
}

// startedAtEnd is the start of a program after the client had closed the server's input, nil for none. What starts a
// server in the background says so.
func (r *Run) startedAtEnd() *finding.Effect {
	for _, e := range r.effects(finding.Exec) {
		if e.Phase == finding.PhaseShutdown && e.Rung == finding.RungOpened && len(e.Argv) > 1 && !r.saysRunsOn() {
			return e
		}
	}
	return nil
}

// saysRunsOn reports whether a tool, or the server, declares that something runs beyond a call.
func (r *Run) saysRunsOn() bool {
	return slices.ContainsFunc(r.sentences(), func(s sentence) bool { return !s.denies && runsOn.MatchString(s.text) })
}

// reachedOutside are the connections that the server made, or tried to, outside of calls.
func (r *Run) reachedOutside() []*finding.Effect {
	return slices.DeleteFunc(r.effects(finding.NetConnect), func(e *finding.Effect) bool {
		return e.Call > 0 || !leaving(e) || e.Phase == finding.PhaseBuild
	})
}

// promiseToEnd is the sentence by which a tool, or the server, promises that nothing runs after the session, or,
// where it reached something outside of calls, that it works only for a call. It is "" where another sentence
// declares that something runs on.
func (r *Run) promiseToEnd(active bool) string {
	promise := ""
	for _, s := range r.sentences() {
		switch {
		case endsWithSession.MatchString(s.text), active && onlyInCalls.MatchString(s.text):
			if promise == "" {
				promise = strings.TrimSpace(s.text)
			}
		case !s.denies && runsOn.MatchString(s.text):
			return ""
		}
	}
	return promise
}
