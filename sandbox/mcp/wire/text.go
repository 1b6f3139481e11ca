package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain marks the bytes that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// Plain is how many bytes at the start of p are ASCII that a JSON string holds
// as it stands: neither quotes, backslashes nor control characters.
func Plain(p []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		// Each term has the top bit of a byte set if the word holds one such byte
		// (and perhaps of bytes above that one).
		w := binary.LittleEndian.Uint64(p[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		if (w|(w-ones*0x20)|(quote-ones)&^quote|(slash-ones)&^slash)&tops != 0 {
			break
		}
	}
	for i < len(p) && plain[p[i]] {
		i++
	}
	return i
}

// str checks a string, quotes included.
func (s *scanner) str() error {
	d, i := s.data, s.pos+1
	for {
		i += Plain(d[i:])
		s.pos = i
		if i == len(d) {
			return s.fail("unexpected end in a string")
		}
		switch c := d[i]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			n := escapeLen(d[i:])
			if n == 0 {
				return s.fail("bad escape in a string")
			}
			i += n
		case c < 0x20:
			return s.fail("control character 0x%02x in a string", c)
		default:
			r, n := utf8.DecodeRune(d[i:])
			if r == utf8.RuneError && n == 1 {
				return s.fail("invalid UTF-8")
			}
			i += n
		}
	}
}

// escapeLen is the length of the escape that p begins with, 0 if it is none.
func escapeLen(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(p) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 is the code unit of the \uXXXX that p begins with, -1 if it is none.
func hex4(p []byte) rune {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range p[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unquote decodes a checked string with its quotes. A lone surrogate becomes U+FFFD.
func unquote(q []byte) string {
	q = q[1 : len(q)-1]
	i := bytes.IndexByte(q, '\\')
	if i < 0 {
		return string(q)
	}
	out := append(make([]byte, 0, len(q)), q[:i]...)
	for i < len(q) {
		if q[i] != '\\' {
			out = append(out, q[i])
			i++
			continue
		}
		r, n := unescape(q[i:])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out)
}

// unescape decodes the checked escape, or pair of surrogates, that p begins with.
func unescape(p []byte) (r rune, n int) {
	switch p[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hex4(p)
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if pair := utf16.DecodeRune(r, hex4(p[6:])); pair != utf8.RuneError {
			return pair, 12
		}
		return utf8.RuneError, 6
	}
	return rune(p[1]), 2
}

// Text is the value of a JSON string; ok is false for any other value.
func Text(v []byte) (s string, ok bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	return unquote(v), true
}

// Member is the value of an object's member with exactly this key, the last one
// if there are several; ok is false if obj has none or is not an object.
// Unlike encoding/json it does not take "METHOD" for "method".
func Member(obj json.RawMessage, key string) (value json.RawMessage, ok bool) {
	if !Walk(obj, func(k, v []byte) {
		if string(k) == key {
			value, ok = v, true
		}
	}) {
		return nil, false
	}
	return value, ok
}

// IndexName is where a member's name or a string of ASCII stands as it is in JSON, with its quotes, -1 for
// nowhere. A capital of the name stands in few texts: places are found by it.
func IndexName(v []byte, name string) int {
	rare := max(strings.IndexFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' }), 0)
	for from := 0; from < len(v); from++ {
		i := bytes.IndexByte(v[from:], name[rare])
		if i < 0 {
			return -1
		}
		from += i
		start, end := from-rare-1, from-rare+len(name)
		if start >= 0 && end < len(v) && v[start] == '"' && v[end] == '"' && string(v[start+1:end]) == name {
			return start
		}
	}
	return -1
}

// MayName tells most JSON without a member of this name of ASCII letters: false is sure, and an escape may stand for
// any letter.
func MayName(v []byte, name string) bool {
	return IndexName(v, name) >= 0 || bytes.Contains(v, []byte(`\u`))
}

// EachMember is Walk with keys that may be kept. The values share memory with obj.
func EachMember(obj json.RawMessage, f func(key string, value json.RawMessage)) bool {
	return Walk(obj, func(key, value []byte) { f(string(key), value) })
}
