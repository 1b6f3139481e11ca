package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/canaries"
)

// jsonRedactor takes passed values out of JSON text. Only strings change, and what
// foreign says: the result is JSON of the same form, byte for byte the same where
// nothing was found.
type jsonRedactor struct {
	*canaries.Redactor
	// bytesIn is the key of members that hold bytes in base 64, "" for none.
	bytesIn string
	// foreign is the key, in the outermost object, of a value that a server wrote:
	// numbers in it may be values too. "" stands for none.
	foreign string
}

// lines redacts whole lines of JSON, each by itself. Lines without a value cost
// one search over all of them.
func (r jsonRedactor) lines(text []byte) []byte {
	if r.Redactor == nil || !r.suspects(text) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for line := range bytes.Lines(text) {
		if r.suspects(line) {
			out = r.append(out, line)
		} else {
			out = append(out, line...)
		}
	}
	return out
}

// document redacts one JSON text.
func (r jsonRedactor) document(text []byte) []byte {
	if r.Redactor == nil || !r.suspects(text) {
		return text
	}
	return r.append(nil, text)
}

// suspects reports whether a text may hold a value, in a string or over several.
func (r jsonRedactor) suspects(text []byte) bool {
	if r.bytesIn != "" && bytes.Contains(text, []byte(`"`+r.bytesIn+`":"`)) {
		return true // what they spell is not looked for here
	}
	return r.Finds(unescaped(text))
}

// append walks the tokens of JSON text and appends what is left of them.
func (r jsonRedactor) append(out, text []byte) []byte {
	depth, key, inForeign := 0, "", false
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i)
			token := text[i:end]
			isKey := bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t\r\n"), []byte(":"))
			if isKey {
				key = string(token[1 : len(token)-1])
				if depth == 1 {
					inForeign = key == r.foreign && r.foreign != ""
				}
			}
			out = r.appendString(out, token, !isKey && r.bytesIn != "" && key == r.bytesIn)
			i = end
		case inForeign && (c == '-' || c >= '0' && c <= '9'):
			end := i + 1
			for end < len(text) && bytes.IndexByte([]byte(" \t\r\n,]}"), text[end]) < 0 {
				end++
			}
			if number := string(text[i:end]); r.Redact(number) != number {
				out = append(out, `"[passed]"`...)
			} else {
				out = append(out, number...)
			}
			i = end
		default:
			switch c {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			out = append(out, c)
			i++
		}
	}
	return out
}

// stringEnd is the place after the string that starts at text[i].
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// appendString appends a string's token, redacted: as bytes in base 64 where it holds such.
func (r jsonRedactor) appendString(out, token []byte, isBytes bool) []byte {
	if isBytes {
		digits := string(token[1 : len(token)-1])
		if data, err := base64.StdEncoding.DecodeString(digits); err == nil {
			clean := r.Redact(string(data))
			switch {
			case clean != string(data):
			case r.Redact(digits) == digits:
				return append(out, token...)
			default:
				clean = "[passed]" // the digits themselves spell it
			}
			return append(append(append(out, '"'), base64.StdEncoding.EncodeToString([]byte(clean))...), '"')
		}
	}
	var s string
	if bytes.IndexByte(token, '\\') < 0 {
		s = string(token[1:max(1, len(token)-1)])
	} else if err := json.Unmarshal(token, &s); err != nil {
		return append(out, token...) // no JSON: nothing here wrote it
	}
	clean := r.Redact(s)
	if clean == s {
		return append(out, token...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(bytes.Contains(token, []byte(`\u003`)) || bytes.Contains(token, []byte(`\u0026`)))
	if err := e.Encode(clean); err != nil {
		return append(out, `"[passed]"`...)
	}
	return append(out, bytes.TrimRight(b.Bytes(), "\n")...)
}

// unescaped is JSON text with the escapes of its strings undone, to be searched
// and for nothing else.
func unescaped(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'b', 'f', 'n', 'r', 't':
			out = append(out, "\b\f\n\r\t"[bytes.IndexByte([]byte("bfnrt"), c)])
		case 'u':
			n, err := strconv.ParseUint(string(text[i+1:min(i+5, len(text))]), 16, 16)
			if err != nil {
				out = append(out, '\\', c)
				continue
			}
			r := rune(n)
			if i += 4; utf16.IsSurrogate(r) {
				if i+6 < len(text) && text[i+1] == '\\' && text[i+2] == 'u' {
					if low, err := strconv.ParseUint(string(text[i+3:i+7]), 16, 16); err == nil {
						r = utf16.DecodeRune(r, rune(low))
						i += 6
					}
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return out
}
