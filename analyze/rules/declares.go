package rules

import (
	"path"
	"regexp"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// sentenceEnd separates the sentences of a declaration. The dot within a file's name ends none.
var sentenceEnd = regexp.MustCompile(`[.;!?]\s+|\n`)

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
			if s.mentions(name) && scope.SaysChange(s.text) {
				return finding.Explanation{Class: finding.ClassClaim, Where: s.place, Text: name}, true
			}
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
