package frames

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Filter chooses frames. The zero Filter chooses all.
type Filter struct {
	// Methods and Tools are parts of names in lower case; one of them must match.
	Methods, Tools []string
	// Dir is a direction, "" for both.
	Dir session.Dir
	// Errors chooses what failed, with its requests, what is no message, and findings; Blocked what the
	// gate kept back; Unanswered requests that have no answer yet.
	Errors, Blocked, Unanswered bool
	// Effects chooses what coalmine spy saw the server do, and the findings in it.
	Effects bool
	// Texts are parts of the log's line in lower case, of which all must be there.
	Texts []string
}

// FilterHelp says in a line what ParseFilter reads.
const FilterHelp = "method:NAME tool:NAME dir:sent|received errors unanswered blocked effects TEXT"

// ParseFilter reads a filter: words with a space between them. What is no key is a text.
func ParseFilter(s string) (Filter, error) {
	var f Filter
	for _, word := range strings.Fields(string(lowered(s))) {
		key, value, named := strings.Cut(word, ":")
		switch {
		case word == "errors":
			f.Errors = true
		case word == "blocked":
			f.Blocked = true
		case word == "effects":
			f.Effects = true
		case word == "unanswered":
			f.Unanswered = true
		case named && key == "method" && value != "":
			f.Methods = append(f.Methods, value)
		case named && key == "tool" && value != "":
			f.Tools = append(f.Tools, value)
		case named && key == "dir":
			switch value {
			case "sent", string(session.C2S):
				f.Dir = session.C2S
			case "received", string(session.S2C):
				f.Dir = session.S2C
			default:
				return f, fmt.Errorf("dir:%.20q is neither sent nor received", value)
			}
		default:
			f.Texts = append(f.Texts, word)
		}
	}
	return f, nil
}

// All reports whether the filter chooses every frame.
func (f *Filter) All() bool {
	return len(f.Methods)+len(f.Tools)+len(f.Texts) == 0 && f.Dir == "" && !f.Errors && !f.Blocked && !f.Unanswered && !f.Effects
}

// about reports whether the filter chooses a frame by what the index knows of it.
func (f *Filter) about(x *Index, fr *Frame) bool {
	switch {
	case f.Dir != "" && f.Dir != fr.Dir,
		f.Blocked && !fr.Blocked,
		f.Effects && fr.Kind != Effect && fr.Kind != Finding,
		f.Unanswered && (fr.Kind != Request || fr.Pair >= 0),
		len(f.Methods) > 0 && !anyIn(f.Methods, fr.Method),
		len(f.Tools) > 0 && !anyIn(f.Tools, fr.Tool):
		return false
	case !f.Errors:
		return true
	}
	switch fr.Kind {
	case Request:
		return fr.Pair >= 0 && x.entry(fr.Pair).flags&flagFailed != 0
	case Answer:
		return fr.Failed
	case NoJSON, Damaged, Other, Finding:
		return true
	}
	return false
}

func anyIn(parts []string, name string) bool {
	name = strings.ToLower(name)
	for _, p := range parts {
		if strings.Contains(name, p) {
			return true
		}
	}
	return false
}

// The work of one Match: so many frames, and so many bytes of their lines.
const (
	matchFrames = 1 << 17
	matchBytes  = 8 << 20
	// maxText is how much of one line a text is looked for in.
	maxText = 16 << 20
)

// Match lists the positions from one on that a filter chooses, and where it stopped: it does
// a bounded part of the work. next is the number of frames when all were looked at.
func (x *Index) Match(f *Filter, from int) (found []uint32, next int) {
	x.mu.RLock()
	end := min(x.n, from+matchFrames)
	for i := from; i < end; i++ {
		fr := x.frame(x.entry(i))
		if f.about(x, &fr) {
			found = append(found, uint32(i))
		}
	}
	x.mu.RUnlock()
	if len(f.Texts) == 0 {
		return found, end
	}
	var buf []byte
	read := 0
	kept := found[:0]
	for _, i := range found {
		if read > matchBytes {
			return kept, int(i)
		}
		line, err := x.Line(int(i), maxText, buf)
		if err != nil {
			continue
		}
		buf = line
		read += len(line)
		if containsAll(line, f.Texts) {
			kept = append(kept, i)
		}
	}
	return kept, end
}

// containsAll looks for texts in lower case, and changes the line.
func containsAll(line []byte, texts []string) bool {
	lower(line)
	for _, t := range texts {
		if !bytes.Contains(line, []byte(t)) {
			return false
		}
	}
	return true
}

// lower makes ASCII letters small in place.
func lower(b []byte) {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}

// Matcher returns a function that reports whether the line of a frame holds a text, whatever
// the case of ASCII letters. It is for one goroutine.
func (x *Index) Matcher(want string) func(i int) bool {
	texts := []string{string(lowered(want))}
	var buf []byte
	return func(i int) bool {
		line, err := x.Line(i, maxText, buf)
		if err != nil {
			return false
		}
		buf = line
		return containsAll(line, texts)
	}
}

func lowered(s string) []byte {
	b := []byte(s)
	lower(b)
	return b
}
