package audit

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// silencer is a comment by which a source asks a scanner of ours to pass over a line.
var silencer = lazyregexp.New(`gitleaks:allow|coalmine:ignore\b`)

// silencers reports the lines that ask scanners to report nothing.
func (a *auditor) silencers(p, src string) {
	if a.own || !strings.Contains(src, ":allow") && !strings.Contains(src, ":ignore") {
		return
	}
	line := -1
	for _, at := range askings(src) {
		start := strings.LastIndexByte(src[:at[0]], '\n') + 1
		if start == line {
			continue
		}
		line = start
		a.report.Silenced++
		asks := src[at[0]:at[1]]
		a.add(ScannerSilenced, finding.Info, p, src, at[0], "a comment asks scanners to pass over this line: "+asks, asks)
	}
}

// askings are the places of silencers in a text.
func askings(src string) (out [][]int) {
	for i := 0; ; {
		n := strings.IndexByte(src[i:], ':')
		if n < 0 {
			return out
		}
		i += n
		for _, word := range []string{"gitleaks", "coalmine"} {
			if from := i - len(word); from >= 0 && src[from:i] == word {
				if at := silencer.FindStringIndex(src[from:min(i+len(":ignore")+1, len(src))]); at != nil {
					out = append(out, []int{from, from + at[1]})
				}
			}
		}
		i++
	}
}

// silences reports whether a line of the reader's own asks to pass over a rule: over those
// that it names, or over all.
func silences(line, rule string) bool {
	at := silencer.FindStringIndex(line)
	if at == nil {
		return false
	}
	named := false
	for _, r := range Rules() {
		if ruleWord(line[at[1]:], r.ID) {
			named = true
			if r.ID == rule {
				return true
			}
		}
	}
	return !named
}

// ruleWord reports whether a text names a rule.
func ruleWord(text, rule string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }), rule)
}

// unshown begins an order of what not to show: of an answer's looks more often than of a secret.
var unshown = lazyregexp.New(`(?i)^(?:do\s+not|don'?t|never|without|avoid)\s+(?:\w+\s+){0,2}?show`)

// quotedAttack is what stands beside an order in quotation marks that is told as an example.
var quotedAttack = lazyregexp.New(`(?i)prompt[ -]?injection|\bphishing\b|\bjailbreak`)

// isOrdinary reports whether a hit is no more than what prompts of honest programs
// have: a tag with an order after it, an order of what not to show, or one in quotation marks
// as an example of an attack. With an order
// to read secrets or to keep silent beside it, it is more; and what of it a server
// declares is judged on the wire.
func isOrdinary(h text.Hit, src string) bool {
	const reach = 600
	if h.Rule != text.Poisoning {
		return false
	}
	others := func(from int, is func(string) bool) bool {
		return slices.ContainsFunc(text.Scan(src[from:min(h.Offset+reach, len(src))]), func(more text.Hit) bool {
			return more.Rule == text.Poisoning && is(more.Text)
		})
	}
	switch {
	case h.Quoted:
		return quotedAttack.MatchString(src[max(h.Offset-reach, 0):min(h.End+reach, len(src))])
	case strings.HasPrefix(h.Text, "<") || strings.HasPrefix(h.Text, "["):
		return !others(h.Offset+1, func(string) bool { return true })
	case unshown.MatchString(h.Text):
		return !others(max(h.Offset-reach, 0), func(order string) bool { return !unshown.MatchString(order) })
	}
	return false
}

// directedAt is a place of text for a model.
type directedAt struct {
	rule, path string
	offset     int
}

// directed reports hidden text and orders to a model, but those that are for somebody else.
func (a *auditor) directed(ctx context.Context, p, src string, isForOthers func(*text.Hit) bool) error {
	hits, whole := textHits(src, textPart)
	if !whole {
		a.report.Skipped++ // looked at in part: what was found stands
	}
	for _, h := range hits {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := directedAt{h.Rule, p, h.Offset}
		if a.directs[at] || h.Rule == text.Hidden && !hidesInSource(h, src) || isForOthers(&h) {
			continue
		}
		a.directs[at] = true
		sev := finding.Critical
		switch {
		case h.Rule == text.Hidden:
			sev = finding.High
		case isOrdinary(h, src):
			sev = finding.Low
		}
		a.add(h.Rule, sev, p, src, h.Offset, h.Text, h.Text)
	}
	return nil
}

// readme searches the README of a package's root for orders: registries show it, and agents
// read it. Of other documentation nobody knows who reads it.
func (a *auditor) readme(ctx context.Context, p string) error {
	if a.guardsOnly || !strings.HasPrefix(strings.ToLower(p), "readme") {
		return nil
	}
	data, err := a.read(p)
	if err != nil {
		a.report.Skipped++
		return nil
	}
	return a.directed(ctx, p, string(data), inProse(string(data)))
}

