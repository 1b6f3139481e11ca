package detect

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// Shadowing compares the declarations of several servers' logs: annotations for
// each log, by its index. Logs of one server are not compared with each other.
func Shadowing(logs []*Log) [][]Annotation {
	out := make([][]Annotation, len(logs))
	say := pii.NewScanner(nil)
	told := map[string]bool{}
	for i, a := range logs {
		for j, b := range logs {
			if i == j || a.server() == b.server() || a.State.Last == nil || b.State.Last == nil {
				continue
			}
			for _, f := range shadows(a, b) {
				key := fmt.Sprint(a.server(), "\x00", b.server(), "\x00", f.Metadata["tool"], f.Metadata["other"], f.Severity)
				if told[key] || len(out[i]) >= maxShadows {
					continue
				}
				told[key] = true
				f.Explanation = say.Redact(f.Explanation)
				f.ID = "ann_" + digest(key)
				out[i] = append(out[i], f)
			}
		}
	}
	return out
}

// maxShadows bounds what is told of one log.
const maxShadows = 200

// server names the server of a log, by its file where it gives no name.
func (l *Log) server() string {
	if n := l.State.Server.Name; n != "" {
		return n
	}
	return l.Name
}

// shadows finds what of a's declaration stands in the way of b's.
func shadows(a, b *Log) (out []Annotation) {
	add := func(severity int, tool, other, format string, args ...any) {
		category := toolUse
		out = append(out, Annotation{Kind: Divergence, Category: &category, Subcategory: "tool_shadowing", Severity: severity, Annotator: Annotator,
			Explanation: fmt.Sprintf(format, args...), Metadata: map[string]any{"seq": a.State.Last.Seq, "tool": name(tool), "other": name(b.server())}})
	}
	for _, t := range a.State.Last.Names {
		if b.State.Last.Has(t) {
			add(1, t, b.server(), "the tool %s is declared by the server %s as well", quoted(t), quoted(b.server()))
		}
	}
	for _, t := range a.State.Last.Names {
		said := a.State.Last.Tools[t].Description
		for _, other := range b.State.Last.Names {
			if a.State.Last.Has(other) || !distinctive(other) || !speaksOf(said, other) {
				continue
			}
			severity := 2
			if text.HasOrder(said) {
				severity = 3
			}
			add(severity, t, b.server(), "the description of the tool %s speaks of %s, a tool of the server %s", quoted(t), quoted(other), quoted(b.server()))
		}
	}
	return out
}

// distinctive tells a tool's name from a word that any text may hold.
func distinctive(tool string) bool {
	if len(tool) < 6 {
		return false
	}
	inner := tool[1:]
	return strings.ContainsAny(inner, "_-.") || strings.ToLower(inner) != inner
}

// speaksOf reports whether a text holds a name as a word of its own.
func speaksOf(said, tool string) bool {
	for at := 0; ; {
		i := strings.Index(said[at:], tool)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(tool)
		if (i == 0 || !isWord(said[i-1])) && (end == len(said) || !isWord(said[end])) {
			return true
		}
		at = i + 1
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
