package python

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// cookie is the declaration of an encoding, on one of the first two lines (PEP 263).
var cookie = regexp.MustCompile(`^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

const bom = "\ufeff"

// encoding is how the bytes of a source become characters.
type encoding struct {
	// read is unset for one that may give ASCII bytes another meaning, as UTF-7 does.
	read bool
	// table is that of an encoding with one byte per character.
	table *charmap.Charmap
	// ascii is set where only ASCII, which the encoding contains, is read.
	ascii bool
}

// encodings are those that contain ASCII, by their names in lower case with "-" for
// "_". Their other names are in aliases.
var encodings = map[string]encoding{
	"utf-8": {read: true}, "utf8": {read: true}, "u8": {read: true}, "utf": {read: true}, "utf-8-sig": {read: true},
	"latin-1": {read: true, table: charmap.ISO8859_1}, "ascii": {read: true, ascii: true},
	"koi8-r": {read: true, table: charmap.KOI8R}, "koi8-u": {read: true, table: charmap.KOI8U},
	"mac-roman": {read: true, table: charmap.Macintosh}, "mac-cyrillic": {read: true, table: charmap.MacintoshCyrillic},
	"gbk": {read: true, ascii: true}, "gb2312": {read: true, ascii: true}, "gb18030": {read: true, ascii: true},
	"big5": {read: true, ascii: true}, "big5hkscs": {read: true, ascii: true}, "euc-jp": {read: true, ascii: true},
	"euc-kr": {read: true, ascii: true}, "cp949": {read: true, ascii: true}, "shift-jis": {read: true, ascii: true}, "cp932": {read: true, ascii: true},
}

var aliases = map[string]string{
	"latin1": "latin-1", "latin": "latin-1", "l1": "latin-1", "8859": "latin-1", "cp819": "latin-1", "iso-latin-1": "latin-1",
	"us-ascii": "ascii", "646": "ascii", "cp936": "gbk", "cp950": "big5", "eucjp": "euc-jp", "euckr": "euc-kr", "sjis": "shift-jis",
	"macroman": "mac-roman", "iso8859-1": "latin-1", "iso-8859-1": "latin-1",
}

func init() {
	for n, table := range map[int]*charmap.Charmap{
		2: charmap.ISO8859_2, 3: charmap.ISO8859_3, 4: charmap.ISO8859_4, 5: charmap.ISO8859_5, 6: charmap.ISO8859_6,
		7: charmap.ISO8859_7, 8: charmap.ISO8859_8, 9: charmap.ISO8859_9, 10: charmap.ISO8859_10, 13: charmap.ISO8859_13,
		14: charmap.ISO8859_14, 15: charmap.ISO8859_15, 16: charmap.ISO8859_16,
	} {
		name := "iso8859-" + strconv.Itoa(n)
		encodings[name] = encoding{read: true, table: table}
		aliases["iso-8859-"+strconv.Itoa(n)] = name
	}
	for n, table := range map[int]*charmap.Charmap{
		437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852, 855: charmap.CodePage855, 858: charmap.CodePage858,
		862: charmap.CodePage862, 866: charmap.CodePage866, 1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252,
		1253: charmap.Windows1253, 1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257,
		1258: charmap.Windows1258,
	} {
		name := "cp" + strconv.Itoa(n)
		encodings[name] = encoding{read: true, table: table}
		aliases["windows-"+strconv.Itoa(n)] = name
	}
}

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
	return encoding{read: true}, mark, mark
}

func byCookie(name string, mark bool) encoding {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	for _, known := range []string{"utf-8", "latin-1", "iso-8859-1", "iso-latin-1"} {
		if strings.HasPrefix(name, known+"-") {
			name = known
		}
	}
	if alias, ok := aliases[name]; ok {
		name = alias
	}
	if mark && name != "utf-8" {
		return encoding{}
	}
	return encodings[name]
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
