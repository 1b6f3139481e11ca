package wire

import "strings"

// Texts calls f with each string of a JSON value, and with each name of a member, in their order
// and in one pass. below are the names of the members in which it stands, the outermost first, as
// Walk has them; quoted is the string with its quotes, which Text decodes. Both are valid until f
// returns. Texts checks what it passes, and reports whether v is one valid JSON value; f has
// then seen all of it, otherwise perhaps a part.
func Texts(v []byte, f func(below [][]byte, quoted []byte, isName bool)) bool {
	t := texts{scanner: scanner{data: v}, f: f}
	t.space()
	if t.value() != nil {
		return false
	}
	t.space()
	return t.pos == len(v)
}

// texts is one pass of Texts.
type texts struct {
	scanner
	below [][]byte
	f     func(below [][]byte, quoted []byte, isName bool)
}

// value passes a value, and shows its strings.
func (t *texts) value() error {
	switch t.peek() {
	case '{':
		return t.nested(t.object)
	case '[':
		return t.nested(t.array)
	case '"':
		start := t.pos
		if err := t.str(); err != nil {
			return err
		}
		t.f(t.below, t.data[start:t.pos:t.pos], false)
		return nil
	}
	return t.scanner.value()
}

func (t *texts) object() error {
	return t.members('}', func() error {
		quoted, err := t.key(nil)
		if err != nil {
			return err
		}
		t.f(t.below, quoted, true)
		t.below = append(t.below, bare(quoted))
		t.space()
		err = t.value()
		t.below = t.below[:len(t.below)-1]
		return err
	})
}

func (t *texts) array() error {
	return t.members(']', func() error {
		t.space()
		return t.value()
	})
}

// members passes what stands between commas up to an end.
func (t *texts) members(end byte, one func() error) error {
	if t.space(); t.peek() == end {
		t.pos++
		return nil
	}
	for {
		if err := one(); err != nil {
			return err
		}
		t.space()
		switch t.peek() {
		case ',':
			t.pos++
		case end:
			t.pos++
			return nil
		default:
			return t.fail("no ',' or '%c'", end)
		}
	}
}

// Prose is a text as a person reads it: of one that is a JSON object or array, each string on a line of its own after
// the names of its member, and any other text as it is.
func Prose(text string) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return text
	}
	var out strings.Builder
	if !Texts([]byte(trimmed), func(below [][]byte, quoted []byte, isName bool) {
		if s, ok := Text(quoted); ok && !isName {
			for _, name := range below {
				out.Write(name)
				out.WriteString(": ")
			}
			out.WriteString(s + "\n")
		}
	}) || out.Len() == 0 {
		return text
	}
	return out.String()
}
