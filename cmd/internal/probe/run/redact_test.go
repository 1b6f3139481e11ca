package run

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// logged is what a run's files hold of what a recorder was given.
func logged(t *testing.T, passed []string, give func(*recorder)) string {
	t.Helper()
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r := &recorder{out: session.Output{Root: dir, Redactor: canaries.NewRedactor(passed)}, lines: wire.NewSplitter(0), exited: make(chan struct{}), stop: func(error) {}}
	r.begin(time.Second)
	give(r)
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range []string{session.FramesFile, session.TraceFile} {
		data, err := dir.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// A value comes as the server's process happens to write it.
func TestAPassedValueInPiecesIsRedacted(t *testing.T) {
	const secret = "r3al-valu3-of-s0meone"
	for cut := range len(secret) + 1 {
		got := logged(t, []string{secret}, func(r *recorder) {
			for _, p := range []string{"key " + secret[:cut], secret[cut:] + " r3al end r3a"} {
				r.Stderr(2*time.Second, []byte(p))
			}
		})
		var printed strings.Builder
		for line := range strings.Lines(got) {
			if _, text, ok := strings.Cut(line, `"kind":"stderr","text":"`); ok {
				text, _, _ = strings.Cut(text, `"`)
				printed.WriteString(text)
			}
		}
		if printed.String() != "key [passed] r3al end r3a" {
			t.Errorf("cut at %d: %q", cut, printed.String())
		}
	}
	byte1 := logged(t, []string{secret}, func(r *recorder) {
		for i := range len(secret) {
			r.Stderr(2*time.Second, []byte(secret[i:i+1]))
		}
	})
	if !strings.Contains(byte1, "[passed]") {
		t.Error("byte by byte it is not told")
	}
}

// A key of several lines stands in JSON by other letters than in the variable.
func TestAPassedValueInJSONIsRedacted(t *testing.T) {
	const pem = "-----BEGIN KEY-----\nMII\"<x>&\n-----END KEY-----"
	got := logged(t, []string{pem, "abcd1234", "abcd1234efgh", "abc"}, func(r *recorder) {
		r.frame(session.S2C, 2*time.Second, []byte(`{"jsonrpc":"2.0","id":1,"result":{"a":"-----BEGIN KEY-----\nMII\"<x>&\n-----END KEY-----"}}`))
		r.frame(session.S2C, 2*time.Second, []byte(`{"jsonrpc":"2.0","id":2,"result":{"a":"-----BEGIN KEY-----\nMII\"\u003cx\u003e\u0026\n-----END KEY-----","b":"abcd1234efgh"}}`))
		r.Record(&trace.Record{Op: trace.OpOpen, Path: "/tmp/abcd1234", Given: "abcd1234", To: "x", Argv: []string{"abcd1234"}, Cwd: "/abcd1234", Exe: "/bin/abcd1234"})
	})
	for _, rest := range []string{"MII", "1234", "efgh"} {
		if strings.Contains(got, rest) {
			t.Errorf("%s stands in the log:\n%s", rest, got)
		}
	}
	if !strings.Contains(got, "[passed]") {
		t.Errorf("nothing was redacted:\n%s", got)
	}
}
