package spy

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/pii"
)

// hides says where secrets and personal data are replaced: in what is printed, in what is said on stderr, in
// session logs.
type hides struct{ out, said, logs bool }

func (o *Options) hides() hides {
	always, auto := o.Redact == RedactAlways, o.Redact == RedactAuto
	return hides{out: always || auto && o.Terminal, said: always || auto && o.SayTerminal, logs: always}
}

// say tells people a line. It may be called from any goroutine. What is cut short must be hidden before.
func (w *watch) say(line string) { w.o.Say(hide(w.hides.said, line)) }

// hide replaces secrets in a text if it is to. A Scanner belongs to one goroutine, and costs nothing to make.
func hide(is bool, text string) string {
	if !is {
		return text
	}
	return pii.NewScanner(nil).Redact(text)
}

// hidden is what v points to, or a copy of it in which no text holds a secret: processes and servers are
// shared by records.
func hidden[T any](is bool, v *T) *T {
	if !is || v == nil {
		return v
	}
	out, _ := hiddenValue(reflect.ValueOf(v)).Interface().(*T)
	return out
}

var (
	rawType   = reflect.TypeFor[json.RawMessage]()
	wordsType = reflect.TypeFor[[]string]()
)

// hiddenValue copies a value. It follows what records are made of: no maps, and no interfaces.
func hiddenValue(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch {
	case v.Kind() == reflect.String:
		out.SetString(hide(true, v.String()))
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(hiddenValue(v.Elem()))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := out.Field(i); f.CanSet() {
				f.Set(hiddenValue(v.Field(i)))
			}
		}
	case v.Type() == rawType:
		out.SetBytes(hiddenJSON(v.Bytes()))
	case v.Type() == wordsType:
		out.Set(reflect.ValueOf(hiddenWords(v.Interface().([]string))))
	}
	return out
}

// hiddenJSON stays JSON: what a tag breaks, such as a long number, becomes a string.
func hiddenJSON(raw []byte) []byte {
	text := hide(true, string(raw))
	if text == string(raw) || json.Valid([]byte(text)) {
		return []byte(text)
	}
	quoted, _ := json.Marshal(text) // a string
	return quoted
}

// hiddenWords are the words of a command line, in which an option names what the next word is.
func hiddenWords(words []string) []string {
	out := slices.Clone(words)
	for i, word := range words {
		out[i] = hide(true, word)
		name, value, together := strings.Cut(word, "=")
		if !together && i > 0 {
			name, value = words[i-1], word
		}
		if out[i] != word || value == "" {
			continue
		}
		before := name + `="`
		if text := hide(true, before+value+`"`); strings.HasPrefix(text, before) && text != before+value+`"` {
			out[i] = strings.TrimSuffix(word, value) + strings.TrimSuffix(text[len(before):], `"`)
		}
	}
	return out
}
