package python

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// cookie is the declaration of an encoding, on one of the first two lines (PEP 263).
var cookie = regexp.MustCompile(`^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

const bom = "\ufeff"

// encoding is how the bytes of a source become characters.
type encoding int

const (
	utf8Text encoding = iota
	// latin1 takes each byte for the character of that number.
	latin1
	// asciiOnly is read where no byte is beyond ASCII, which it contains.
	asciiOnly
	// unknown may give ASCII bytes another meaning, as UTF-7 and UTF-16 do.
	unknown
)

// encodings are those that contain ASCII, by their names in Python in lower case with
// "-" for "_"; families of them are in encodingOf.
var encodings = map[string]encoding{
	"utf-8": utf8Text, "utf8": utf8Text, "u8": utf8Text, "utf": utf8Text, "utf-8-sig": utf8Text, "cp65001": utf8Text,
	"latin-1": latin1, "latin1": latin1, "iso-8859-1": latin1, "iso8859-1": latin1, "l1": latin1, "8859": latin1, "cp819": latin1, "latin": latin1,
	"ascii": asciiOnly, "us-ascii": asciiOnly, "646": asciiOnly, "gbk": asciiOnly, "cp936": asciiOnly, "gb2312": asciiOnly, "gb18030": asciiOnly,
	"big5": asciiOnly, "big5hkscs": asciiOnly, "cp950": asciiOnly, "euc-jp": asciiOnly, "eucjp": asciiOnly, "euc-kr": asciiOnly, "euckr": asciiOnly,
	"cp949": asciiOnly, "shift-jis": asciiOnly, "shift_jis": asciiOnly, "sjis": asciiOnly, "cp932": asciiOnly, "koi8-r": asciiOnly, "koi8-u": asciiOnly,
	"mac-roman": asciiOnly, "macroman": asciiOnly, "mac-latin2": asciiOnly, "mac-cyrillic": asciiOnly, "tis-620": asciiOnly, "johab": asciiOnly,
}

var pageFamilies = regexp.MustCompile(`^(iso-?8859-\d{1,2}|latin-?\d{1,2}|cp125\d|windows-125\d|cp(437|8[5-6]\d|720|737|775|866))$`)

// encodingOf finds the encoding of a source, the length of its byte order mark, and
// the offset of the declaration.
func encodingOf(src string) (e encoding, mark, at int) {
	if strings.HasPrefix(src, bom) {
		mark = len(bom)
	}
	rest := src[mark:]
	at = mark
	for range 2 {
		end := strings.IndexAny(rest, "\r\n")
		if end < 0 {
			end = len(rest)
		}
		line := rest[:end]
		if m := cookie.FindStringSubmatch(line); m != nil {
			return byCookie(m[1], mark > 0), mark, at
		}
		if t := strings.TrimLeft(line, " \t\f"); t != "" && t[0] != '#' || end == len(rest) {
			break
		}
		if strings.HasPrefix(rest[end:], "\r\n") {
			end++
		}
		rest, at = rest[end+1:], at+end+1
	}
	return utf8Text, mark, mark
}

func byCookie(name string, mark bool) encoding {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	for _, known := range []string{"utf-8", "latin-1", "iso-8859-1", "iso-latin-1"} {
		if strings.HasPrefix(name, known+"-") {
			name = known
		}
	}
	if name == "iso-latin-1" {
		name = "latin-1"
	}
	e, ok := encodings[name]
	if !ok && pageFamilies.MatchString(name) {
		e, ok = asciiOnly, true
	}
	if !ok || mark && e != utf8Text {
		return unknown
	}
	return e
}

// firstWide returns the offset of the first byte beyond ASCII, or -1.
func firstWide(src string) int {
	for i := range len(src) {
		if src[i] >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// firstInvalid returns the offset of the first bytes that are no UTF-8, or -1.
func firstInvalid(src string) int {
	if utf8.ValidString(src) {
		return -1
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
