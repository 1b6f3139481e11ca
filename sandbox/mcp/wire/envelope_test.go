package wire

import (
	"encoding/json"
	"testing"
)

func TestEnvelope(t *testing.T) {
	for _, c := range []struct{ in, id, method, params, result, fault string }{
		{`{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":[1]}}`, "7", `"a"`, `{"x":[1]}`, "", ""},
		{` { "id" : "x" , "result" : null } `, `"x"`, "", "", "null", ""},
		{`{"\u0069d":1,"error":{"code":1}}`, "1", "", "", "", `{"code":1}`},
		{`{"id":1,"id":2}`, "2", "", "", "", ""},
		{`{}`, "", "", "", "", ""},
		{`{"id":1} x`, "", "", "", "", ""},
		{`{"id":1,}`, "", "", "", "", ""},
		{`[{"id":1}]`, "", "", "", "", ""},
		{`{"id":`, "", "", "", "", ""},
	} {
		var e Envelope
		err := e.Read([]byte(c.in))
		got := [5]string{string(e.ID), string(e.Method), string(e.Params), string(e.Result), string(e.Error)}
		if want := [5]string{c.id, c.method, c.params, c.result, c.fault}; got != want {
			t.Errorf("%s: %q, want %q", c.in, got, want)
		}
		if valid := json.Valid([]byte(c.in)) && c.in[0] != '['; (err == nil) != valid {
			t.Errorf("%s: error %v", c.in, err)
		}
	}
}

// FuzzEnvelope holds Walk and Envelope.Read against the strict scanner.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":[1,{"\u0061":2}]}}`))
	f.Add([]byte(`{"a":1,"a":{}} `))
	f.Fuzz(func(t *testing.T, in []byte) {
		var e Envelope
		err := e.Read(in)
		s := scanner{data: in}
		s.space()
		object := s.peek() == '{'
		if strict := CheckJSON(in); (err == nil) != (strict == nil && object) {
			t.Fatalf("Read(%q) = %v, CheckJSON says %v", in, err, strict)
		}
		if err != nil {
			return
		}
		if !Walk(in, func(_, v []byte) {
			if CheckJSON(v) != nil {
				t.Fatalf("value %q of %q", v, in)
			}
		}) {
			t.Fatalf("Walk refuses %q", in)
		}
	})
}
