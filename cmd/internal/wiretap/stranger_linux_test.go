package wiretap

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhoMayAnswer(t *testing.T) {
	t.Parallel()
	// Process 10 is the gate, in the session 5, and 11 its server.
	stats := map[int]string{
		10: "S 5 10 5 100", 11: "S 10 11 5 100",
		20: "S 4 20 20 200", 21: "S 11 21 21 201", 22: "S 1 22 22 0", 23: "S 1 23 5 100", 24: "S 4 24 24 202", 4: "S 1 4 4 0", 5: "S 1 5 5 100",
	}
	for name, c := range map[string]struct {
		pid, uid int
		input    string
		another  bool
		want     string
	}{
		"a person":                 {pid: 20, uid: 7, input: "/dev/pts/3"},
		"root":                     {pid: 20, input: "/dev/tty1"},
		"another user":             {pid: 20, uid: 8, input: "/dev/pts/3", want: "another user"},
		"the server's own child":   {pid: 21, uid: 7, input: "/dev/pts/4", want: "has started it"},
		"a program, no terminal":   {pid: 22, uid: 7, input: "/dev/pts/3", want: "nobody types"},
		"a pipe as its input":      {pid: 24, uid: 7, input: "pipe:[7]", want: "nobody types"},
		"the server left its gate": {pid: 23, uid: 7, input: "/dev/pts/3", want: "own terminal"},
		"another program":          {pid: 20, uid: 7, input: "/dev/pts/3", another: true, want: "not the coalmine"},
		"who has ended":            {pid: 30, uid: 7, input: "/dev/pts/3", want: "has ended"},
	} {
		p := proc{self: 10, uid: 7, stat: func(pid int) []string { return strings.Fields(stats[pid]) }, same: func(int) bool { return !c.another },
			link: func(string) (string, error) { return c.input, nil }}
		if got := judgePeer(c.pid, c.uid, p); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// This test's process is no person at a terminal of its own: the gate sends it away and says why.
func TestAProgramIsSentAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	a, err := ListenAsk(path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	var refused *UsageError
	if err := AnswerCalls(t.Context(), path, strings.NewReader(""), new(strings.Builder)); err != nil && !errors.As(err, &refused) {
		t.Error(err)
	}
	c, err := DialAsk(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Next(); !errors.As(err, &refused) || refused.Hint == "" {
		t.Errorf("a program that no person uses may answer: %v", err)
	}
}
