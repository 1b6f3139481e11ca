package session

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// parseRecord reads a record's line as appendRecord writes it, many times faster
// than encoding/json. ok is false for any other line, such as one that somebody
// else wrote: encoding/json then has the word.
func parseRecord(line []byte) (r *trace.Record, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"record"`))
	if !ok {
		return nil, false
	}
	c := cursor{b: rest}
	r = &trace.Record{}
	for c.next() {
		if !c.member(r) {
			return nil, false
		}
	}
	return r, c.done
}

// parseMark is parseRecord for a mark's line that has only the members that most marks have.
func parseMark(line []byte) (m *Mark, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"mark"`))
	if !ok {
		return nil, false
	}
	c := cursor{b: rest}
	m = &Mark{}
	for c.next() {
		if !c.ofMark(m) {
			return nil, false
		}
	}
	return m, c.done
}

// ofMark reads one member into m; false is a member that it does not know.
func (c *cursor) ofMark(m *Mark) bool {
	key, ok := c.key()
	if !ok {
		return false
	}
	var n int64
	switch string(key) {
	case "t":
		n, ok = c.number()
		m.Time = time.Duration(n)
	case "kind":
		var s string
		ok = c.word(&s)
		m.Kind = MarkKind(s)
	case "seq":
		n, ok = c.number()
		m.Seq = uint64(n)
		ok = ok && n >= 0
	case "n":
		m.N, ok = c.number()
	case "call":
		return c.int(&m.Call)
	case "turn":
		return c.int(&m.Turn)
	case "phase":
		return c.word(&m.Phase)
	case "tool":
		return c.string(&m.Tool)
	case "what":
		return c.word(&m.What)
	case "text":
		return c.string(&m.Text)
	default:
		return false
	}
	return ok
}

// cursor stands before a comma, or before the brace that ends the object.
type cursor struct {
	b    []byte
	done bool // the object ended, and nothing follows
}

// next steps over a comma. Without one, done says whether all was read.
func (c *cursor) next() bool {
	if len(c.b) > 0 && c.b[0] == ',' {
		c.b = c.b[1:]
		return true
	}
	c.done = len(c.b) == 1 && c.b[0] == '}'
	return false
}

// member reads one member into r; false is a member that it does not know.
func (c *cursor) member(r *trace.Record) bool {
	switch key, ok := c.key(); {
	case !ok:
		return false
	case string(key) == "seq":
		n, ok := c.number()
		r.Seq = uint64(n)
		return ok && n >= 0
	case string(key) == "t":
		n, ok := c.number()
		r.Time = time.Duration(n)
		return ok
	case string(key) == "op":
		s, ok := c.text()
		r.Op = trace.Op(s)
		return ok
	case string(key) == "argv":
		return c.list(&r.Argv)
	case string(key) == "passed":
		return c.list(&r.Passed)
	case string(key) == "addr":
		return c.addr(r)
	default:
		return c.plain(key, r)
	}
}

func (c *cursor) plain(key []byte, r *trace.Record) bool {
	switch string(key) {
	case "call":
		return c.string(&r.Call)
	case "path":
		return c.string(&r.Path)
	case "given":
		return c.string(&r.Given)
	case "to":
		return c.string(&r.To)
	case "cwd":
		return c.string(&r.Cwd)
	case "exe":
		return c.string(&r.Exe)
	case "script":
		return c.yes(&r.Script)
	case "flags":
		return c.string(&r.Flags)
	case "err":
		return c.string(&r.Err)
	case "tid":
		return c.int(&r.Tid)
	case "fd":
		return c.int(&r.FD)
	case "child":
		return c.int(&r.Child)
	case "pid":
		return c.int(&r.Pid)
	case "ret":
		n, ok := c.number()
		r.Ret = n
		return ok
	case "real":
		return c.yes(&r.Real)
	case "injected":
		return c.yes(&r.Injected)
	case "unfinished":
		return c.yes(&r.Unfinished)
	}
	return false
}

