package wiretap

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
)

// said collects what a person sees, and tells when a text has come.
type said struct {
	mu   sync.Mutex
	b    bytes.Buffer
	come chan struct{}
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(p)
	select {
	case s.come <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *said) wait(t *testing.T, text string) {
	t.Helper()
	for {
		s.mu.Lock()
		got := s.b.String()
		if strings.Contains(got, text) {
			s.b.Reset()
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		select {
		case <-s.come:
		case <-time.After(10 * time.Second):
			t.Fatalf("%q was not shown: %q", text, got)
		}
	}
}

// A person allows a call once or for the session, or denies it.
func TestAPersonAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	a, err := listenAsk(path, time.Minute, func(net.Conn) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	in, keys := io.Pipe()
	out := &said{come: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	go func() { ended <- AnswerCalls(t.Context(), path, in, out) }()
	for _, c := range []struct {
		key  string
		want gate.Answer
	}{{"o\n", gate.AllowOnce}, {"S\n", gate.AllowSession}, {"d\n", gate.Deny}, {"what\ndeny\n", gate.Deny}} {
		got := make(chan gate.Answer, 1)
		go func() {
			got <- a.Ask(t.Context(), gate.Question{Tool: "rm\x1b[2J", Why: "not declared", Arguments: json.RawMessage(`{"path": "/x"}`)})
		}()
		out.wait(t, "[d]eny?")
		if _, err := io.WriteString(keys, c.key); err != nil {
			t.Fatal(err)
		}
		if answer := <-got; answer != c.want {
			t.Errorf("%q: %s", c.key, answer)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if strings.Contains(out.b.String(), "\x1b") {
		t.Error("a tool's name reached the terminal as it is")
	}
}

// A call that nobody answers is denied.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Asker{patience: DefaultAnswerTime, waiting: map[uint64]*asked{}}
		began := time.Now()
		if got := a.Ask(t.Context(), gate.Question{Tool: "rm"}); got != gate.Deny || time.Since(began) != DefaultAnswerTime {
			t.Errorf("%s after %s", got, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := a.Ask(ctx, gate.Question{Tool: "rm"}); got != gate.Deny || len(a.waiting) > 0 {
			t.Errorf("%s, %d wait", got, len(a.waiting))
		}
	})
}

// Others must not be able to answer.
func TestTheSocketIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "s"), filepath.Join(dir, "none", "s")} {
		if a, err := ListenAsk(path, time.Minute); err == nil {
			t.Errorf("%s is taken", path)
			_ = a.Close()
		}
	}
}

// Of what comes over the socket only the first answer for a waiting call counts, and nothing
// that follows a line which is no answer.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"id":1,"answer":"once"}` + "\n"))
	f.Add([]byte(`{"id":2,"answer":"session"}` + "\n" + `{"id":1,"answer":"deny"}` + "\n" + `{"id":1,"answer":"once"}`))
	f.Add([]byte("no answer\n" + `{"id":1,"answer":"once"}` + "\n"))
	f.Add([]byte(`{"ID":1,"Answer":"ONCE"}` + "\r\n" + `null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		want := gate.Answer("none")
		for line := range bytes.Lines(data) {
			var r reply
			if len(line) > maxAsked {
				t.Skip("a line beyond the bound ends the reading somewhere")
			}
			if json.Unmarshal(line, &r) != nil {
				break
			}
			if r.ID == 1 {
				want = r.Answer
				break
			}
		}
		ours, theirs := net.Pipe()
		w := &asked{answer: make(chan gate.Answer, 1)}
		a := &Asker{waiting: map[uint64]*asked{1: w}, peer: ours}
		go func() {
			_, _ = theirs.Write(data)
			_ = theirs.Close()
		}()
		a.read(ours)
		got := gate.Answer("none")
		select {
		case got = <-w.answer:
		default:
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if a.peer != nil {
			t.Error("the peer is kept")
		}
	})
}

// Whatever a gate tells, the terminal of the person who answers obeys none of it.
func FuzzTold(f *testing.F) {
	f.Add([]byte(`{"id":1,"tool":"rm\u001b[2J","why":"\u202e","arguments":"{}","seconds":3}` + "\n" + `{"id":1,"over":true}`))
	f.Add([]byte(`{"id":0,"decided":"allowed","tool":"x"}` + "\n" + `{"refused":"\u009b31m"}`))
	f.Add([]byte("{}\n{}\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		gateway := &Answerer{lines: bufio.NewScanner(bytes.NewReader(data))}
		gateway.lines.Buffer(nil, maxAsked)
		c := &conversation{gateway: gateway, out: &out}
		for {
			told, err := gateway.Next()
			if err != nil {
				out.WriteString(err.Error())
				break
			}
			c.told(told)
		}
		if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }); i >= 0 {
			t.Errorf("%q at %d", out.String(), i)
		}
	})
}
