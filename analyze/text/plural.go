package text

import (
	"strconv"
	"strings"
)

// Plural counts things in English: "1 tool", "2 tools", "3 entries".
func Plural[N int | int64](n N, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.FormatInt(int64(n), 10) + " " + pluralOf(word)
}

func pluralOf(word string) string {
	stem, isY := strings.CutSuffix(word, "y")
	switch {
	case isY && !strings.ContainsAny(stem[max(0, len(stem)-1):], "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(word, "s"), strings.HasSuffix(word, "x"), strings.HasSuffix(word, "ch"), strings.HasSuffix(word, "sh"):
		return word + "es"
	}
	return word + "s"
}