func (c *cursor) addr(r *trace.Record) bool {
	if r.Addr != nil || len(c.b) == 0 || c.b[0] != '{' {
		return false
	}
	r.Addr = &trace.Addr{}
	c.b = c.b[1:]
	for first := true; first || c.next(); first = false {
		key, ok := c.key()
		switch {
		case !ok:
			return false
		case string(key) == "family":
			ok = c.string(&r.Addr.Family)
		case string(key) == "host":
			ok = c.string(&r.Addr.Host)
		case string(key) == "port":
			ok = c.int(&r.Addr.Port)
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	if len(c.b) == 0 || c.b[0] != '}' {
		return false
	}
	c.b, c.done = c.b[1:], false
	return true
}

func (c *cursor) list(into *[]string) bool {
	if *into != nil || len(c.b) < 2 || c.b[0] != '[' {
		return false
	}
	c.b = c.b[1:]
	for {
		s, ok := c.text()
		if !ok || len(c.b) == 0 {
			return false
		}
		*into = append(*into, s)
		end := c.b[0]
		c.b = c.b[1:]
		switch end {
		case ']':
			return true
		case ',':
		default:
			return false
		}
	}
}

// key reads `"name":`.
func (c *cursor) key() ([]byte, bool) {
	if len(c.b) == 0 || c.b[0] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(c.b[1:], '"') + 1
	if end < 1 || end+1 >= len(c.b) || c.b[end+1] != ':' {
		return nil, false
	}
	key := c.b[1:end]
	c.b = c.b[end+2:]
	return key, true
}

func (c *cursor) string(into *string) bool {
	s, ok := c.text()
	*into = s
	return ok
}

// markWords are the words of most marks: a judge keeps some of each.
var markWords = func() map[string]string {
	out := map[string]string{}
	for _, w := range strings.Fields("phase call return frame event stderr start handshake list idle shutdown tool resource prompt completion ok iserror error timeout crash cancelled") {
		out[w] = w
	}
	return out
}()

// word reads a string that is most often one of markWords.
func (c *cursor) word(into *string) bool {
	if len(c.b) > 0 && c.b[0] == '"' {
		if n := bytes.IndexByte(c.b[1:min(len(c.b), 32)], '"'); n >= 0 {
			if w, known := markWords[string(c.b[1:1+n])]; known {
				*into, c.b = w, c.b[n+2:]
				return true
			}
		}
	}
	return c.string(into)
}

// text reads a string without escapes.
func (c *cursor) text() (string, bool) {
	if len(c.b) == 0 || c.b[0] != '"' {
		return "", false
	}
	wide := false
	for i := 1; i < len(c.b); i++ {
		switch b := c.b[i]; {
		case b == '"':
			s := c.b[1:i]
			if wide && !utf8.Valid(s) {
				return "", false
			}
			c.b = c.b[i+1:]
			return string(s), true
		case b == '\\' || b < ' ':
			return "", false
		case b >= utf8.RuneSelf:
			wide = true
		}
	}
	return "", false
}

func (c *cursor) int(into *int) bool {
	n, ok := c.number()
	*into = int(n)
	return ok
}

// number reads a whole number of at most eighteen digits.
func (c *cursor) number() (int64, bool) {
	i, sign := 0, int64(1)
	if len(c.b) > 0 && c.b[0] == '-' {
		i, sign = 1, -1
	}
	start, n := i, int64(0)
	for i < len(c.b) && c.b[i] >= '0' && c.b[i] <= '9' {
		n = 10*n + int64(c.b[i]-'0')
		i++
		if i-start > 18 {
			return 0, false
		}
	}
	if i == start || c.b[start] == '0' && i-start > 1 || i >= len(c.b) || c.b[i] != ',' && c.b[i] != '}' {
		return 0, false
	}
	c.b = c.b[i:]
	return sign * n, true
}

func (c *cursor) yes(into *bool) bool {
	rest, ok := bytes.CutPrefix(c.b, []byte("true"))
	c.b, *into = rest, ok
	return ok
}
