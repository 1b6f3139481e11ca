package detect

import (
	"slices"
	"strings"
	"unicode"
)

// rewordings finds results that give a long text back word for word, except sentences that lost their negation or have
// another number: whoever relies on the result relies on the opposite of what was written.
type rewordings struct {
	told map[string]bool
	// looked counts the results of each tool that were compared.
	looked map[string]int
}

// What is compared: texts of a length, so many of a tool, and sentences of so many words.
const (
	leastReworded              = 300
	maxReworded                = 20
	leastSentence, maxSentence = 5, 60
	// leastSentences is how many sentences a text has whose wording is compared, and leastVerbatim the share of them, in
	// percent, that a tool gives back as they were.
	leastSentences, leastVerbatim = 8, 70
	// leastLost is how many sentences are changed: one could be cut off or escaped.
	leastLost = 2
	// maxAnchors bounds the places at which a sentence is looked for, and maxDifference the words in which what stands
	// there differs.
	maxAnchors, maxDifference = 32, 4
)

func (*rewordings) name() string { return "reworded" }

func (q *rewordings) event(c *context) {
	if !c.IsCallResult() || c.Asked == nil || len(c.given) < leastReworded || len(c.given) > maxArgument || len(c.Result) < leastReworded || len(c.Result) > maxComparedLen ||
		q.told[c.Asked.Tool] || q.looked[c.Asked.Tool] >= maxReworded {
		return
	}
	longest := ""
	eachString(c.given, func(_, s string) {
		if len(s) > len(longest) {
			longest = s
		}
	})
	given := sentencesOf(longest)
	if len(given) < leastSentences {
		return
	}
	if q.told == nil {
		q.told, q.looked = map[string]bool{}, map[string]int{}
	}
	q.looked[c.Asked.Tool]++
	said := wordsSaid(c.Result)
	lost := compareWording(given, said)
	if lost.verbatim*100 < len(given)*leastVerbatim {
		return
	}
	switch {
	case lost.negations >= leastLost:
		q.tell(c, 3, "without its negation", lost.example)
	case lost.numbers >= leastLost:
		q.tell(c, 2, "with another number", lost.other)
	}
}

func (q *rewordings) tell(c *context, severity int, how string, example [2]string) {
	tool := c.Asked.Tool
	q.told[tool] = true
	c.add(Divergence, "reworded", severity, []any{"tool", name(tool)},
		"a result of %s gives back what its call gave, but has sentences %s: %s became %s", quoted(tool), how, quoted(example[0]), quoted(example[1]))
	c.identify("a result of %s has sentences %s", quoted(tool), how)
	c.ofTool()
}

// wording is what became of the sentences of a text.
type wording struct {
	verbatim, negations, numbers int
	// example and other are a sentence that lost its negation, and one with another number, before and after.
	example, other [2]string
}

// compareWording looks for each sentence of a text in the words of a result.
func compareWording(given [][]string, said []string) (out wording) {
	at := map[string][]int{} // the places of three words in a row
	for i := 0; i+2 < len(said); i++ {
		key := said[i] + " " + said[i+1] + " " + said[i+2]
		if len(at[key]) < maxAnchors {
			at[key] = append(at[key], i)
		}
	}
	whole := " " + strings.Join(said, " ") + " "
	known := map[string]bool{}
	for _, s := range given {
		for _, w := range s {
			known[w] = true
		}
	}
	for _, s := range given {
		if strings.Contains(whole, " "+strings.Join(s, " ")+" ") {
			out.verbatim++
			continue
		}
		changed, removed, added := nearest(s, said, at)
		switch {
		case changed == nil:
		case len(removed) <= 2 && len(added) <= 1 && slices.ContainsFunc(removed, isNegation) && !slices.ContainsFunc(added, isNegation):
			if out.negations++; out.negations == 1 {
				out.example = [2]string{strings.Join(s, " "), strings.Join(changed, " ")}
			}
		case len(removed) == 1 && len(added) == 1 && isNumeral(removed[0]) && isNumeral(added[0]) && !known[added[0]]:
			if out.numbers++; out.numbers == 1 {
				out.other = [2]string{strings.Join(s, " "), strings.Join(changed, " ")}
			}
		}
	}
	return out
}

// nearest is the part of a result that begins and ends like a sentence and has most of its words, nil for none, with
// the words that it lacks and those that it has beyond.
func nearest(s, said []string, at map[string][]int) (changed, removed, added []string) {
	first, last := strings.Join(s[:3], " "), strings.Join(s[len(s)-2:], " ")
	least := maxDifference + 1
	for _, from := range at[first] {
		for n := len(s) - 2; n <= len(s)+2 && from+n <= len(said); n++ {
			part := said[from : from+n]
			if strings.Join(part[n-2:], " ") != last {
				continue
			}
			if lacks, has := difference(s, part); len(lacks)+len(has) < least {
				changed, removed, added, least = part, lacks, has, len(lacks)+len(has)
			}
		}
	}
	return changed, removed, added
}

// difference are the words of a that b lacks, and those of b that a lacks, by their longest common subsequence.
func difference(a, b []string) (removed, added []string) {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if common[i][k] = max(common[i+1][k], common[i][k+1]); a[i] == b[k] {
				common[i][k] = common[i+1][k+1] + 1
			}
		}
	}
	i, k := 0, 0
	for i < len(a) && k < len(b) {
		switch {
		case a[i] == b[k]:
			i, k = i+1, k+1
		case common[i+1][k] >= common[i][k+1]:
			removed, i = append(removed, a[i]), i+1
		default:
			added, k = append(added, b[k]), k+1
		}
	}
	return append(removed, a[i:]...), append(added, b[k:]...)
}

// sentencesOf are the sentences of a text as lists of words, without short and long ones.
func sentencesOf(text string) (out [][]string) {
	for line := range strings.Lines(text) {
		for s := range strings.SplitSeq(line, ". ") {
			if words := plainWords(s); len(words) >= leastSentence && len(words) <= maxSentence {
				out = append(out, words)
			}
		}
	}
	return out
}

// wordsSaid are the words of all texts of a result.
func wordsSaid(result []byte) (out []string) {
	eachString(result, func(_, s string) { out = append(out, plainWords(s)...) })
	return out
}

// plainWords are the words and numbers of a text in lower case.
func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' })
}

var negations = strings.Fields("not no never none neither nor without cannot nobody nothing can't don't doesn't won't shan't mustn't nicht nie kein keine keinen keiner keinem keines ohne pas jamais aucun sans nunca ningún sin non mai")

func isNegation(w string) bool { return slices.Contains(negations, w) }

var numberWords = strings.Fields("one two three four five six seven eight nine ten eleven twelve fourteen fifteen twenty thirty forty fifty sixty ninety hundred thousand")

func isNumeral(w string) bool {
	return w[0] >= '0' && w[0] <= '9' || slices.Contains(numberWords, w)
}
