package gloss

import (
	"embed"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed words/*.tsv
var files embed.FS

// glossary is the words and phrases of one language.
type glossary struct {
	english map[string]string
	// sorted are the keys of english, for words in a form that is not listed: few texts need them.
	sorted func() []string
	// longest is how many words its longest phrase has, or for a language without blanks how
	// many characters.
	longest int
	// unbroken says that no blanks part the words.
	unbroken bool
}

// Languages by their scripts: those in Latin letters are told apart by their words.
var (
	latin    = []string{"de", "es", "fr", "it", "nl", "pl", "pt", "tr"}
	unbroken = []string{"ja", "zh"}
)

var glossaries = sync.OnceValue(func() map[string]*glossary {
	out := map[string]*glossary{}
	entries, err := files.ReadDir("words")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, e := range entries {
		language := strings.TrimSuffix(e.Name(), ".tsv")
		b, err := files.ReadFile("words/" + e.Name())
		if err != nil {
			panic(err)
		}
		out[language] = parse(string(b), slices.Contains(unbroken, language))
	}
	return out
})

func parse(s string, isUnbroken bool) *glossary {
	g := &glossary{english: make(map[string]string, strings.Count(s, "\n")), unbroken: isUnbroken}
	g.sorted = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(g.english)) })
	for line := range strings.Lines(s) {
		foreign, english, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if !ok {
			continue
		}
		if strings.ContainsAny(foreign, "'’") {
			foreign = strings.TrimSpace(apostrophes.Replace(foreign))
		}
		g.english[foreign] = english
		n := strings.Count(foreign, " ") + 1
		if isUnbroken {
			n = utf8.RuneCountInString(foreign)
		}
		g.longest = max(g.longest, n)
	}
	return g
}

// known are the English words of all glossaries, by which a text in English is told.
var known = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, g := range glossaries() {
		for _, english := range g.english {
			for _, w := range strings.Fields(english) {
				out[w] = true
			}
		}
	}
	return out
})

// maxText bounds what is read of one text, in bytes.
const maxText = 16 << 10

// English is rough English for a text in another language, "" for a text in English and in a
// language without a glossary. Words that no glossary has stay as they are.
func English(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	// The small letter of a Turkish capital I has a dot of its own.
	low := strings.ReplaceAll(strings.ToLower(s), "i\u0307", "i")
	g := glossaryOf(low)
	if g == nil {
		return ""
	}
	var out []string
	for _, piece := range pieces(low) {
		switch {
		case piece.isWord && g.unbroken:
			out = append(out, g.run(piece.text)...)
		case piece.isWord:
			out = append(out, piece.text)
		case strings.TrimSpace(piece.text) != "":
			out = append(out, strings.TrimSpace(piece.text))
		}
	}
	if !g.unbroken {
		out = g.words(out)
	}
	return strings.TrimSpace(signs.Replace(strings.Join(out, " ")))
}

// WithEnglish is a text, and what English makes of it in a line behind it.
func WithEnglish(s string) string {
	if english := English(s); english != "" {
		return s + "\n" + english
	}
	return s
}

// signs end a sentence or a part of it, as in English.
var signs = strings.NewReplacer(" 。", ".", " ，", ",", " 、", ",", " ；", ";", " ：", ":", " .", ".", " ,", ",", " ;", ";", " :", ":", " )", ")", "( ", "(")

// glossaryOf is the glossary of the language that a text in lower case is written in, nil for none.
func glossaryOf(low string) *glossary {
	var han, kana, hangul, cyrillic, latinLetters int
	foreign := false
	for _, r := range low {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'a' && r <= 'z' {
				latinLetters++
			}
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
		case unicode.IsLetter(r):
			latinLetters++
			foreign = true
		}
	}
	all := glossaries()
	switch {
	case kana > 1:
		return all["ja"]
	case hangul > 1:
		return all["ko"]
	case han > 1:
		return all["zh"]
	case cyrillic > latinLetters/2:
		return all["ru"]
	}
	return latinGlossary(low, foreign)
}

// latinGlossary is the glossary that has most words of a text, nil where English has as many: in a
// text with letters that English has not, one word is enough.
func latinGlossary(low string, isForeign bool) *glossary {
	var list []string
	for _, p := range pieces(low) {
		if p.isWord {
			list = append(list, p.text)
		}
	}
	english := 0
	for _, w := range list {
		if known()[w] {
			english++
		}
	}
	least := 1
	if isForeign {
		least = 0
	}
	var best *glossary
	most := max(english, least, (len(list)-1)/3)
	for _, language := range latin {
		g, n := glossaries()[language], 0
		for _, w := range list {
			if _, ok := g.english[w]; !ok {
				continue
			}
			if n++; len(w) != utf8.RuneCountInString(w) {
				n++ // a letter that few languages have
			}
		}
		if n > most {
			best, most = g, n
		}
	}
	return best
}

// piece is a word of a text, or what stands between two.
type piece struct {
	text   string
	isWord bool
}

// apostrophes part what French and Italian elide: "l'utente", "n'est".
var apostrophes = strings.NewReplacer("’", "' ", "'", "' ")

// pieces are those of a text in lower case. A word may hold dots, slashes and the like, as hosts and paths do.
func pieces(low string) (out []piece) {
	low = apostrophes.Replace(low)
	from, wasWord := 0, false
	for i, r := range low {
		isWord := unicode.In(r, unicode.L, unicode.N, unicode.M) || r == '_' ||
			wasWord && (r == '-' || r == '\'' || strings.ContainsRune("./:@", r) && goesOn(low[i+1:])) ||
			!wasWord && r == '~' && strings.HasPrefix(low[i:], "~/")
		if isWord != wasWord && i > from {
			out = append(out, piece{low[from:i], wasWord})
			from = i
		}
		wasWord = isWord
	}
	if from < len(low) {
		out = append(out, piece{low[from:], wasWord})
	}
	return out
}

// goesOn reports whether a host or a path goes on.
func goesOn(rest string) bool {
	return rest != "" && strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789/_", rest[0]) >= 0
}

// words are the English ones of some words and signs: of the longest phrase that is known first.
func (g *glossary) words(list []string) (out []string) {
	for i := 0; i < len(list); {
		n := min(g.longest, len(list)-i)
		for ; n > 1; n-- {
			if english, ok := g.english[strings.Join(list[i:i+n], " ")]; ok {
				out = append(out, english)
				break
			}
		}
		if n <= 1 {
			n = 1
			out = append(out, g.word(list[i]))
		}
		i += n
	}
	return out
}

// particles end a Korean noun.
var particles = []string{"에서", "으로", "을", "를", "이", "가", "은", "는", "의", "에", "로", "와", "과", "도"}

// word is the English one of a word, of the listed word that is most like it by its beginning, or the word itself.
func (g *glossary) word(w string) string {
	if english, ok := g.english[w]; ok {
		return english
	}
	if bare, ok := strings.CutSuffix(w, "'"); ok {
		return g.english[bare] // an elided article, most often
	}
	for _, p := range particles {
		if bare, ok := strings.CutSuffix(w, p); ok && g.english[bare] != "" {
			return g.english[bare]
		}
	}
	sorted := g.sorted()
	at, _ := slices.BinarySearch(sorted, w)
	best, most := "", 0
	for _, i := range []int{at - 1, at} {
		if i < 0 || i >= len(sorted) {
			continue
		}
		if n := common(w, sorted[i]); n > most && utf8.RuneCountInString(w)-n <= maxEnding && utf8.RuneCountInString(sorted[i])-n <= maxEnding {
			best, most = sorted[i], n
		}
	}
	if most >= leastStem {
		return g.english[best]
	}
	return w
}

// A word is another form of a listed one where they share leastStem letters and differ in no more than
// maxEnding at the end.
const leastStem, maxEnding = 5, 3

// common is how many letters two words begin with alike.
func common(a, b string) (n int) {
	for i, r := range a {
		if other, size := utf8.DecodeRuneInString(b[min(i, len(b)):]); other != r || size == 0 {
			return n
		}
		n++
	}
	return n
}

// run are the English words of a text without blanks. Characters that no glossary has are left out.
func (g *glossary) run(s string) (out []string) {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			end := i
			for end < len(s) && s[end] < utf8.RuneSelf {
				end++
			}
			out = append(out, s[i:end])
			i = end
			continue
		}
		end, n := i, 0
		var ends []int
		for n < g.longest && end < len(s) && s[end] >= utf8.RuneSelf {
			_, size := utf8.DecodeRuneInString(s[end:])
			end, n = end+size, n+1
			ends = append(ends, end)
		}
		next := ends[0]
		for _, e := range slices.Backward(ends) {
			if english, ok := g.english[s[i:e]]; ok {
				out, next = append(out, english), e
				break
			}
		}
		i = next
	}
	return out
}
