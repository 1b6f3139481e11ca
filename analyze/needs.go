package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What a server or a tool may need.
const (
	NeedCredential    = "credential"
	NeedConfiguration = "configuration"
	// NeedDevice is a telephone, an emulator or the like.
	NeedDevice = "device"
	// NeedProgram is one that is not in the sandbox, NeedService a host whose own
	// answers are not: the record shows both, too.
	NeedProgram = "program"
	NeedService = "service"
)

// Need is something that a server lacks, as it says or as was seen: what it does
// without says little about what it would do with.
type Need struct {
	// What is one of the Need constants.
	What string `json:"what"`
	// Names are the variables that it names, the programs, or the peers ("host:port").
	Names []string `json:"names,omitempty"`
	// Tool is the first tool that said so, "" for the server itself; Tools are all
	// of them, where they are several.
	Tool  string   `json:"tool,omitempty"`
	Tools []string `json:"tools,omitempty"`
	// Said is the line in which it did, bounded and without decoys.
	Said string `json:"said"`
	// Supplied says that coalmine stood in for it in a further start, and that the tools answered there.
	Supplied bool `json:"supplied,omitempty"`
}

// The lexicon: a line that speaks of something to be given, and of its lack.
var (
	credentialWords = lazyregexp.New(`(?i)(?:\bapi[ _-]?keys?\b|\b(?:access|auth|api|bearer|personal)[ _-]?tokens?\b|\btokens?\b|\bcredentials?\b|\bsecrets?\b|\bpasswords?\b|\boauth\b|\bclient[ _-]?id\b|\b(?:log|sign)(?:ged)?[ -]?in\b|\bre-?authenticate\b|\bauthenticat(?:ed|ion)\b|\b401\b|[A-Z0-9]_(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PAT|CREDENTIALS)(?:_|\b))`)
	configWords     = lazyregexp.New(`(?i:\benvironment variables?\b|\benv vars?\b|\bconfig(?:uration)?(?: file)?\b|\bsettings?\b|\barguments?\b|\bflags?\b|\boptions?\b|\bdirectory\b)|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b`)
	lackWords       = lazyregexp.New(`(?i)\b(?:requires?|required|missing|not (?:been )?(?:set|found|provided|configured|specified|defined|given)|must (?:be|provide|set|specify)|please (?:set|provide|configure|specify)|unset|no (?:api[ _-]?key|token|credentials?|config\w*)|unauthori[sz]ed|needs?|needed|is empty|could not find|cannot find|not (?:logged|signed) in|not authenticated|please (?:re-?)?(?:authenticate|log ?in|sign ?in))\b|(?-i:\b[Ss]et [A-Z][A-Z0-9]+_[A-Za-z0-9_]+)`)
	deviceWords     = lazyregexp.New(`(?i)\b(?:no (?:\w+ )?(?:devices?|emulators?|simulators?)\b|(?:device|emulator|simulator)s? (?:is |are )?(?:not (?:found|connected|available)|offline|unauthori[sz]ed))`)
	// What shells, libuv, Python and others say where a program is missing.
	programWords = lazyregexp.New(`(?i)\bspawn(?:Sync)? (\S{1,80}) ENOENT|\b([\w.+-]{1,40}): command not found\b|\bsh: (?:line )?(?:\d+: )?([\w.+-]{1,40}): not found\b|No such file or directory: '([\w+-]{1,40})'|` +
		`exec: "([\w.+-]{1,40})": executable file not found|\b([\w.+-]{1,40})(?: is)? not installed\b|\b([\w.+-]{1,40})(?: was)? not found in (?:the |your )?(?:system )?PATH\b|` +
		`Executable doesn't exist at \S{0,200}/([\w.+-]{1,40})|Could not find (Chrome|Chromium|Firefox|a browser)\b`)
	// extra is a package of Python with an optional part, which a line asks to install.
	extra     = lazyregexp.New(`(?i)\b(?:install|pip|uvx?)\b.{0,120}?['"` + "`" + ` ]([A-Za-z][\w.-]{1,60}\[[A-Za-z][\w, -]{0,40}\])`)
	usageLine = lazyregexp.New(`(?i)^usage:? `)
	// A part of a variable's name may be a host's, as in TF_TOKEN_app_terraform_io.
	variable = lazyregexp.New(`\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+(?:_[a-z0-9]+)*\b`)
)

// named find what a line names that has no variable: a file or a placeholder of the usage,
// or a device.
var named = map[string]*lazyregexp.Regexp{
	NeedConfiguration: lazyregexp.New(`<[\w. |/-]{1,40}>|[~./\w-]*\.(?:json|ya?ml|toml|ini|conf|cfg|env|properties)\b`),
	NeedDevice:        lazyregexp.New(`/dev/[\w./-]+|(?i)\b(?:emulator|simulator|device)s?\b`),
}

