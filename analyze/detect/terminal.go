package detect

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// TerminalSequence is a control sequence that acts on the terminal that shows a text, beyond its
// colours and its cursor.
type TerminalSequence struct {
	// Kind names the deed in one word, the same in each version: "clipboard", "link", "query" …
	Kind string
	// Says says what it does, printable: "puts “…” into the clipboard (OSC 52)".
	Says string
	// Severity is 1 for what bothers, 2 for what answers or changes settings, 3 for what harms.
	Severity int
	// Payload is what a sequence of ClipboardKind puts there, "" for others.
	Payload string
	// Offset and End are its place, in bytes.
	Offset, End int
}

// The bounds of one text: how long a sequence may be, and how many are told.
const (
	maxSequence  = 1 << 20
	maxSequences = 100
)

// TerminalSequences lists those in a text, which may be no UTF-8. rest is the offset of one
// that begins and does not end there, the text's length for none.
func TerminalSequences(s string) (found []TerminalSequence, rest int) {
	r := terminalReader{s: s, open: -1}
	r.read()
	rest = len(s)
	if r.rest >= 0 {
		rest = r.rest
	}
	if r.open >= 0 {
		rest = min(rest, r.open)
	}
	return r.found, rest
}

// ClosedSequences lists those in a text behind which nothing comes: what does not end there is
// ended by whatever the terminal is shown next.
func ClosedSequences(s string) []TerminalSequence {
	const closing = "\x1b\\\x1b]8;;\x07"
	found, _ := TerminalSequences(s + closing)
	for i := range found {
		found[i].Offset, found[i].End = min(found[i].Offset, len(s)), min(found[i].End, len(s))
	}
	return found
}

// terminalReader reads one text.
type terminalReader struct {
	s     string
	at    int
	found []TerminalSequence
	// rest is where a sequence begins that does not end, -1 for none.
	rest int
	// open is where a link begins that is not closed, -1 for none; uri is where it leads to, and
	// label where its text begins.
	open, label int
	uri         string
}

// introducers are the bytes behind ESC that begin a sequence, and the characters of C1 that
// stand for both.
var introducers = map[rune]byte{0x90: 'P', 0x98: 'X', 0x9B: '[', 0x9D: ']', 0x9E: '^', 0x9F: '_'}

// next moves to the next introducer, and returns its letter and where it stands.
func (r *terminalReader) next() (kind byte, from int, ok bool) {
	for r.at < len(r.s) {
		i := strings.IndexFunc(r.s[r.at:], func(c rune) bool { return c == 0x1B || c >= 0x90 && c <= 0x9F || c == utf8.RuneError })
		if i < 0 {
			break
		}
		from = r.at + i
		c, n := utf8.DecodeRuneInString(r.s[from:])
		if c == utf8.RuneError && n == 1 {
			c = rune(r.s[from]) // a terminal that is no UTF-8 takes the byte
		}
		r.at = from + n
		if c == 0x1B {
			if r.at == len(r.s) {
				r.rest = from
				return 0, 0, false
			}
			if strings.IndexByte("[]PX^_kcZ", r.s[r.at]) < 0 {
				continue
			}
			r.at++
			return r.s[r.at-1], from, true
		}
		if kind = introducers[c]; kind != 0 {
			return kind, from, true
		}
	}
	return 0, 0, false
}

func (r *terminalReader) read() {
	r.rest = -1
	for len(r.found) < maxSequences {
		kind, from, ok := r.next()
		if !ok {
			return
		}
		switch kind {
		case '[':
			r.control(from)
		case 'c':
			r.tell(from, "reset", 1, "resets the terminal (RIS)")
		case 'Z':
			r.tell(from, "query", 1, "asks the terminal what it is, which it answers as if typed (DECID)")
		default:
			if !r.command(kind, from) {
				return
			}
		}
	}
}

func (r *terminalReader) tell(from int, kind string, severity int, says string) {
	r.found = append(r.found, TerminalSequence{Kind: kind, Says: says, Severity: severity, Offset: from, End: r.at})
}