var (
	// agentFiles are the names of texts that agents take instructions from, and agentDirectories hold such texts.
	agentFiles       = words("SKILL.md CLAUDE.md CLAUDE.local.md AGENTS.md GEMINI.md copilot-instructions.md .cursorrules .windsurfrules .clinerules")
	agentDirectories = lazyregexp.New(`(?:^|/)(?:\.claude|\.cursor|\.codex|\.gemini|\.opencode|\.kiro|\.windsurf|\.roo|\.github/(?:prompts|instructions|chatmodes|agents))/.*\.(?:md|mdc)$|^(?:commands|agents|skills)/.*\.md$`)
	// sample is a block of commands in such a text.
	sample = lazyregexp.New("(?s)```(?:sh|bash|shell|zsh|console)?[ \\t]*\\n(.*?)```")
)

// isForAgents reports whether agents take instructions from a file: a skill, a command, a rule.
func isForAgents(p string) bool { return agentFiles[path.Base(p)] || agentDirectories.MatchString(p) }

// instructions judges a text that agents obey: the orders that it should not hold, its secrets and its blocks of commands.
func (a *auditor) instructions(ctx context.Context, p string) error {
	data, err := a.read(p)
	if err != nil {
		a.report.Skipped++
		return nil
	}
	a.report.Profile.FilesScanned++
	if a.guardsOnly {
		return nil
	}
	src := string(data)
	for _, at := range sample.FindAllSubmatchIndex(data, maxSamples) {
		a.shellText(p, src, src[at[2]:at[3]], at[2], finding.High)
	}
	return a.search(ctx, p, src, false)
}

// maxSamples bounds the blocks of commands of one text.
const maxSamples = 100

// inProse reports whether an order of a text that people read is for them.
func inProse(src string) func(*text.Hit) bool {
	return func(h *text.Hit) bool {
		h.Quoted = h.Quoted || isQuotation(h, src)
		return isForPeople(h, src)
	}
}

// isQuotation reports whether an order stands between straight quotation marks or backquotes of
// its line. In a source they are a literal's, in prose they quote.
func isQuotation(h *text.Hit, src string) bool {
	before, after := src[:h.Offset], src[min(h.End, len(src)):]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	return slices.ContainsFunc([]string{`"`, "`"}, func(mark string) bool {
		return strings.Count(before, mark)%2 == 1 && strings.Contains(after, mark)
	})
}

var (
	// handling is an order that a manual has for the user, too: to open a file with a secret.
	handling = lazyregexp.New(`(?i)^(?:read|cat|open|load|send|include|pass|attach|upload|get|fetch)\b`)
	// addressee is who reads a README and is no person.
	addressee = lazyregexp.New(`(?i)\b(?:AIs?|LLMs?|assistants?|agents?|(?:language )?models?|claude|chatgpt|copilot)\b`)
)

// isForPeople reports whether an order of a README is one to its reader: to open a file that
// holds a secret, on a line that speaks to no model and with no other order near it.
func isForPeople(h *text.Hit, src string) bool {
	const reach = 600
	if h.Rule != text.Poisoning || h.Decoded || !handling.MatchString(h.Text) {
		return false
	}
	_, _, line := position(src, h.Offset)
	if addressee.MatchString(line) {
		return false
	}
	return !slices.ContainsFunc(text.Scan(src[max(h.Offset-reach, 0):min(h.End+reach, len(src))]), func(more text.Hit) bool {
		return more.Rule == text.Poisoning && !handling.MatchString(more.Text)
	})
}

const (
	// textOverlap is more than a place that text.Scan tells of takes.
	textOverlap = 8 << 10
	// textPart is the size of the parts in which a text is searched: in few of them stands a
	// word without which no expression is run.
	textPart = 64 << 10
)

// textHits scans a text of any length, in parts of a size that overlap. Where a
// scan comes back full, the next one begins at its last place. It reports whether
// it came to the text's end.
func textHits(src string, size int) (out []text.Hit, whole bool) {
	for from, owned, parts := 0, 0, 0; parts < maxParts; parts++ {
		to := min(from+size, len(src))
		until := to
		if to < len(src) {
			until -= textOverlap / 2
		}
		hits := text.Scan(src[from:to])
		for _, h := range hits {
			h.End += from
			if h.Offset += from; h.Offset >= owned && h.Offset < until {
				out = append(out, h)
			}
		}
		if len(hits) == text.MaxHits {
			if last := from + hits[len(hits)-1].Offset; last < until {
				// The place itself is looked at again, for what goes on in it is no other.
				from, owned, size = max(last, from+1), max(owned, last+1), min(size, textPart)
				continue
			}
		}
		if to == len(src) {
			return out, true
		}
		from, owned = to-textOverlap, until
	}
	return out, false
}