// maxNeeds bounds what is said of needs, maxSaid a line of it.
const (
	maxNeeds    = 16
	maxSaid     = 300
	maxNeedName = 80
)

// noPrograms are words that stand before "not installed" where what is missing stands in quotation marks or further away.
var noPrograms = []string{"is", "are", "was", "were", "it", "package", "packages", "currently", "yet", "been"}

// needOf reads a line; nil is one that asks for nothing.
func needOf(line string) *Need {
	line = strings.TrimSpace(line[:min(len(line), 2<<10)])
	var what string
	if m := programWords.FindStringSubmatch(line); m != nil {
		if name := strings.Join(m[1:], ""); !slices.Contains(noPrograms, strings.ToLower(name)) {
			return &Need{What: NeedProgram, Names: []string{name}, Said: line}
		}
	}
	if m := extra.FindStringSubmatch(line); m != nil {
		return &Need{What: NeedProgram, Names: []string{m[1]}, Said: line}
	}
	switch missing := lackWords.MatchString(line); {
	case missing && credentialWords.MatchString(line):
		what = NeedCredential
	case deviceWords.MatchString(line):
		what = NeedDevice
	case missing && configWords.MatchString(line), usageLine.MatchString(line):
		what = NeedConfiguration
	default:
		return nil
	}
	n := &Need{What: what, Said: line}
	for _, re := range []*lazyregexp.Regexp{variable, named[what]} {
		if re == nil || len(n.Names) > 0 {
			continue
		}
		most := 5
		if what == NeedDevice {
			most = 1
		}
		for _, v := range re.FindAllString(line, most) {
			if v = strings.TrimRight(v, ".,:;'\")"); !slices.Contains(n.Names, v) {
				n.Names = append(n.Names, v)
			}
		}
	}
	return n
}

// unmetNeeds finds what the server lacks: by what it said on its stderr where it ended
// or never spoke, by what tools said that answered with nothing but errors, and by
// what these were seen doing.
func (j *judge) unmetNeeds(res *Result, surface *wire.Surface, refusals map[string][]refusal) []Need {
	var out []Need
	add := func(n Need) {
		for i := range out {
			if o := &out[i]; o.same(&n) {
				o.join(n.Tool)
				return
			}
		}
		if len(out) < maxNeeds {
			out = append(out, n)
		}
	}
	read := func(tool, text string, own *ownWords) {
		for line := range strings.Lines(text) {
			n := needOf(line)
			if n != nil && n.What == NeedProgram && (j.profile.Ran(path.Base(n.Names[0])) || slices.Contains(own.command, n.Names[0])) {
				continue // it is here: something else was missing
			}
			if n != nil && !own.explains(n, line) {
				n.Tool, n.Said = tool, j.say(n.Said, maxSaid)
				for i := range n.Names {
					n.Names[i] = j.say(n.Names[i], maxNeedName)
				}
				add(*n)
			}
		}
	}
	spoke := j.profile.Phases[finding.PhaseCall]
	if !spoke || j.end.Crashed {
		own := j.ownWords(nil, nil)
		read("", res.Server.Stderr, &own)
	}
	for _, t := range res.Coverage.Tools {
		if t.Calls == 0 || t.OK > 0 || t.What != "tool" {
			continue
		}
		declared := slices.IndexFunc(surface.Tools, func(d wire.Tool) bool { return d.Name == t.Name })
		for _, r := range refusals[t.Name] {
			if ofValidation.MatchString(r.text) || ofOddInput.MatchString(r.text) {
				continue
			}
			var tool *wire.Tool
			if declared >= 0 {
				tool = &surface.Tools[declared]
			}
			own := j.ownWords(tool, r.args)
			read(t.Name, r.text, &own)
		}
		for _, n := range j.observedNeeds(t.Name) {
			add(n)
		}
	}
	return out
}

// credentialVariables are the variables that refusals name as what a credential stands in.
func credentialVariables(refusals map[string][]refusal) []string {
	var texts []string
	for _, tool := range slices.Sorted(maps.Keys(refusals)) {
		for _, r := range refusals[tool] {
			texts = append(texts, r.text)
		}
	}
	return variablesIn(texts...)
}

// startVariables are the variables that a server names in its last words that ended before any call.
func (j *judge) startVariables() []string {
	if j.profile.Phases[finding.PhaseCall] {
		return nil
	}
	return variablesIn(j.lastWords())
}

