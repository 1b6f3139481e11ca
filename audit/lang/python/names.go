package python

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

// byName maps the names of characters to them. It is made at the first \N{…}.
var byName = sync.OnceValue(func() map[string]rune {
	m := make(map[string]rune, 40000)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == 0x3400 || r == 0x20000 {
			r += 0x10000 // ideographs have no names of their own
		}
		if name := runenames.Name(r); name != "" && name[0] != '<' {
			m[name] = r
		}
	}
	return m
})

// named is the character of a name in Unicode, and U+FFFD for a name that is unknown
// here, such as an alias.
func named(name string) string {
	if r, ok := byName()[strings.ToUpper(name)]; ok {
		return string(r)
	}
	return "\ufffd"
}
