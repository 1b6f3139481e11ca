package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// MaxDepth bounds how deep arrays and objects nest. Real messages are a dozen
// levels deep; readers that recurse give up near a thousand.
const MaxDepth = 512

// SyntaxError says why bytes are not the JSON that this package accepts.
type SyntaxError struct {
	// Offset is the byte at which reading stopped.
	Offset int
	What   string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.What, e.Offset) }

// CheckJSON reports whether raw is exactly one JSON value (RFC 8259) in UTF-8
// without a byte order mark, nested at most MaxDepth deep. Duplicate keys and
// escaped lone surrogates pass; NaN, infinities, comments and trailing commas do not.
func CheckJSON(raw []byte) error {
	s := scanner{data: raw}
	return s.document()
}

// checkUnique is CheckJSON that refuses an object with the same key twice,
// because two readers of it would not read the same thing.
func checkUnique(raw []byte) error {
	s := scanner{data: raw, unique: true}
	return s.document()
}

// scanner walks JSON text without building values.
type scanner struct {
	data   []byte
	pos    int
	depth  int
	unique bool
}

func (s *scanner) fail(format string, args ...any) error {
	return &SyntaxError{Offset: s.pos, What: fmt.Sprintf(format, args...)}
}

func (s *scanner) document() error {
	s.space()
	if s.pos == len(s.data) {
		return s.fail("no value")
	}
	if err := s.value(); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.data) {
		return s.fail("data after the value")
	}
	return nil
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end (NUL begins no JSON token).
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) value() error {
	switch c := s.peek(); {
	case c == '{':
		return s.nested(s.object)
	case c == '[':
		return s.nested(s.array)
	case c == '"':
		return s.str()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	case s.pos == len(s.data):
		return s.fail("unexpected end")
	}
	return s.fail("unexpected %s", describe(s.data[s.pos:]))
}

func describe(p []byte) string {
	if r, n := utf8.DecodeRune(p); r != utf8.RuneError || n > 1 {
		return fmt.Sprintf("%q", r)
	}
	return fmt.Sprintf("byte 0x%02x", p[0])
}

func (s *scanner) nested(f func() error) error {
	if s.depth++; s.depth > MaxDepth {
		return s.fail("nested deeper than %d", MaxDepth)
	}
	s.pos++
	err := f()
	s.depth--
	return err
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return s.fail("unexpected %s", describe(s.data[s.pos:]))
	}
	s.pos += len(w)
	return nil
}

func (s *scanner) array() error { return s.items(nil) }

// items passes an array's elements and its end, and shows each to f if it is not nil.
func (s *scanner) items(f func(i int, value []byte)) error {
	if s.space(); s.peek() == ']' {
		s.pos++
		return nil
	}
	for i := 0; ; i++ {
		s.space()
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		if f != nil {
			f(i, s.data[start:s.pos:s.pos])
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.fail("no ',' or ']' in an array")
		}
	}
}

func (s *scanner) object() error { return s.pairs(nil) }

// pairs passes an object's members and its end, and shows each to f if it is not nil.
func (s *scanner) pairs(f func(key, value []byte)) error {
	if s.space(); s.peek() == '}' {
		s.pos++
		return nil
	}
	var seen keySet
	for {
		quoted, err := s.key(&seen)
		if err != nil {
			return err
		}
		s.space()
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		if f != nil {
			f(bare(quoted), s.data[start:s.pos:s.pos])
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return s.fail("no ',' or '}' in an object")
		}
	}
}

// bare is a checked string without its quotes and escapes, a part of it where that can be.
func bare(quoted []byte) []byte {
	if key := quoted[1 : len(quoted)-1]; bytes.IndexByte(key, '\\') < 0 {
		return key
	}
	return []byte(unquote(quoted))
}

// key reads a member's name, which it returns with its quotes, and its colon.
func (s *scanner) key(seen *keySet) ([]byte, error) {
	s.space()
	start := s.pos
	if s.peek() != '"' {
		return nil, s.fail("no string for a key")
	}
	if err := s.str(); err != nil {
		return nil, err
	}
	quoted := s.data[start:s.pos]
	if s.unique {
		if k := unquote(quoted); !seen.add(k) {
			s.pos = start
			return nil, s.fail("duplicate key %.64q", k)
		}
	}
	if s.space(); s.peek() != ':' {
		return nil, s.fail("no ':' after a key")
	}
	s.pos++
	return quoted, nil
}

// keySet holds the keys of one object; a map only pays off for large ones.
type keySet struct {
	few  []string
	many map[string]struct{}
}

func (k *keySet) add(s string) bool {
	if k.many == nil {
		for _, f := range k.few {
			if f == s {
				return false
			}
		}
		if k.few = append(k.few, s); len(k.few) > 16 {
			k.many = make(map[string]struct{}, 64)
			for _, f := range k.few {
				k.many[f] = struct{}{}
			}
		}
		return true
	}
	if _, dup := k.many[s]; dup {
		return false
	}
	k.many[s] = struct{}{}
	return true
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return s.fail("no digit in a number")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.fail("no digit after a decimal point")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.fail("no digit in an exponent")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}