// variablesIn are the variables of which the lines of some texts say that a credential stands in them.
func variablesIn(texts ...string) []string {
	var out []string
	for _, text := range texts {
		for line := range strings.Lines(text) {
			n := needOf(line)
			if n == nil || n.What != NeedCredential {
				continue
			}
			for _, name := range n.Names {
				if variable.FindString(name) == name && !slices.Contains(out, name) && len(out) < maxVariables {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// supplied reports whether each tool that lacked something answers by now.
func (n *Need) supplied(c *Coverage) bool {
	tools := n.Tools
	if len(tools) == 0 {
		tools = []string{n.Tool}
	}
	return !slices.ContainsFunc(tools, func(tool string) bool {
		return !slices.ContainsFunc(c.Tools, func(t ToolCoverage) bool { return t.Name == tool && t.OK > 0 })
	})
}

// hasStartupNeed reports whether the server ended with a status before any call, and its
// stderr says what it lacks.
func (j *judge) hasStartupNeed() bool {
	if j.profile.Phases[finding.PhaseCall] || j.end.Signal != "" {
		return false
	}
	for line := range strings.Lines(j.lastWords()) {
		if needOf(line) != nil {
			return true
		}
	}
	return false
}

// same says that two needs are one: what was seen counts by what is lacking, what
// was said by its line.
func (n *Need) same(o *Need) bool {
	if n.What != o.What {
		return false
	}
	return n.Said == o.Said || (n.What == NeedService || n.What == NeedProgram) && slices.Equal(n.Names, o.Names)
}

// join adds a tool to those that need the same.
func (n *Need) join(tool string) {
	if tool == "" || tool == n.Tool || n.Tool == "" || slices.Contains(n.Tools, tool) {
		return
	}
	if len(n.Tools) == 0 {
		n.Tools = []string{n.Tool}
	}
	n.Tools = append(n.Tools, tool)
}

// gapOfNeed is the gap that a need leaves.
var gapOfNeed = map[string]session.Code{
	NeedCredential: session.GapCredentialMissing, NeedConfiguration: session.GapConfigurationMissing, NeedDevice: session.GapDeviceMissing,
	NeedProgram: session.GapProgramMissing, NeedService: session.GapServiceMissing,
}

// leaves reports whether a gap is the need's.
func (n *Need) leaves(g session.Gap) bool { return g.Code == gapOfNeed[n.What] && g.Tool == n.Tool }

// needGaps adds the needs to the reasons: what lacks its key was not looked at.
func (j *judge) needGaps(needs []Need) {
	for _, n := range needs {
		who := "the server"
		if n.Tool != "" {
			who = "tool “" + j.say(n.Tool, 80) + "”"
		}
		if len(n.Tools) > 1 {
			who += fmt.Sprintf(" (and %d more)", len(n.Tools)-1)
		}
		g := session.Gap{Code: gapOfNeed[n.What], Tool: n.Tool, Text: n.reason(who)}
		g.Remedy = n.remedy()
		j.doubt(g)
	}
}

// refused keeps what the errors of a call say, a few of each tool.
func (w *wireReader) refused(call int, said []string) {
	if len(said) == 0 {
		return
	}
	c := w.callOf(call)
	if c == nil || len(c.Oracles) > 0 || c.Turn > 0 {
		return // what is refused is an input of ours that nobody would send, or a service's answer
	}
	tool := c.Tool
	if tool == "" || len(w.refusals[tool]) >= 3 || len(w.refusals) > maxInputs {
		return
	}
	for _, text := range said {
		if !slices.ContainsFunc(w.refusals[tool], func(r refusal) bool { return r.text == text }) {
			w.refusals[tool] = append(w.refusals[tool], refusal{text, w.args.of[call]})
		}
	}
}

// errorTexts are the texts of an answer that is an error, of either kind.
func errorTexts(m *wire.Message) []string {
	if m.Error != nil {
		return []string{clip(wire.Prose(m.Error.Message), 2<<10)}
	}
	var r struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if !mayBeError(m.Result) || json.Unmarshal(m.Result, &r) != nil || !r.IsError {
		return nil
	}
	var out []string
	for _, c := range r.Content[:min(len(r.Content), 3)] {
		out = append(out, clip(wire.Prose(c.Text), 2<<10))
	}
	return out
}

// mayBeError tells most results that are no error without decoding them.
func mayBeError(result json.RawMessage) (may bool) {
	wire.Walk(result, func(key, value []byte) {
		may = may || bytes.EqualFold(key, []byte("isError")) && string(value) != "false"
	})
	return may
}
