package session

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// digestA is the SHA-256 of "a".
const digestA = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

// bodies has one body of each type, with every member set, and its JSON form.
var bodies = []struct {
	body Body
	json string
}{
	{EventReady{Task: 7, Realtime: 9}, `{"type":"ready","t":5,"n":7,"realtime":9}`},
	{EventStarted{Task: 7}, `{"type":"started","t":5,"n":7}`},
	{EventStdin{Delivered: 3}, `{"type":"stdin","t":5,"n":3}`},
	{EventAccess{Path: "/a", Mask: "open|read"}, `{"type":"access","t":5,"path":"/a","mask":"open|read"}`},
	{EventRefused{Task: 7, Call: "socket", Args: "AF_VSOCK", Err: "EAFNOSUPPORT", Count: 2}, `{"type":"refused","t":5,"n":2,"task":7,"call":"socket","args":"AF_VSOCK","err":"EAFNOSUPPORT"}`},
	{EventEOF{Stream: "stdout"}, `{"type":"eof","t":5,"stream":"stdout"}`},
	{EventFound{Path: "/a", Canary: "c1", Encoding: "hex", Offset: 4}, `{"type":"found","t":5,"n":4,"path":"/a","canary":"c1","encoding":"hex"}`},
	{EventExit{Code: 137, Signal: "SIGKILL"}, `{"type":"exit","t":5,"code":137,"signal":"SIGKILL"}`},
	{EventTracerDied{Reason: "r"}, `{"type":"tracer-died","t":5,"reason":"r"}`},
	{EventLoss{Code: GapClockStepped, N: 2, Reason: "r"}, `{"type":"loss","t":5,"n":2,"gap":"clock-stepped","reason":"r"}`},
	{EventLimit{Reason: "cpu"}, `{"type":"limit","t":5,"reason":"cpu"}`},
	{EventError{Reason: "r", Hint: "h"}, `{"type":"error","t":5,"reason":"r","hint":"h"}`},
	{EventNote{Path: "/a", Reason: "r"}, `{"type":"note","t":5,"path":"/a","reason":"r"}`},
	{EventFull{Path: "/tmp"}, `{"type":"full","t":5,"path":"/tmp"}`},
	{EventOutlived{Tasks: 2}, `{"type":"outlived","t":5,"n":2}`},
	{EventSynced{N: 2}, `{"type":"synced","t":5,"n":2}`},
	{EventDial{ID: 3, Network: "tcp", Host: "h", Port: 80}, `{"type":"dial","t":5,"n":3,"network":"tcp","host":"h","port":80}`},
	{EventPorts{N: 3, Ports: []int{80, 443}}, `{"type":"ports","t":5,"n":3,"ports":[80,443]}`},
	{EventFile{N: 3, Path: "/a", Data: []byte("x"), Dir: true, Mode: 0o700}, `{"type":"file","t":5,"n":3,"path":"/a","dir":true,"mode":448,"data":"eA=="}`},
	{EventChanged{Path: "/a", Change: ChangeWritten, Before: FileState{Kind: "file", Mode: 0o600, Size: 1, SHA256: digestA},
		After: FileState{Kind: "link", Link: "/b"}, At: 4}, `{"type":"changed","t":5,"path":"/a","change":"written","before":{"kind":"file","mode":384,"size":1,"sha256":"` + digestA + `"},"after":{"kind":"link","link":"/b"},"at":4}`},
	{EventText{Path: "/a", Was: "w", Now: "n"}, `{"type":"text","t":5,"path":"/a","was":"w","now":"n"}`},
	{EventCompared{Files: 7, Bytes: 8, Reason: "r"}, `{"type":"compared","t":5,"n":7,"reason":"r","bytes":8}`},
	{EventLastWrite{Path: "/a", At: 4}, `{"type":"last-write","t":5,"path":"/a","at":4}`},
	{EventDone{}, `{"type":"done","t":5}`},
	{EventPort{Port: 80}, `{"type":"port","t":5,"n":80}`},
	{EventUnknown{Type: "news", Raw: []byte(`{"type":"news","t":5,"x":[1]}`)}, `{"type":"news","t":5,"x":[1]}`},
}

func TestEventsHaveTheirForm(t *testing.T) {
	for _, c := range bodies {
		raw, err := EncodeEvent(Event{5, c.body})
		if err != nil || string(raw) != c.json {
			t.Errorf("%T: %s, %v", c.body, raw, err)
		}
		got, err := DecodeEvent([]byte(c.json))
		if d := cmp.Diff(Event{5, c.body}, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", c.json, err, d)
		}
	}
}

// The table above names every type that can be a body.
func TestNoEventIsForgotten(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event_codec.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, c := range bodies {
		tested[reflect.TypeOf(c.body).Name()] = true
	}
	seen := 0
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "line" && f.Recv != nil {
			seen++
			if name := f.Recv.List[0].Type.(*ast.Ident).Name; !tested[name] {
				t.Errorf("%s is not in the table", name)
			}
		}
	}
	if seen != len(bodies) {
		t.Errorf("%d types, %d in the table", seen, len(bodies))
	}
}

func TestBadEventsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                                "decode the agent's event",
		`[]`:                                               "decode the agent's event",
		`{"type":"done","t":1} {}`:                         "more follows",
		`{"type":"done","t":1}}`:                           "more follows",
		`{"type":"done","t":1,"x":1}`:                      "unknown field",
		`{"type":"done","t":1,"reason":""}`:                "",
		`{"type":"done","t":1,"n":1}`:                      "a member of another type",
		`{"type":"stdin","t":1,"n":-1}`:                    "negative",
		`{"type":"news","t":-1,"x":1}`:                     "unknown field",
		`{"type":"last-write","t":1,"at":-1}`:              "negative",
		`{"type":"compared","t":1,"bytes":-1}`:             "negative",
		`{"type":"changed","t":1,"before":{"size":-1}}`:    "negative",
		`{"type":"changed","t":1,"after":{"sha256":"A0"}}`: "an invalid digest",
		`{"type":"changed","t":1,"after":{"sha256":"` + digestA[1:] + `Z"}}`:    "an invalid digest",
		`{"type":"changed","t":1,"after":{"mode":-1}}`:                          "decode the agent's event",
		`{"type":"changed","t":1,"after":{"owner":1}}`:                          "unknown field",
		`{"type":"last-write","t":1,"after":{"kind":"file"}}`:                   "a member of another type",
		`{"type":"file","data":"` + strings.Repeat("AAAA", MaxEventFile) + `"}`: "holds 393216 bytes",
	} {
		_, err := DecodeEvent([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
	if _, err := EncodeEvent(Event{}); err == nil {
		t.Error("an event without a body was encoded")
	}
}

// events draws an event of any type.
func events() *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		stamp := rapid.Int64Range(0, 1<<60).Draw(t, "stamp")
		body := reflect.New(reflect.TypeOf(rapid.SampledFrom(bodies).Draw(t, "type").body)).Elem()
		if body.Type() == reflect.TypeFor[EventUnknown]() {
			raw, _ := json.Marshal(map[string]any{"t": stamp, "type": "news of " + text().Draw(t, "type"), "any": text().Draw(t, "any")})
			var head struct{ Type string }
			_ = json.Unmarshal(raw, &head)
			return Event{time.Duration(stamp), EventUnknown{Type: head.Type, Raw: raw}}
		}
		for i := range body.NumField() {
			switch f := body.Field(i); f.Kind() {
			case reflect.String:
				f.SetString(text().Draw(t, body.Type().Field(i).Name))
			case reflect.Slice:
				if f.Type() == reflect.TypeFor[[]int]() {
					f.Set(reflect.ValueOf(rapid.SliceOf(rapid.IntRange(1, 65535)).Draw(t, "ports")))
					break
				}
				f.SetBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "data"))
			case reflect.Struct:
				f.Set(reflect.ValueOf(FileState{
					Kind: text().Draw(t, "kind"), Mode: rapid.Uint32().Draw(t, "mode"), Size: rapid.Int64Range(0, 1<<50).Draw(t, "size"),
					SHA256: rapid.SampledFrom([]string{"", digestA}).Draw(t, "sha256"), Link: text().Draw(t, "link"),
				}))
			case reflect.Bool:
				f.SetBool(rapid.Bool().Draw(t, body.Type().Field(i).Name))
			case reflect.Uint32:
				f.SetUint(uint64(rapid.Uint32().Draw(t, body.Type().Field(i).Name)))
			default:
				f.SetInt(rapid.Int64Range(0, 1<<50).Draw(t, body.Type().Field(i).Name))
			}
		}
		return Event{time.Duration(stamp), body.Interface().(Body)}
	})
}

func TestEventsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := events().Draw(t, "event")
		raw, err := EncodeEvent(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeEvent(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s: %s", raw, d)
		}
	})
}

// Whatever comes, it is read within bounds, and what was read is written and read alike.
func FuzzDecodeEvent(f *testing.F) {
	for _, c := range bodies {
		f.Add([]byte(c.json))
	}
	f.Add([]byte(`{"type":"stdin","t":-5,"n":-1}`))
	f.Add([]byte(`{"type":"news","t":1,"type":"done"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, p []byte) {
		e, err := DecodeEvent(p)
		if err != nil {
			return
		}
		if e.Stamp < 0 || e.Body == nil {
			t.Fatalf("accepted %+v", e)
		}
		if l, ok := e.Body.(EventLoss); ok && (l.N < 0 || len(l.Reason) > maxEventText || len(l.Code) > maxEventText) {
			t.Fatalf("accepted %+v", l)
		}
		if c, ok := e.Body.(EventChanged); ok && (c.At < 0 || c.After.Size < 0 || len(c.After.Link) > maxEventText || len(c.After.SHA256) > len(digestA)) {
			t.Fatalf("accepted %+v", c)
		}
		raw, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeEvent(raw)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", p, raw, err)
		}
		if d := cmp.Diff(e, again, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%q becomes %q: %s", p, raw, d)
		}
	})
}

// A line of any kind is read without a panic, and its kind survives.
func FuzzMark(f *testing.F) {
	f.Add([]byte(`{"type":"mark","t":1,"kind":"news","event":{"a":1}}`))
	f.Add([]byte(`{"type":"mark","t":1,"kind":"event","event":{"type":"news","t":1}}`))
	f.Add([]byte(`{"type":"mark","t":1,"kind":"reached","event":{"address":"x"}}`))
	f.Add([]byte(`{"type":"mark","t":1,"kind":"inputs","event":null}`))
	f.Add([]byte(`{"type":"mark","t":1,"kind":"inconclusive","code":"cut-off","text":"x"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := parseLine(line)
		if err != nil || l.Mark == nil {
			return
		}
		again, err := parseLine(appendMark(nil, *l.Mark))
		if err != nil || again.Mark == nil {
			t.Fatalf("%q: %v", line, err)
		}
		if again.Mark.Kind != l.Mark.Kind || again.Mark.Gap() != l.Mark.Gap() && len(l.Mark.Unread) == 0 {
			t.Fatalf("%q is read as %+v, and then as %+v", line, l.Mark, again.Mark)
		}
	})
}
