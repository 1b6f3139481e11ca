package rules

import (
	"path"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// sentenceEnd separates the sentences of a declaration. The dot within a file's name ends none.
var sentenceEnd = lazyregexp.New(`[.;!?]\s+|\n`)

// leastPlaceName is how long the last part of a path has to be to name the path by itself.
const leastPlaceName = 6

// declaresPlace is the name by which the tool, or the server, says in one sentence that it
// changes an obeyed place: "writes a .desktop file into ~/.config/autostart".
func (r *Run) declaresPlace(e *finding.Effect) (finding.Explanation, bool) {
	names := r.placeNames(e.Target)
	if len(names) == 0 {
		return finding.Explanation{}, false
	}
	for _, s := range r.sentences() {
		if !s.owner.Speaks(e.Tool) || s.place == "inputSchema" || s.place == "outputSchema" {
			continue
		}
		for _, name := range names {
			if s.mentions(name) && (scope.SaysChange(s.text) || s.acts()) {
				return finding.Explanation{Class: finding.ClassClaim, Where: s.place, Text: name}, true
			}
		}
	}
	return finding.Explanation{}, false
}

// looking are the verbs of tools that change no file, and noVerbs what follows a noun at the beginning of a
// description.
var (
	looking = wordSet("read list show get find search say tell count describe explain check validate verify lint parse analyse analyze compare diff summarise summarize look print display view inspect preview return report " +
		"extract query fetch load open browse scan audit review rate score grade measure estimate compute calculate detect identify see examine watch monitor test answer give lookup suggest propose recommend draft resolve")
	noVerbs = wordSet("of for from in on with is are and or to as by")
)

// clauses are the parts of a sentence that say when: "where there is none".
var clauses = lazyregexp.New(`,? \b(?:if|where|when|unless|until|once)\b.*`)

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// acts reports whether a sentence of a description begins with a verb of which it is not known that it only
// looks: "Bumps the version in package.json" changes the file that it names.
func (s *sentence) acts() bool {
	w := strings.Fields(s.lower)
	if s.place != "description" || denial.MatchString(clauses.ReplaceAllString(s.lower, "")) || len(w) < 2 || noVerbs[w[1]] {
		return false
	}
	for _, end := range []string{"", "s", "es"} {
		if verb, ok := strings.CutSuffix(w[0], end); ok && looking[verb] {
			return false
		}
	}
	return !strings.ContainsFunc(w[0], func(c rune) bool { return !unicode.IsLetter(c) })
}

// worksOn is the file that a tool's description names as what it works on.
func (r *Run) worksOn(e *finding.Effect) (finding.Explanation, bool) {
	base := path.Base(e.Target)
	if e.Tool == "" || e.Kind != finding.FileWrite || len(base) < leastPlaceName || r.readOnly(e.Tool) {
		return finding.Explanation{}, false
	}
	for _, s := range r.sentences() {
		if s.owner.Kind == detect.OwnerTool && s.owner.Name == e.Tool && s.mentions(base) && s.acts() {
			return mention(s.place, base), true
		}
	}
	return finding.Explanation{}, false
}

// placeNames are the names of an obeyed file and of the obeyed directories around it: their
// paths as the user writes them, and their last parts.
func (r *Run) placeNames(target string) []string {
	var out []string
	for p := target; len(p) > 1 && p != r.Home && r.placeOf(p) == placeObeyed; p = path.Dir(p) {
		out = append(out, p)
		for _, dir := range r.userDirs() {
			if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
				out = append(out, rest)
			}
		}
		if base := path.Base(p); len(base) >= leastPlaceName {
			out = append(out, base)
		}
	}
	return out
}

// mentions reports whether a text holds a name of a file as a word of its own, in any case.
func mentions(text, name string) bool { return hasName(strings.ToLower(text), strings.ToLower(name)) }

// mentions is as that of a text.
func (s *sentence) mentions(name string) bool { return hasName(s.lower, strings.ToLower(name)) }

// hasName is mentions of what is in lower case.
func hasName(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		at = i + 1
		end := i + len(name)
		after := strings.TrimPrefix(text[end:], ".") // which may end the sentence
		if (i == 0 || !inName(text[i-1])) && (after == "" || !inName(after[0])) {
			return true
		}
	}
}

// inName reports whether a byte beside a name makes it a part of a longer one.
func inName(c byte) bool {
	return c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 0x80
}
