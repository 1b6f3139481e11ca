package synth

import (
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/literals"
)

// maxDeep bounds how deep values in prose are nested, and maxPlaces how many places of a text may begin one.
const maxDeep, maxPlaces = 6, 200

// eachObject calls f with each object in a text, as JSON, JavaScript and Python write it. Those within one that f takes
// are left out.
func eachObject(text string, f func(map[string]any) bool) {
	text = text[:min(len(text), maxSaidText)]
	for at, places := 0, 0; places < maxPlaces; places++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			return
		}
		w := written{text: text, at: at + i + 1}
		at = w.at
		if object, ok := w.members('}', ':'); ok && f(object) {
			at = w.at
		}
	}
}

// eachCall calls f with the named arguments of each call of a function in a text, as Python writes it.
func eachCall(text, name string, f func(map[string]any) bool) {
	text = text[:min(len(text), maxSaidText)]
	for at, places := 0, 0; name != "" && places < maxPlaces; places++ {
		i := nextWord(text, name, at)
		if i < 0 {
			return
		}
		at = i + len(name)
		if w := (written{text: text, at: at + 1}); strings.HasPrefix(text[at:], "(") {
			if args, ok := w.members(')', '='); ok {
				f(args)
				at = w.at
			}
		}
	}
}

// written reads values in prose.
type written struct {
	text string
	at   int
	deep int
}

// word is a name or a value without quotation marks, and number one as JSON writes it.
var (
	word   = lazyregexp.New(`^[A-Za-z_$][A-Za-z0-9_$]*`)
	number = lazyregexp.New(`^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?`)
)

func (w *written) skip() {
	w.at = len(w.text) - len(strings.TrimLeft(w.text[w.at:], " \t\r\n"))
}

// next reports whether a sign is next, and takes it.
func (w *written) next(sign byte) bool {
	w.skip()
	if w.at < len(w.text) && w.text[w.at] == sign {
		w.at++
		return true
	}
	return false
}

// members reads names with their values to a closing sign.
func (w *written) members(closing, separator byte) (map[string]any, bool) {
	out := map[string]any{}
	for !w.next(closing) {
		name, ok := w.name()
		if !ok || !w.next(separator) {
			return nil, false
		}
		value, ok := w.value()
		if !ok {
			return nil, false
		}
		out[name] = value
		if !w.next(',') {
			return out, w.next(closing)
		}
	}
	return out, true
}

func (w *written) name() (string, bool) {
	w.skip()
	if text, ok := w.quoted(); ok {
		return text, true
	}
	name := word.FindString(w.text[w.at:])
	w.at += len(name)
	return name, name != ""
}

// value reads one value. Numbers are json.Number.
func (w *written) value() (any, bool) {
	if w.deep++; w.deep > maxDeep {
		return nil, false
	}
	defer func() { w.deep-- }()
	switch {
	case w.next('{'):
		return w.members('}', ':')
	case w.next('['):
		return w.list()
	}
	if text, ok := w.quoted(); ok {
		return text, true
	}
	if n := number.FindString(w.text[w.at:]); n != "" {
		w.at += len(n)
		return json.Number(n), true
	}
	bare := word.FindString(w.text[w.at:])
	w.at += len(bare)
	switch bare {
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	case "null", "None":
		return nil, true
	}
	return nil, false
}

func (w *written) list() (any, bool) {
	out := []any{}
	for !w.next(']') {
		value, ok := w.value()
		if !ok {
			return nil, false
		}
		out = append(out, value)
		if !w.next(',') {
			return out, w.next(']')
		}
	}
	return out, true
}

// quoted reads a text in quotation marks, to the end of its line at most.
func (w *written) quoted() (string, bool) {
	rest := w.text[w.at:]
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", false
	}
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			w.at += i + 1
			return literals.Unquote(rest[1:i]), true
		}
	}
	return "", false
}
