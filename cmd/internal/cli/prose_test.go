package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// longSentence is how many words a sentence of a page may have.
const longSentence = 45

// dense are pages whose sentences are longer: they state rules and bounds in full, or
// are made from the code. Only their words are checked.
var dense = regexp.MustCompile(`^docs/(rules/|(architecture|threat-model|ledger|changes|gaps|cli|inputs|sandbox|packages|wire|audit|limits|policy|report)\.md)`)

var (
	inline      = regexp.MustCompile("`[^`]*`")
	sentenceEnd = regexp.MustCompile(`[.!?:;](\s|$)`)
)

type substitution struct{ old, use string }

func substitutions(t *testing.T) []substitution {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "style.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []substitution
	for line := range strings.Lines(string(data)) {
		if old, use, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			out = append(out, substitution{old, use})
		}
	}
	if len(out) < 10 {
		t.Fatalf("%d substitutions", len(out))
	}
	return out
}

// complaints are what is hard to read in a page.
func complaints(page string, subs []substitution, sentences bool) []string {
	var out []string
	text := inline.ReplaceAllString(block.ReplaceAllString(page, ""), "x")
	lower := " " + strings.Join(strings.Fields(strings.ToLower(text)), " ") + " "
	for _, s := range subs {
		if i := strings.Index(lower, s.old); i >= 0 {
			out = append(out, "“"+s.old+"”: write “"+s.use+"”")
		}
	}
	if !sentences {
		return out
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, "|") || strings.HasPrefix(paragraph, "#") {
			continue
		}
		for _, s := range sentenceEnd.Split(strings.ReplaceAll(paragraph, "\n- ", ". "), -1) {
			if words := strings.Fields(s); len(words) > longSentence {
				out = append(out, "a sentence is too long: “"+strings.Join(words[:8], " ")+" …”")
			}
		}
	}
	return out
}

// The pages use plain words and short sentences. Vale would do this, but it needs cgo,
// and its package of PyPI downloads a program when it runs.
func TestProse(t *testing.T) {
	subs := substitutions(t)
	for name, page := range pages(t) {
		for _, c := range complaints(page, subs, !dense.MatchString(name)) {
			t.Errorf("%s: %s", name, c)
		}
	}
}

func TestComplaints(t *testing.T) {
	subs := substitutions(t)
	long := strings.Repeat("word ", longSentence+1) + "."
	for page, want := range map[string]int{
		"It cannot fail. `can not`": 0, "It can\nnot fail.": 1, long: 1, "| " + long + " |": 0, "```\n" + long + "```\n": 0,
	} {
		if got := complaints(page, subs, true); len(got) != want {
			t.Errorf("%.30q: %q", page, got)
		}
	}
}
