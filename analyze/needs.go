package analyze

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/wire"
)

// Need is something that a server says it lacks: what it does without says little
// about what it would do with.
type Need struct {
	// What is "credential" or "configuration".
	What string `json:"what"`
	// Names are the variables that it names.
	Names []string `json:"names,omitempty"`
	// Tool is the tool that said so, "" for the server itself.
	Tool string `json:"tool,omitempty"`
	// Said is the line in which it did, bounded and without decoys.
	Said string `json:"said"`
}

// The lexicon: a line that speaks of something to be given, and of its lack.
var (
	credentialWords = regexp.MustCompile(`(?i)(?:\bapi[ _-]?keys?\b|\b(?:access|auth|api|bearer|personal)[ _-]?tokens?\b|\btokens?\b|\bcredentials?\b|\bsecrets?\b|\bpasswords?\b|\boauth\b|\bclient[ _-]?id\b|\blog ?in\b|\b401\b|[A-Z0-9]_(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PAT|CREDENTIALS)\b)`)
	configWords     = regexp.MustCompile(`(?i:\benvironment variables?\b|\benv vars?\b|\bconfig(?:uration)?(?: file)?\b|\bsettings?\b|\barguments?\b|\bflags?\b|\boptions?\b|\bdirectory\b)|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b`)
	lackWords       = regexp.MustCompile(`(?i)\b(?:requires?|required|missing|not (?:been )?(?:set|found|provided|configured|specified|defined|given)|must (?:be|provide|set|specify)|please (?:set|provide|configure|specify)|unset|no (?:api[ _-]?key|token|credentials?|config\w*)|unauthori[sz]ed|needs?|needed|is empty|could not find|cannot find)\b`)
	usageLine       = regexp.MustCompile(`(?i)^usage:? `)
	variable        = regexp.MustCompile(`\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b`)
)

// maxNeeds bounds what is said of needs, maxSaid a line of it.
const (
	maxNeeds = 8
	maxSaid  = 300
)

// needOf reads a line; nil is one that asks for nothing.
func needOf(line string) *Need {
	line = strings.TrimSpace(line[:min(len(line), 2<<10)])
	var what string
	switch lacks := lackWords.MatchString(line); {
	case lacks && credentialWords.MatchString(line):
		what = "credential"
	case lacks && configWords.MatchString(line), usageLine.MatchString(line):
		what = "configuration"
	default:
		return nil
	}
	n := &Need{What: what, Said: line}
	for _, v := range variable.FindAllString(line, 5) {
		if !slices.Contains(n.Names, v) {
			n.Names = append(n.Names, v)
		}
	}
	return n
}

// needs finds what the server said that it lacks: on its stderr where it ended or
// never spoke, and in the errors of tools that answered with nothing else.
func (j *judge) needs(res *Result, refusals map[string][]string) []Need {
	var out []Need
	add := func(tool, text string) {
		for line := range strings.Lines(text) {
			n := needOf(line)
			if n == nil || len(out) >= maxNeeds || slices.ContainsFunc(out, func(o Need) bool { return o.Said == n.Said }) {
				continue
			}
			n.Tool, n.Said = tool, j.say(n.Said, maxSaid)
			out = append(out, *n)
		}
	}
	spoke := j.profile.Phases[finding.PhaseCall]
	if !spoke || j.end.Crashed {
		add("", res.Server.Stderr)
	}
	for _, t := range res.Coverage.Tools {
		if t.Calls > 0 && t.OK == 0 && t.What == "tool" {
			for _, text := range refusals[t.Name] {
				add(t.Name, text)
			}
		}
	}
	return out
}

// lacking reports whether the server ended with a status before any call, and its
// stderr says what it lacks.
func (j *judge) lacking() bool {
	if j.profile.Phases[finding.PhaseCall] || strings.HasPrefix(j.exit, "signal ") {
		return false
	}
	for line := range strings.Lines(j.lastWords()) {
		if needOf(line) != nil {
			return true
		}
	}
	return false
}

// needHoles adds the needs to the reasons: what lacks its key was not looked at.
func (j *judge) needHoles(needs []Need) {
	for _, n := range needs {
		who := "the server"
		if n.Tool != "" {
			who = "tool “" + j.say(n.Tool, 80) + "”"
		}
		what := "a " + n.What
		if len(n.Names) > 0 {
			what += " (" + strings.Join(n.Names, ", ") + ")"
		}
		remedy := ""
		if len(n.Names) > 0 {
			remedy = "; --env " + n.Names[0] + "=VALUE gives it a dummy"
		}
		j.because("%s says that it needs %s: “%s”%s", who, what, n.Said, remedy)
	}
}

// refused keeps what a tool's errors say, a few of each tool.
func (w *wireReader) refused(call int, m *wire.Message) {
	tool := ""
	for _, c := range w.profile.Calls[min(max(call-1, 0), len(w.profile.Calls)):] {
		if c.N == call {
			tool = c.Tool
			break
		}
	}
	if tool == "" || len(w.refusals[tool]) >= 3 || len(w.refusals) > maxInputs {
		return
	}
	for _, text := range errorTexts(m) {
		if !slices.Contains(w.refusals[tool], text) {
			w.refusals[tool] = append(w.refusals[tool], text)
		}
	}
}

// errorTexts are the texts of an answer that is an error, of either kind.
func errorTexts(m *wire.Message) []string {
	if m.Error != nil {
		return []string{clip(m.Error.Message, 2<<10)}
	}
	var r struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(m.Result, &r) != nil || !r.IsError {
		return nil
	}
	var out []string
	for _, c := range r.Content[:min(len(r.Content), 3)] {
		out = append(out, clip(c.Text, 2<<10))
	}
	return out
}
