package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		name, in string
		want     []Message
		err      string
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, []Message{{ID: raw("1"), Method: "tools/list", Params: raw(`{"cursor":"x"}`)}}, ""},
		{"string id stays raw", ` {"jsonrpc":"2.0","id":"\u0061","result":{}} `, []Message{{ID: raw(`"\u0061"`), Result: raw("{}")}}, ""},
		{"large id stays exact", `{"jsonrpc":"2.0","id":9007199254740993,"result":null}`, []Message{{ID: raw("9007199254740993"), Result: raw("null")}}, ""},
		{"null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":[1]}}`, []Message{{ID: raw("null"), Error: &Error{-32700, "m", raw("[1]")}}}, ""},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, []Message{{Method: "notifications/initialized"}}, ""},
		{"null params", `{"jsonrpc":"2.0","method":"m","params":null}`, []Message{{Method: "m"}}, ""},
		{"other members", `{"jsonrpc":"2.0","id":1,"result":1,"x":2}`, []Message{{ID: raw("1"), Result: raw("1")}}, ""},
		{"batch", `[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","method":"m"}]`, []Message{{ID: raw("1"), Result: raw("1")}, {Method: "m"}}, ""},
		{"batch with a bad entry", `[1,{"jsonrpc":"2.0","method":"m"}]`, []Message{{Method: "m"}}, "batch entry 0: not an object"},
		{"empty batch", `[]`, nil, "the batch is empty"},
		{"empty", " \r", nil, "empty line"},
		{"banner", "Server running on stdio", nil, "unexpected 'S' at byte 0"},
		{"half a line", `{"jsonrpc":"2.0","id":1,"resu`, nil, "unexpected end in a string at byte 29"},
		{"scalar", `42`, nil, "not an object"},
		{"no version", `{"id":1,"result":1}`, nil, `"jsonrpc" is not "2.0"`},
		{"version as number", `{"jsonrpc":2.0,"id":1,"result":1}`, nil, `"jsonrpc" is not "2.0"`},
		{"other case", `{"jsonrpc":"2.0","ID":1,"Result":1}`, nil, `neither "method" nor "id"`},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"result":1}`, nil, `"id" is neither`},
		{"id is true", `{"jsonrpc":"2.0","id":true,"result":1}`, nil, `"id" is neither`},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, nil, `"method" is not a name`},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"m","result":1}`, nil, `"method" beside`},
		{"params is a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}`, nil, `"params" is neither`},
		{"params of an answer", `{"jsonrpc":"2.0","id":1,"params":{},"result":1}`, nil, `"params" without`},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":1,"error":null}`, nil, `both "result" and "error"`},
		{"nothing to say", `{"jsonrpc":"2.0","id":1}`, nil, `neither "method", "result" nor "error"`},
		{"error is a string", `{"jsonrpc":"2.0","id":1,"error":"x"}`, nil, `"error" is not an object`},
		{"code is no integer", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`, nil, `"code" is not an integer`},
		{"no message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, nil, `"message" is not a string`},
		{"the same id twice", `{"jsonrpc":"2.0","id":1,"id":2,"result":1}`, nil, `duplicate key "id"`},
		{"the same key far inside", `{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":1,"b":1}]}}`, nil, `duplicate key "b"`},
		{"NaN", `{"jsonrpc":"2.0","id":1,"result":NaN}`, nil, "unexpected 'N'"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xc3\"}", nil, "invalid UTF-8"},
		{"a tower", strings.Repeat(`[`, 1<<20), nil, "nested deeper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if e := errString(err); !strings.Contains(e, tt.err) || tt.err == "" && e != "" {
				t.Errorf("error %q, want %q", e, tt.err)
			}
		})
	}
}

func TestParseKeepsNothingOfItsInput(t *testing.T) {
	line := []byte(`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`)
	m, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	for i := range line {
		line[i] = 'x'
	}
	if string(m[0].Result) != `{"a":1}` || string(m[0].ID) != "1" {
		t.Errorf("the message changed with the buffer: %s", m[0].Result)
	}
}

func TestBadBatchIsBounded(t *testing.T) {
	_, err := Parse([]byte("[" + strings.Repeat("1,", 100_000) + "1]"))
	if e := errString(err); len(e) > 4096 || !strings.Contains(e, "99993 more") {
		t.Errorf("an error of %d bytes", len(e))
	}
}

func TestMessageKinds(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"m"}`:                           "request",
		`{"jsonrpc":"2.0","method":"m"}`:                                  "notification",
		`{"jsonrpc":"2.0","id":1,"result":null}`:                          "response",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\ud83d!"}}`: "response",
	} {
		m, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		for kind, is := range map[string]bool{"request": m[0].IsRequest(), "notification": m[0].IsNotification(), "response": m[0].IsResponse()} {
			if is != (kind == want) {
				t.Errorf("%s: %s is %v", in, kind, is)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, `[{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}]`, `{"jsonrpc":"2.0","id":"a","result":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Parse(in)
		if errors.Is(err, ErrEmpty) && len(got) > 0 || err == nil && len(got) == 0 {
			t.Fatalf("%d messages and error %v", len(got), err)
		}
		for _, m := range got {
			kinds := 0
			for _, is := range []bool{m.IsRequest(), m.IsNotification(), m.IsResponse()} {
				if is {
					kinds++
				}
			}
			if kinds != 1 {
				t.Fatalf("%q is %d kinds of message", in, kinds)
			}
			for _, v := range []json.RawMessage{m.ID, m.Params, m.Result} {
				if v != nil && !json.Valid(v) {
					t.Fatalf("%q holds %q", in, v)
				}
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("hello, wörld ", 6000) + `"}]}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
