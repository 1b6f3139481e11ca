package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// longSentence is how many words a sentence of a page may have.
const longSentence = 45

// maxPassive is how many of a page's hundred sentences may be in the passive voice, where it
// has at least minSentences.
const (
	maxPassive   = 20
	minSentences = 10
)

// dense are pages whose sentences are longer: they are made from the code. Only their words
// are checked.
var dense = regexp.MustCompile(`^docs/(rules/|(gaps|cli)\.md)`)

// passive is a form of "be" and a participle.
var passive = regexp.MustCompile(`(?i)\b(?:is|are|was|were|be|been|being)\s+(?:not |never |also |only |then |still |always )?(?:\w+ed|done|made|said|read|written|shown|kept|taken|given|found|known|seen|told|held|sent|run|put|set|built|left|lost|meant|brought|chosen|drawn|forgotten|hidden|led|met|thrown|understood)\b`)

// voice complains of a page that is mostly in the passive voice.
func voice(sentences []string) []string {
	hits := 0
	for _, s := range sentences {
		if passive.MatchString(s) {
			hits++
		}
	}
	if len(sentences) < minSentences || hits*100 <= maxPassive*len(sentences) {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d sentences are in the passive voice: name who does it", hits, len(sentences))}
}

var (
	inline      = regexp.MustCompile("`[^`]*`")
	sentenceEnd = regexp.MustCompile(`[.!?:;](\s|$)`)
)

type substitution struct {
	old, use string
	words    *regexp.Regexp
}

func substitutions(t *testing.T) []substitution {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "style.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []substitution
	for line := range strings.Lines(string(data)) {
		if old, use, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			out = append(out, substitution{old, use, regexp.MustCompile(`\b` + regexp.QuoteMeta(old) + `\b`)})
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
		if s.words.MatchString(lower) {
			out = append(out, "“"+s.old+"”: write “"+s.use+"”")
		}
	}
	if !sentences {
		return out
	}
	var all []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, "|") || strings.HasPrefix(paragraph, "#") {
			continue
		}
		for _, s := range sentenceEnd.Split(strings.ReplaceAll(paragraph, "\n- ", ". "), -1) {
			words := strings.Fields(s)
			if len(words) > 3 {
				all = append(all, s)
			}
			if len(words) > longSentence {
				out = append(out, "a sentence is too long: “"+strings.Join(words[:8], " ")+" …”")
			}
		}
	}
	return append(out, voice(all)...)
}

// The pages use plain words, short sentences and the active voice, as the rules of write-good
// and proselint ask. Vale would do this, but it needs cgo, and its package of PyPI downloads a
// program when it runs.
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
		strings.Repeat("The file is written by it. ", minSentences): 1, strings.Repeat("It writes the file. ", minSentences): 0, "It is very fast.": 1,
		"It cannot fail. `can not`": 0, "It can\nnot fail.": 1, long: 1, "| " + long + " |": 0, "```\n" + long + "```\n": 0,
	} {
		if got := complaints(page, subs, true); len(got) != want {
			t.Errorf("%.30q: %q", page, got)
		}
	}
}
