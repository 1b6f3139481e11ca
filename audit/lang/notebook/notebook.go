package notebook

import (
	"bytes"
	"encoding/json"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
)

// Language is that of notebooks. It has no state.
type Language struct{}

var _ lang.Language = Language{}

// Name implements lang.Language. Their code is Python.
func (Language) Name() string { return python.Language{}.Name() }

// Owns implements lang.Language.
func (Language) Owns(name string, _ []byte) bool { return path.Ext(name) == ".ipynb" }

// Parse implements lang.Language.
func (Language) Parse(name string, src []byte) *lang.File {
	r := reader{src: src, decoder: json.NewDecoder(bytes.NewReader(src))}
	r.decoder.UseNumber()
	err := r.value(nil, nil)
	r.flush()
	f := python.Language{}.Parse(name, []byte(r.code.String()))
	f.Lines = r.lines
	if err != nil {
		first := lang.At(0, 1, 1)
		f.Unread = append(f.Unread, lang.Unread{Span: lang.Span{Start: first, End: first}, Why: "no notebook, or not all of one"})
	}
	f.Unread = append(f.Unread, r.unread...)
	return f
}

// maxDepth bounds how deeply a notebook's values may be nested.
const maxDepth = 100

// reader reads a notebook token by token, so that the places of its lines are known.
type reader struct {
	src     []byte
	decoder *json.Decoder
	// counted is the offset up to which line counts the lines.
	counted, line int
	// cell is the cell that is read.
	cell   *cell
	code   strings.Builder
	lines  []int
	unread []lang.Unread
}

type cell struct {
	kind string
	text strings.Builder
	// lines are those of the text, of the notebook.
	lines []int
}

// lineAt is the line of an offset, which never decreases.
func (r *reader) lineAt(offset int) int {
	offset = min(offset, len(r.src))
	r.line += bytes.Count(r.src[r.counted:offset], []byte("\n"))
	r.counted = offset
	return r.line + 1
}

// value reads one value at a path of keys.
func (r *reader) value(at []string, given json.Token) error {
	t := given
	if t == nil {
		var err error
		if t, err = r.decoder.Token(); err != nil {
			return err
		}
	}
	if len(at) > maxDepth {
		return io.ErrUnexpectedEOF
	}
	switch d, _ := t.(json.Delim); d {
	case '{':
		isCell := len(at) > 0 && at[len(at)-1] == "cells"
		if isCell {
			r.flush()
			r.cell = &cell{}
		}
		return r.object(at)
	case '[':
		for r.decoder.More() {
			if err := r.value(at, nil); err != nil {
				return err
			}
		}
		_, err := r.decoder.Token()
		return err
	}
	if text, ok := t.(string); ok {
		r.text(at, text)
	}
	return nil
}

func (r *reader) object(at []string) error {
	for r.decoder.More() {
		k, err := r.decoder.Token()
		if err != nil {
			return err
		}
		key, _ := k.(string)
		if err := r.value(append(at[:len(at):len(at)], key), nil); err != nil {
			return err
		}
	}
	_, err := r.decoder.Token()
	return err
}

// text keeps a text of a cell: its type, or a piece of its source.
func (r *reader) text(at []string, text string) {
	if r.cell == nil || len(at) < 2 || at[len(at)-2] != "cells" {
		return
	}
	switch at[len(at)-1] {
	case "cell_type":
		r.cell.kind = text
	case "source", "input":
		// A string ends before the offset: its own line is that of its last byte.
		line := r.lineAt(int(r.decoder.InputOffset()) - 1)
		for range strings.Count(text, "\n") {
			r.cell.lines = append(r.cell.lines, line)
		}
		if !strings.HasSuffix(text, "\n") {
			r.cell.lines = append(r.cell.lines, line)
		}
		r.cell.text.WriteString(text)
	}
}

// flush adds the code of the present cell.
func (r *reader) flush() {
	c := r.cell
	r.cell = nil
	if c == nil || c.kind != "code" || c.text.Len() == 0 {
		return
	}
	text := strings.TrimSuffix(c.text.String(), "\n")
	if strings.HasPrefix(strings.TrimSpace(text), "%%") {
		at := lang.At(0, c.lines[0], 1)
		r.unread = append(r.unread, lang.Unread{Span: lang.Span{Start: at, End: at}, Why: "a cell with a magic of its own"})
		return
	}
	for i, line := range strings.Split(text, "\n") {
		r.code.WriteString(plain(line))
		r.code.WriteByte('\n')
		r.lines = append(r.lines, c.lines[min(i, len(c.lines)-1)])
	}
}

// plain is a line of IPython as Python.
func plain(line string) string {
	rest := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(rest)]
	switch {
	case strings.HasPrefix(rest, "!"):
		return indent + "get_ipython().system(" + strconv.QuoteToASCII(strings.TrimLeft(rest, "!")) + ")"
	case strings.HasPrefix(rest, "%") || strings.HasPrefix(rest, "?"):
		return indent + "pass"
	}
	return line
}
