package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm229 = Rule{Rule: cm229Doc, Check: checkCM229}

var cm229Doc = finding.Rule{
	ID: "CM229", Name: "OptOutIgnored", Title: "Opt-out ignored", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "The user turned it off, and the data goes to others, or stays on the disk, all the same.", Fix: "Ask for the setting before anything is sent or written, and leave it out where the user declined.", Preview: true},
	CWE:    []string{"CWE-359", "CWE-200"}, OWASP: []string{"MCP02", "MCP10"},
	Help: "A declaration says that nothing is sent, or kept, once the user has turned it off. A call turned it off, and a later call's text, which was drawn for this, was sent to a host or stood in a file afterwards.\n\n" +
		"**Evidence.** The flow, or the kernel's record of the write. Data that a call sends where its arguments say, or to a host that only other sentences speak of, is quiet: the choice is about something else.\n\n" +
		"**False positive when** the promise is about one kind of data alone, such as usage statistics, and the host gets other data for what the tool does.",
}

var (
	// turnedOff are the words of a sentence that says what is so once something is off.
	turnedOff = lazyregexp.New(`(?i)\b(?:off|disabl\w+|opt(?:ed|s|ing)?[ -]?out|unless|without (?:\w+ )?consent|declin\w+|incognito|private|offline)\b`)
	// sendsNone and keepsNone are what it then promises.
	sendsNone = lazyregexp.New(`(?i)\b(?:no|nothing|never|not|none|neither|unless)\b[^.]{0,60}\b(?:sent|sends?|leaves?|transmi\w+|shared?|uploads?|uploaded|reports?|reported|collects?|collected|goes|go)\b|\bsends?\b[^.]{0,90}\bunless\b`)
	keepsNone = lazyregexp.New(`(?i)\b(?:no|nothing|never|not|none|neither|unless)\b[^.]{0,60}\b` + keptVerbs + `|\b` + keepsVerbs + `[^.]{0,90}\bunless\b`)
)

func checkCM229(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Carried {
		c := &r.Profile.Carried[i]
		how := r.optedOut(c.Call)
		if how == "" || c.Loopback || c.Host == "" || r.asked(c.Call, c.Host) || !r.turnsOff(c.Tool, c.Host) {
			continue
		}
		out = append(out, r.sentInCall(&cm229Doc, c, c.Tool, "“"+text.Printable(c.Tool, 80)+"” sent its text to "+c.Host+", although the user had turned that off ("+text.Printable(how, 100)+")"))
	}
	for i := range r.Profile.Stored {
		f := &r.Profile.Stored[i]
		for _, w := range f.By {
			if !slices.ContainsFunc(f.Held, func(h profile.Held) bool { return h.Call == w.Call }) {
				continue
			}
			how := r.optedOut(w.Call)
			if how == "" || r.asked(w.Call, f.Path) || !r.promisesOnceOff(w.Tool, keepsNone) {
				continue
			}
			found := r.of(&cm229Doc, writeOf(f, &w), "")
			found.Message = "“" + text.Printable(w.Tool, 80) + "” kept its text in " + r.stable(f.Path) + ", although the user had turned that off (" + text.Printable(how, 100) + ")"
			out = append(out, found)
		}
	}
	return first(out)
}

// optedOut is what was turned off before a call, "" for nothing.
func (r *Run) optedOut(call int) string {
	if in := r.injected(call, session.OracleOptOut); in != nil {
		return in.Context
	}
	return ""
}

// promisesOnceOff reports whether a tool, the server or the tool that turns something off promises something of the time
// after that.
func (r *Run) promisesOnceOff(tool string, what *lazyregexp.Regexp) bool {
	of := func(o detect.Owner) bool {
		return serverOr(tool)(o) || turnsOffTool.MatchString(strings.ReplaceAll(o.Name, "_", " "))
	}
	return r.sentenceOf(of, func(s *sentence) bool { return turnedOff.MatchString(s.text) && what.MatchString(s.text) }) != ""
}

// turnsOffTool is the name of a tool that sets what is done with data.
var turnsOffTool = lazyregexp.New(`(?i)^(?:set|turn|toggle|enable|disable|configure|update|change|switch|opt)\b`)

// turnsOff reports whether a declaration promises that a host gets nothing once it is turned off: the promise, or what
// the same text says of what is turned off, names the host.
func (r *Run) turnsOff(tool, host string) bool {
	if !r.promisesOnceOff(tool, sendsNone) {
		return false
	}
	host = strings.ToLower(host)
	list := r.sentences()
	for i := range list {
		s := &list[i]
		near := turnedOff.MatchString(s.text) || i+1 < len(list) && list[i+1].owner == s.owner && turnedOff.MatchString(list[i+1].text)
		if near && strings.Contains(s.lower, host) {
			return true
		}
	}
	return false
}
