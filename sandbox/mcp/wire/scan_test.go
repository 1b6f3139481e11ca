package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckJSON(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	tests := []struct {
		in   string
		what string // "" is accepted
	}{
		{`{}`, ""}, {` [ ] `, ""}, {"\t{\"a\" : [1,-0,2.5e+3,1E9,true,false,null,\"\"]}\r\n", ""},
		{`"\ud800"`, ""}, {`"\u00e9é\/\b\f\n\r\t\"\\"`, ""}, {`{"a":1,"a":2}`, ""}, {deep, ""},
		{"1e999", ""}, {strings.Repeat("9", 5000), ""},
		{"", "no value at byte 0"}, {"  ", "no value at byte 2"},
		{`{}{}`, "data after the value at byte 2"}, {"\ufeff{}", "unexpected '\\ufeff' at byte 0"},
		{`[` + deep + `]`, "nested deeper than 512 at byte 512"},
		{`NaN`, "unexpected 'N' at byte 0"}, {`[-Infinity]`, "no digit in a number at byte 2"}, {`nul`, "unexpected 'n' at byte 0"},
		{`[1,]`, "unexpected ']' at byte 3"}, {`{"a":1,}`, "no string for a key at byte 7"}, {`{a:1}`, "no string for a key at byte 1"},
		{`{"a" 1}`, "no ':' after a key at byte 5"}, {`{"a":1 "b":2}`, "no ',' or '}' in an object at byte 7"},
		{`[1 2]`, "no ',' or ']' in an array at byte 3"}, {`[`, "unexpected end at byte 1"}, {`{"a":`, "unexpected end at byte 5"},
		{`01`, "data after the value at byte 1"}, {`1.`, "no digit after a decimal point at byte 2"}, {`1e`, "no digit in an exponent at byte 2"}, {`+1`, "unexpected '+' at byte 0"},
		{`"a`, "unexpected end in a string at byte 2"}, {`"\x"`, "bad escape in a string at byte 1"}, {`"\u12g4"`, "bad escape in a string at byte 1"}, {`"\`, "bad escape in a string at byte 1"},
		{"\"a\nb\"", "control character 0x0a in a string at byte 2"}, {"\"\xff\"", "invalid UTF-8 at byte 1"}, {"\"\xed\xa0\x80\"", "invalid UTF-8 at byte 1"}, {"\xff", "unexpected byte 0xff at byte 0"},
		{"// no\n1", "unexpected '/' at byte 0"}, {"'a'", "unexpected '\\'' at byte 0"},
	}
	for _, tt := range tests {
		err := CheckJSON([]byte(tt.in))
		if got := errString(err); got != tt.what {
			t.Errorf("CheckJSON(%.40q) = %q, want %q", tt.in, got, tt.what)
		}
	}
}

func errString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDuplicateKeys(t *testing.T) {
	var many strings.Builder
	for i := range 100 {
		many.WriteString(`"k` + strings.Repeat("x", i) + `":1,`)
	}
	tests := []struct{ in, what string }{
		{`{"a":1,"b":{"a":2}}`, ""},
		{`{"a":1,"A":2}`, ""},
		{`{` + many.String() + `"z":1}`, ""},
		{`{"a":1,"a":2}`, `duplicate key "a" at byte 7`},
		{`[{"x":{"a":1,"\u0061":2}}]`, `duplicate key "a" at byte 13`},
		{`{` + many.String() + `"k":1}`, `duplicate key "k"`},
	}
	for _, tt := range tests {
		if got := errString(checkUnique([]byte(tt.in))); !strings.HasPrefix(got, tt.what) || tt.what == "" && got != "" {
			t.Errorf("checkUnique(%.40q) = %q, want %q", tt.in, got, tt.what)
		}
	}
}

func TestMember(t *testing.T) {
	obj := json.RawMessage(` { "METHOD":1, "method" : {"a":[1, 2]} , "n":null,"d":1,"d":2}`)
	for key, want := range map[string]string{"method": `{"a":[1, 2]}`, "n": "null", "d": "2", "absent": ""} {
		if v, ok := Member(obj, key); string(v) != want || ok != (want != "") {
			t.Errorf("Member(%q) = %q, %v", key, v, ok)
		}
	}
	for _, bad := range []string{"", "[]", "{", `{"method":1`, "1"} {
		if v, ok := Member(json.RawMessage(bad), "method"); ok {
			t.Errorf("Member of %q = %q", bad, v)
		}
	}
}

func TestMayName(t *testing.T) {
	for _, tt := range []struct {
		in   string
		at   int
		name bool
	}{
		{`{"isError":true}`, 1, true}, {`{"isErro":1,"isError":true}`, 12, true}, {`{"content":["E","isError"]}`, 16, true}, {`"isError"`, 0, true},
		{`{"is\u0045rror":true}`, -1, true}, {`{"xisError":1,"isErrorx":2}`, -1, false}, {`rror"`, -1, false}, {`"isError`, -1, false}, {"", -1, false}, {`EEEEEE`, -1, false},
	} {
		if at, name := IndexName([]byte(tt.in), "isError"), MayName([]byte(tt.in), "isError"); at != tt.at || name != tt.name {
			t.Errorf("%s: %d, %v, want %d, %v", tt.in, at, name, tt.at, tt.name)
		}
	}
	if at := IndexName([]byte(`{"type":"text","text":""}`), "text"); at != 8 {
		t.Errorf("a name without capitals is found at %d", at)
	}
}

// FuzzCheckJSON holds the scanner against encoding/json, which differs from it
// only where this package says so.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"\ud800\u0041",true,null]}`, `"é"`, `[[[]]]`, `{"a":1,"a":2}`, "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		err := CheckJSON(in)
		var se *SyntaxError
		if err != nil && (!errors.As(err, &se) || se.Offset < 0 || se.Offset > len(in)) {
			t.Fatalf("error %v of %q has no place", err, in)
		}
		std := json.Valid(in)
		deep := bytes.Count(in, []byte("["))+bytes.Count(in, []byte("{")) > MaxDepth
		if (err == nil) != std && utf8.Valid(in) && !deep {
			t.Fatalf("CheckJSON(%q) = %v, encoding/json says %v", in, err, std)
		}
		if err == nil && !std {
			t.Fatalf("accepted %q", in)
		}
		if err == nil {
			checkWalk(t, in)
		}
	})
}

// checkWalk compares what members and elements find with encoding/json.
func checkWalk(t *testing.T, in []byte) {
	var a []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(in), []byte("[")) && json.Unmarshal(in, &a) == nil {
		n := 0
		WalkArray(in, func(i int, v []byte) {
			if n++; i >= len(a) || !bytes.Equal(bytes.TrimSpace(a[i]), v) {
				t.Fatalf("element %d of %q is %q", i, in, v)
			}
		})
		if n != len(a) {
			t.Fatalf("%d elements of %q, want %d", n, in, len(a))
		}
	}
	var m map[string]json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(in), []byte("{")) && json.Unmarshal(in, &m) == nil {
		got := map[string]json.RawMessage{}
		EachMember(in, func(k string, v json.RawMessage) { got[k] = v })
		if len(got) != len(m) {
			t.Fatalf("%d members of %q, want %d", len(got), in, len(m))
		}
		for k, v := range got {
			if !bytes.Equal(bytes.TrimSpace(m[k]), v) {
				t.Fatalf("member %q of %q is %q, want %q", k, in, v, m[k])
			}
		}
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		`{"error":"no package.json\nin /w","more":{"hint":["a","b"]},"n":1}`: "error: no package.json\nin /w\nmore: hint: a\nmore: hint: b\n",
		` ["x"] `:      "x\n",
		`{"n":1}`:      `{"n":1}`,
		`{"a":"b"`:     `{"a":"b"`,
		`plain "text"`: `plain "text"`,
		"":             "",
	} {
		if got := Prose(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
