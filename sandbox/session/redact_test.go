package session

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A frame's numbers may be a value as well as its texts; the log's own are not.
func TestRedactedNumbers(t *testing.T) {
	r := jsonRedactor{Redactor: canaries.NewRedactor([]string{"31415926"}), foreign: "frame"}
	for in, want := range map[string]string{
		`{"seq": 31415926, "frame": {"a": 31415926, "31415926": [1, -31415926.5]}, "raw": null}`: `{"seq": 31415926, "frame": {"a": "[passed]", "[passed]": [1, "[passed]"]}, "raw": null}`,
		`{"seq": 1, "frame": 31415926, "raw": null}`:                                             `{"seq": 1, "frame": "[passed]", "raw": null}`,
		`{"seq": 31415926, "frame": null, "raw": "x"}`:                                           `{"seq": 31415926, "frame": null, "raw": "x"}`,
	} {
		if got := r.lines([]byte(in)); string(got) != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// Bytes in base 64 stay bytes in base 64, or the log could not be read.
func TestRedactedBytes(t *testing.T) {
	r := jsonRedactor{Redactor: canaries.NewRedactor([]string{"hunter2pass!"}), bytesIn: "data"}
	line := func(data string) []byte {
		out, err := json.Marshal(Mark{Kind: MarkStderr, Data: []byte(data)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for in, want := range map[string]string{
		"\xffhunter2pass!": "\xff[passed]", "%68unter2pas%73!": "[passed]", "nothing": "nothing", "h\x00u\x00n\x00t\x00e\x00r\x002\x00p\x00a\x00s\x00s\x00!\x00": "[passed]\x00",
	} {
		var m Mark
		if err := json.Unmarshal(r.lines(line(in)), &m); err != nil || string(m.Data) != want {
			t.Errorf("%q: %q %v", in, m.Data, err)
		}
	}
}

// What a cut halves is told before it is cut.
func TestRedactedBeforeItIsCut(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	const value = "correct-horse-battery-staple"
	l, err := Output{Root: dir, Redactor: canaries.NewRedactor([]string{value})}.Create(Header{Clock0: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for back := range len(value) {
		l.Mark(Mark{Kind: MarkStderr, Text: strings.Repeat(" ", maxText-back) + value})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := dir.ReadFile(TraceFile)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(data, []byte("corr")); i >= 0 {
		t.Errorf("the log holds %.40q", data[i:])
	}
}

// FuzzRedactedJSON: JSON stays JSON of the same form, and no string of it holds the value.
func FuzzRedactedJSON(f *testing.F) {
	f.Add(`{"a":"x hunter2 \u0068unter2","hunter2":[1,2.5e3,null,true],"data":"aHVudGVyMg=="}`, "hunter2")
	f.Add(`{"type":"mark","data":"AAAA\/w==","t":123456}`, "123456")
	f.Add(`"\ud83d\ude00\\u0041\\\"quoted\\\""`, "quoted\"")
	f.Add(`{"frame":{"a":-1.5}}`, "\x00\x00\x00\x00\x00\x00")
	f.Fuzz(func(t *testing.T, text, value string) {
		redactor := canaries.NewRedactor([]string{value})
		if !json.Valid([]byte(text)) {
			t.Skip("no JSON")
		}
		for _, r := range []jsonRedactor{{Redactor: redactor}, {Redactor: redactor, bytesIn: "data"}, {Redactor: redactor, foreign: "frame"}} {
			got := r.document([]byte(text))
			if !json.Valid(got) {
				t.Fatalf("%q becomes %q", text, got)
			}
			if tokens(t, []byte(text)) != tokens(t, got) {
				t.Fatalf("%q becomes %q, of another form", text, got)
			}
			if redactor == nil && string(got) != text {
				t.Fatalf("%q becomes %q without a value", text, got)
			}
			if mark := "[passed]"; strings.Contains(mark, value) {
				continue
			}
			each(t, got, func(s string) {
				if redactor != nil && strings.Contains(strings.ReplaceAll(s, "[passed]", ""), value) && strings.Contains(s, value) {
					t.Fatalf("%q still holds %q in %q", got, value, s)
				}
			})
		}
	})
}

// tokens counts what JSON text is made of.
func tokens(t *testing.T, text []byte) int {
	n := 0
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		if _, err := d.Token(); err != nil {
			return n
		}
		n++
	}
}

// each calls f with each string of JSON text, keys included.
func each(t *testing.T, text []byte, f func(string)) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		if s, ok := token.(string); ok {
			f(s)
		}
	}
}

// TestWordsHoldTheFormat: no key or kind of a log may be taken for a value.
func TestWordsHoldTheFormat(t *testing.T) {
	words := strings.Join(Words(), "\n")
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	l, err := (Output{Root: dir}).Create(Header{Clock0: time.Second, Package: &Package{}, Vary: &Vary{}, Runtime: &Runtime{}})
	if err != nil {
		t.Fatal(err)
	}
	l.Frame(C2S, time.Second, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	l.Record(&trace.Record{Path: "p", Given: "p", To: "p", Argv: []string{"a"}, Cwd: "c", Exe: "e", Passed: []string{"p"}, Flags: "f", Addr: &trace.Addr{Host: "h", Port: 1}, Unfinished: true, Injected: true})
	l.Flow(&trace.Flow{Type: trace.FlowOpen, Host: "h", SNI: "s", Authority: "a"})
	l.Mark(Mark{Kind: MarkInputs, Inputs: &Inputs{}})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{FramesFile, TraceFile} {
		data, err := dir.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var m map[string]json.RawMessage
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatal(err)
			}
			for key := range m {
				if len(key) >= canaries.LeastPassed && !strings.Contains(words, key) {
					t.Errorf("%s has the key %s, which Words has not", name, key)
				}
			}
		}
	}
	for _, k := range []MarkKind{MarkPhase, MarkCall, MarkReturn, MarkFrame, MarkBadLine, MarkEvent, MarkStderr, MarkInconclusive, MarkLoss, MarkReached, MarkInputs, MarkAnswered, MarkPlanned} {
		if len(k) >= canaries.LeastPassed && !strings.Contains(words, string(k)) {
			t.Errorf("Words has no %s", k)
		}
	}
}

// BenchmarkRedactedLog writes records, with and without values to be taken out, and
// with one in each line.
func BenchmarkRedactedLog(b *testing.B) {
	values := []string{"zk-live-4fJ8sKq0Vn2LxT7bRw5YpD1m", "postgres://app:p4ssw0rd-of-app@db.internal:5432/notes", "hx7$q2"}
	for name, c := range map[string]struct {
		redactor *canaries.Redactor
		path     string
	}{
		"without": {nil, "/usr/lib/node_modules/notes/index.js"},
		"values":  {canaries.NewRedactor(values), "/usr/lib/node_modules/notes/index.js"},
		"found":   {canaries.NewRedactor(values), "/tmp/" + values[0]},
	} {
		b.Run(name, func(b *testing.B) {
			dir, err := os.OpenRoot(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer dir.Close()
			l, err := Output{Root: dir, Redactor: c.redactor}.Create(Header{Clock0: time.Second})
			if err != nil {
				b.Fatal(err)
			}
			l.SetLimit(1 << 40)
			r := &trace.Record{Call: "openat", Op: trace.OpOpen, Path: c.path, Given: "index.js", Real: true, Flags: "O_RDONLY|O_CLOEXEC", FD: 20, Ret: 20}
			line := appendRecord(nil, r)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				r.Seq++
				l.Record(r)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/record")
		})
	}
}
