package dockerfile

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// Instruction is one instruction of a Dockerfile.
type Instruction struct {
	// Name is in upper case: "RUN".
	Name string
	// Offset is where the name stands, in bytes.
	Offset int
	// Flags are those before the arguments: "--from=build".
	Flags []string
	// Text is what follows the flags, and TextAt its offset. It has the length of the
	// source: comments and ends of lines within it are blanks, so that offsets stay.
	Text   string
	TextAt int
	// Exec are the words of the exec form, nil for the shell form.
	Exec []string
	// Here are the here-documents of the instruction, in their order.
	Here []HereDocument
}

// HereDocument is text that follows an instruction.
type HereDocument struct {
	Text   string
	Offset int
}

// Owns reports whether a file is a Dockerfile by its name.
func Owns(name string) bool {
	base := strings.ToLower(path.Base(name))
	return base == "dockerfile" || base == "containerfile" || strings.HasPrefix(base, "dockerfile.") || strings.HasSuffix(base, ".dockerfile")
}

// maxInstructions bounds how many are read.
const maxInstructions = 5_000

var (
	directive = regexp.MustCompile("(?i)^#[ \t]*escape[ \t]*=[ \t]*([\\\\`])")
	here      = regexp.MustCompile(`<<-?["']?([A-Za-z_][A-Za-z0-9_]*)["']?`)
	name      = regexp.MustCompile(`^[ \t]*([A-Za-z]+)(?:[ \t]+|$)`)
	flag      = regexp.MustCompile(`^--[a-z][a-z-]*(?:=[^ \t]*)?[ \t]*`)
)

// Parse returns the instructions of a Dockerfile. It leaves out all else.
func Parse(src string) []Instruction {
	r := reader{src: src, escape: '\\'}
	if m := directive.FindStringSubmatch(src); m != nil {
		r.escape = m[1][0]
	}
	var out []Instruction
	for r.at < len(src) && len(out) < maxInstructions {
		if in, ok := r.instruction(); ok {
			out = append(out, in)
		}
	}
	return out
}

// reader is one reading under way.
type reader struct {
	src    string
	at     int
	escape byte
}

// line is the next line with its offset, without its end.
func (r *reader) line() (string, int) {
	from := r.at
	n := strings.IndexByte(r.src[from:], '\n')
	if n < 0 {
		r.at = len(r.src)
		return r.src[from:], from
	}
	r.at = from + n + 1
	return r.src[from : from+n], from
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") }

// instruction reads the next instruction with its continued lines.
func (r *reader) instruction() (Instruction, bool) {
	first, from := r.line()
	if isComment(first) || strings.TrimSpace(first) == "" {
		return Instruction{}, false
	}
	text := r.continued(first, from)
	m := name.FindStringSubmatchIndex(text)
	if m == nil {
		return Instruction{}, false
	}
	in := Instruction{Name: strings.ToUpper(text[m[2]:m[3]]), Offset: from + m[2], TextAt: from + m[1]}
	rest := text[m[1]:]
	for f := flag.FindString(rest); f != ""; f = flag.FindString(rest) {
		in.Flags = append(in.Flags, strings.TrimSpace(f))
		rest, in.TextAt = rest[len(f):], in.TextAt+len(f)
	}
	in.Text = strings.TrimRight(rest, " \t\r\n")
	if strings.HasPrefix(in.Text, "[") {
		if json.Unmarshal([]byte(in.Text), &in.Exec) != nil {
			in.Exec = nil
		}
	}
	if in.Name == "RUN" || in.Name == "COPY" || in.Name == "ADD" {
		for _, m := range here.FindAllStringSubmatch(in.Text, 8) {
			in.Here = append(in.Here, r.document(m[1]))
		}
	}
	return in, true
}

// continued is a line that begins at an offset, with those that continue it.
func (r *reader) continued(line string, from int) string {
	var b strings.Builder
	for {
		body := strings.TrimRight(line, " \t\r")
		more := strings.HasSuffix(body, string(r.escape))
		if more {
			body = body[:len(body)-1]
		}
		b.WriteString(body)
		b.WriteString(strings.Repeat(" ", r.at-from-b.Len()))
		if !more {
			return b.String()
		}
		next, at, ok := r.continuation()
		if !ok {
			return b.String()
		}
		b.WriteString(strings.Repeat(" ", at-from-b.Len()))
		line = next
	}
}

// continuation is the next line that is no comment and not empty.
func (r *reader) continuation() (line string, at int, ok bool) {
	for r.at < len(r.src) {
		if line, at = r.line(); !isComment(line) && strings.TrimSpace(line) != "" {
			return line, at, true
		}
	}
	return "", 0, false
}

// document reads a here-document up to its word.
func (r *reader) document(word string) HereDocument {
	from := r.at
	for r.at < len(r.src) {
		line, at := r.line()
		if strings.Trim(line, "\t\r ") == word {
			return HereDocument{Text: r.src[from:at], Offset: from}
		}
	}
	return HereDocument{Text: r.src[from:], Offset: from}
}
