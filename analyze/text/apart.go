package text

import (
	"regexp"
	"strings"
	"unicode"
)

// leastWord is the shortest name of an argument that a sentence means by the same word.
const leastWord = 4

// KeptApart matches a sentence that promises to keep apart what an argument such as "practice_id" names: "each practice
// sees its own visits only". It is nil for a name that is no word.
func KeptApart(argument string) *regexp.Regexp {
	word := strings.ToLower(argument)
	for _, end := range []string{"id", "name", "key", "code", "slug"} {
		word = strings.TrimRight(strings.TrimSuffix(word, end), "_-")
	}
	if len(word) < leastWord || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return nil
	}
	// A plural in -y changes its end.
	stem := regexp.QuoteMeta(strings.TrimSuffix(word, "y"))
	const apart = `(?:own|only|alone|apart|separat\w+|private|isolat\w+|never|no other)`
	thing := `(?:each|every|per|one|an?other|other) ` + stem + `(?:y|ies|s|es)?`
	return regexp.MustCompile(`(?i)\b` + thing + `\b[^.]{0,90}\b` + apart + `\b|\b` + apart + `\b[^.]{0,90}\b` + thing + `\b`)
}