// ends is the end of a command to the terminal: what stops it, and how long that is.
func (r *terminalReader) ends(kind byte) (body string, ok bool) {
	for i := r.at; i < len(r.s) && i-r.at < maxSequence; i++ {
		n := 0
		switch c := r.s[i]; {
		case c == 0x07 && kind == ']', c == 0x9C && !utf8.RuneStart(c) && i > 0 && r.s[i-1] < utf8.RuneSelf:
			n = 1
		case c == 0xC2 && i+1 < len(r.s) && r.s[i+1] == 0x9C, c == 0x1B && i+1 < len(r.s) && r.s[i+1] == '\\':
			n = 2
		case c == 0x18 || c == 0x1A: // cancelled
			r.at = i + 1
			return "", false
		case c == 0x1B && i+1 < len(r.s) && r.s[i+1] != 0x1B: // another one begins
			body, r.at = r.s[r.at:i], i
			return body, kind == ']'
		}
		if n > 0 {
			body, r.at = r.s[r.at:i], i+n
			return strings.TrimRight(body, "\x1b"), true
		}
	}
	r.rest = r.at
	return "", false
}

// command reads a command with a text: OSC, DCS, APC, PM, SOS and the title of screen. It reports
// whether to read on.
func (r *terminalReader) command(kind byte, from int) bool {
	if kind == 'P' {
		// tmux and screen pass on what is wrapped so.
		if inner, ok := strings.CutPrefix(r.s[r.at:], "tmux;"); ok {
			r.at = len(r.s) - len(inner)
			return true
		}
		if strings.HasPrefix(r.s[r.at:], "\x1b") && !strings.HasPrefix(r.s[r.at:], "\x1b\\") {
			return true
		}
	}
	body, ok := r.ends(kind)
	switch {
	case r.rest >= 0:
		r.rest = from
		return false
	case !ok:
	case kind == ']':
		r.osc(from, body)
	case kind == 'P':
		r.device(from, body)
	case kind == '_':
		r.application(from, body)
	case kind == 'k':
		r.tell(from, "title", 1, "sets the title of the window to “"+name(body)+"”")
	default:
		r.tell(from, "hidden", 1, "gives the terminal a text that it does not show: “"+name(body)+"”")
	}
	return true
}

var (
	// csi is the rest of a control sequence: what it is private for, parameters, intermediate bytes and the final one.
	csi = lazyregexp.New(`^([<=>?]?)([0-9;:]*)([ -/]*)([@-~])`)
	// keyMap gives a key another text (ANSI.SYS).
	keyMap = lazyregexp.New(`^[0-9;]*(?:"[^"\n]*"|'[^'\n]*')[0-9;"']*p`)
	// halfCSI is a control sequence that may go on.
	halfCSI = lazyregexp.New(`^[0-?]*[ -/]*$`)
)

// control reads a control sequence.
func (r *terminalReader) control(from int) {
	rest := r.s[r.at:min(len(r.s), r.at+200)]
	if m := keyMap.FindString(rest); m != "" {
		r.at += len(m)
		r.tell(from, "keys", 3, "gives a key of the keyboard another text: “"+name(m[:len(m)-1])+"”")
		return
	}
	m := csi.FindStringSubmatch(rest)
	if m == nil {
		if halfCSI.MatchString(rest) && r.at+len(rest) == len(r.s) {
			r.rest = from
			r.at = len(r.s)
		}
		return
	}
	r.at += len(m[0])
	first, _, _ := strings.Cut(m[2], ";")
	n, _ := strconv.Atoi(first)
	if kind, severity, says := controlOf(m[1], m[3]+m[4], first, n); kind != "" {
		r.tell(from, kind, severity, says+" (CSI "+name(m[0])+")")
	}
}

// controlOf says what a control sequence does, "" for colours, the cursor and the like.
func controlOf(private, final, first string, n int) (kind string, severity int, says string) {
	switch private + final {
	case "t":
		switch {
		case n == 20 || n == 21:
			return "query", 2, "asks the terminal for the title of its window, which it answers as if typed"
		case n >= 1 && n <= 10, n >= 24:
			return "window", 1, "moves or resizes the window"
		case n >= 11 && n <= 19:
			return "query", 1, "asks the terminal for the state of its window, which it answers as if typed"
		}
	case "c", ">c", "=c", ">q", "?u", "x", "$p", "?$p", "n", "?n":
		if n > 1 || first == "" || n == 0 {
			return "query", 1, "asks the terminal about itself, which it answers as if typed"
		}
	case "*y":
		return "query", 2, "asks the terminal about a part of its screen, which it answers as if typed"
	case "*z":
		return "keys", 3, "runs a macro of the terminal"
	case "i", "?i":
		if n != 4 {
			return "print", 2, "prints what the terminal shows"
		}
	case "?h":
		if n >= 1000 && n <= 1016 && n != 1007 && n != 1010 && n != 1011 {
			return "input", 1, "has the terminal type where the mouse is"
		}
	case "?l":
		if n == 2004 {
			return "input", 1, "has the terminal paste as if typed"
		}
	case "h":
		if n == 2 {
			return "input", 2, "locks the keyboard"
		}
	case ">m", ">u", "=u":
		return "input", 1, "changes what keys send"
	}
	return "", 0, ""
}

