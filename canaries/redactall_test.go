package canaries

import (
	"encoding/json"
	"reflect"
	"testing"
)

type word string

type everything struct {
	Text    string
	Word    word
	Pointer *string
	List    []string
	Bytes   []byte
	JSON    json.RawMessage
	Map     map[word]any
	Any     any
	Self    *everything
	hidden  string
	Nil     *string
	NoMap   map[string]string
}

func TestRedactAll(t *testing.T) {
	const value = "zk-live-4fJ8sKq0Vn2L"
	filled := func(text string) *everything {
		p := text
		return &everything{
			Text: text, Word: word(text), Pointer: &p, List: []string{"", text}, Bytes: []byte(text), JSON: json.RawMessage(`{"` + text + `":["` + text + `",12345678901234567890,null]}`),
			Map: map[word]any{word(text): []any{text, 1}}, Any: map[string]string{"a": text}, Self: &everything{Any: text},
		}
	}
	got, want := filled("a "+value+" b"), filled("a "+Passed+" b")
	NewRedactor([]string{value}).RedactAll(got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	got = filled(value)
	(*Redactor)(nil).RedactAll(got)
	if got.Text != value || got.hidden != "" {
		t.Error("no redactor changes something")
	}
	loop := &everything{Text: value}
	loop.Self = loop
	NewRedactor([]string{value}).RedactAll(loop)
	if loop.Text != Passed {
		t.Errorf("%q", loop.Text)
	}
}
