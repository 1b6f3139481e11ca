package python

import (
	"strconv"
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

// aliases of characters that have no name, or a second one (Unicode's NameAliases.txt).
var characterAliases = map[string]rune{
	"NULL": 0, "BACKSPACE": 8, "CHARACTER TABULATION": 9, "TAB": 9, "LINE FEED": 10, "NEW LINE": 10, "END OF LINE": 10,
	"LINE TABULATION": 11, "FORM FEED": 12, "CARRIAGE RETURN": 13, "ESCAPE": 27, "DELETE": 127, "NEXT LINE": 0x85,
	"NBSP": 0xa0, "ZWSP": 0x200b, "ZWNJ": 0x200c, "ZWJ": 0x200d, "BYTE ORDER MARK": 0xfeff, "BOM": 0xfeff,
}

// named is the character of a name in Unicode, and U+FFFD for a name that is unknown
// here, such as a rare alias or a syllable of Hangul.
func named(name string) string {
	name = strings.ToUpper(name)
	if r, ok := characterAliases[name]; ok {
		return string(r)
	}
	if hex, ok := strings.CutPrefix(name, "CJK UNIFIED IDEOGRAPH-"); ok {
		if n, err := strconv.ParseUint(hex, 16, 20); err == nil {
			return string(rune(n))
		}
	}
	if r, ok := byName()[name]; ok {
		return string(r)
	}
	return "\ufffd"
}