// mayHoldSequence tells most values without one: JSON and UTF-8 write its first character in few
// ways.
func mayHoldSequence(v []byte) bool {
	escaped := bytes.IndexByte(v, '\\') >= 0 && (bytes.Contains(v, []byte(`\u001b`)) || bytes.Contains(v, []byte(`\u001B`)) || bytes.Contains(v, []byte(`\u009`)))
	return escaped || bytes.IndexByte(v, 0x1B) >= 0 || bytes.IndexByte(v, 0xC2) >= 0 &&
		(bytes.Contains(v, []byte("\xC2\x90")) || bytes.Contains(v, []byte("\xC2\x9B")) || bytes.Contains(v, []byte("\xC2\x9D")) || bytes.Contains(v, []byte("\xC2\x9F")))
}

// terminals finds sequences that act on a terminal in whatever the server says: clients and
// people show it in one.
type terminals struct{}

func (terminals) name() string { return "terminal_sequences" }

func (terminals) event(c *context) {
	if !c.FromServer() {
		return
	}
	if c.Kind == wire.Unparsed {
		if bytes.ContainsAny(c.Raw, "\x1b\u0090\u0098\u009b\u009d\u009e\u009f") {
			tellSequences(c, string(c.Raw), "a line that is not JSON-RPC", nil)
		}
		return
	}
	for _, body := range [][]byte{c.Result, c.Fault, c.Params} {
		if !mayHoldSequence(body) {
			continue
		}
		whose, extra := sayer(c)
		wire.Texts(body, func(_ [][]byte, quoted []byte, _ bool) {
			if s, ok := wire.Text(quoted); ok {
				tellSequences(c, s, whose, extra)
			}
		})
	}
}

// sayer says whose text it is.
func sayer(c *context) (whose string, extra []any) {
	switch {
	case c.Kind == wire.Response && c.Asked == nil:
		return "a response without a request", nil
	case c.Kind == wire.Response && c.Asked.Tool != "":
		return "the result of " + quoted(c.Asked.Tool), []any{"tool", name(c.Asked.Tool)}
	case c.Kind == wire.Response:
		return "the response to " + name(c.Method), []any{"method", name(c.Method)}
	case c.Kind == wire.Request:
		return "the request " + quoted(c.Method), []any{"method", name(c.Method)}
	}
	return "the notification " + quoted(c.Method), []any{"method", name(c.Method)}
}

// tellSequences tells the sequences of one text, each kind once.
func tellSequences(c *context, s, whose string, extra []any) {
	told := map[string]bool{}
	for _, q := range erased(s) {
		// What programs write over while they work is theirs; what the caller gave is hidden from who asked.
		if ours := c.sent.has([]byte(q.Payload)); !ours || told[q.Kind] || c.sent.has([]byte(s[q.Offset:q.End])) {
			continue
		}
		told[q.Kind] = true
		c.add(Divergence, "terminal_sequence", 3, append([]any{"place", q.Kind}, extra...), "%s %s", whose, q.Says)
		c.identify("a terminal sequence")
	}
	for _, q := range ClosedSequences(s) {
		// What a call brought comes back. That a declaration holds any such character is told as hidden text.
		if told[q.Kind] || c.sent.has([]byte(s[q.Offset:q.End])) || q.Severity == 1 && isDeclaration(c) {
			continue
		}
		told[q.Kind] = true
		given := q.Kind == ClipboardKind && q.Payload != "" && c.sent.has([]byte(q.Payload))
		if given {
			q.Severity = 2
		}
		c.add(Divergence, "terminal_sequence", q.Severity, append([]any{"place", q.Kind}, extra...), "%s %s", whose, q.Says)
		c.identify("a terminal sequence")
		c.found[len(c.found)-1].Given = given
	}
}
