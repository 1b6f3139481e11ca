package strace

import (
	"bytes"
	"fmt"
)

// Bytes at which the argument scanner has to stop.
var special = func() (t [256]bool) {
	for _, c := range []byte(`"<([{)]},/`) {
		t[c] = true
	}
	return t
}()

// split cuts a call's arguments, from behind its opening parenthesis, into p.args and
// returns what follows the closing one. whole says that there has to be one.
func (p *Parser) split(b []byte, whole bool) ([]byte, error) {
	p.nargs = 0
	depth, start := 0, 0
	for i := 0; i < len(b); {
		c := b[i]
		if !special[c] {
			i++
			continue
		}
		switch c {
		case '"':
			end := stringEnd(b, i)
			if end < 0 {
				return nil, fmt.Errorf("a string does not end: %w", ErrSyntax)
			}
			i = end
			continue
		case '<':
			if i+1 < len(b) && b[i+1] == '<' { // 1<<CAP_…
				i += 2
				continue
			}
			end := bytes.IndexByte(b[i:], '>')
			if end < 0 {
				return nil, fmt.Errorf("a descriptor's path does not end: %w", ErrSyntax)
			}
			i += end
		case '/':
			if i+1 < len(b) && b[i+1] == '*' {
				end := bytes.Index(b[i+2:], []byte("*/"))
				if end < 0 {
					return nil, fmt.Errorf("a comment does not end: %w", ErrSyntax)
				}
				i += 2 + end + 1
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				if c != ')' {
					return nil, fmt.Errorf("unexpected %q: %w", c, ErrSyntax)
				}
				p.argument(b[start:i])
				return b[i+1:], nil
			}
			depth--
		case ',':
			if depth == 0 {
				p.argument(b[start:i])
				start = i + 1
			}
		}
		i++
	}
	if whole {
		return nil, fmt.Errorf("the arguments do not end: %w", ErrSyntax)
	}
	p.argument(b[start:])
	return nil, nil
}

func (p *Parser) argument(b []byte) {
	if p.nargs == maxArgs {
		return
	}
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	p.args[p.nargs] = b
	p.nargs++
}

// stringEnd returns the index behind the string that starts at b[i], -1 if it has no end.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n + 1
		// The quote ends the string unless an odd number of backslashes is before it.
		slashes := 0
		for k := i - 2; k >= 0 && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// quoted returns the contents of the string that b starts with, still escaped, and
// what follows it. ok is false if b is no string.
func quoted(b []byte) (in, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != '"' {
		return nil, b, false
	}
	end := stringEnd(b, 0)
	if end < 0 {
		return nil, b, false
	}
	return b[1 : end-1], b[end:], true
}

// annotation returns what stands in the angle brackets that b starts with, still
// escaped, and what follows.
func annotation(b []byte) (in, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '<' {
		return nil, b, false
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return nil, b, false
	}
	return b[1:end], b[end+1:], true
}

// unescape undoes strace's escapes. The result is b itself if there are none, else it
// is a part of *buf, behind what that held before.
func unescape(buf *[]byte, b []byte) []byte {
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return b
	}
	from := len(*buf)
	out := append(*buf, b[:i]...)
	for i < len(b) {
		c := b[i]
		if c != '\\' || i+1 == len(b) {
			out = append(out, c)
			i++
			continue
		}
		var n int
		c, n = escaped(b[i+1:])
		out = append(out, c)
		i += 1 + n
	}
	*buf = out
	return out[from:]
}

// escaped reads what follows a backslash: the byte meant and the length read.
func escaped(b []byte) (byte, int) {
	switch c := b[0]; c {
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'r':
		return '\r', 1
	case 'v':
		return '\v', 1
	case 'f':
		return '\f', 1
	case 'x':
		v, n := 0, 1
		for ; n < len(b) && n < 3 && unhex(b[n]) >= 0; n++ {
			v = v<<4 | unhex(b[n])
		}
		return byte(v), n
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v, n := 0, 0
		for ; n < len(b) && n < 3 && b[n] >= '0' && b[n] <= '7'; n++ {
			v = v<<3 | int(b[n]-'0')
		}
		return byte(v), n
	default:
		return c, 1
	}
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// number reads a decimal or 0x number with an optional sign. It wraps at 64 bits
// and returns the length read, 0 if there is none.
func number(b []byte) (v int64, n int) {
	if n < len(b) && b[n] == '-' {
		n++
	}
	first := n
	var u uint64
	if n+1 < len(b) && b[n] == '0' && b[n+1] == 'x' {
		n += 2
		for first = n; n < len(b) && unhex(b[n]) >= 0; n++ {
			u = u<<4 | uint64(unhex(b[n]))
		}
	} else {
		for ; n < len(b) && b[n] >= '0' && b[n] <= '9'; n++ {
			u = u*10 + uint64(b[n]-'0')
		}
	}
	if n == first {
		return 0, 0
	}
	if b[0] == '-' {
		u = -u
	}
	return int64(u), n
}

// cut returns the part of b up to the first of two bytes.
func cut(b []byte, a, z byte) []byte {
	for i, c := range b {
		if c == a || c == z {
			return b[:i]
		}
	}
	return b
}
