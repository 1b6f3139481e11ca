package wiretap

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
)

// DefaultAnswerTime is how long a held call waits for an answer.
const DefaultAnswerTime = 30 * time.Second

// The bounds on what crosses the socket, in bytes of a line and of shown arguments, and in
// calls that wait at the same time.
const (
	maxAsked     = 64 << 10
	maxArguments = 2000
	maxWaiting   = 100
)

// maxDecided bounds the decisions that a person sees who comes later.
const maxDecided = 100

// Told is a line to the person: a call that is held, the end of that, or what became of
// another call. Its texts are the client's and the server's: who shows them escapes them.
type Told struct {
	// ID numbers the calls that are held from 1; 0 is for a decision.
	ID        uint64 `json:"id"`
	Tool      string `json:"tool,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Why       string `json:"why,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	// Seconds are left for an answer. Over says that the question needs none any more: Answer is
	// the one that it got, "" for none.
	Seconds int         `json:"seconds,omitempty"`
	Over    bool        `json:"over,omitempty"`
	Answer  gate.Answer `json:"answer,omitempty"`
	// Decided is what became of a call that was not held.
	Decided gate.Action `json:"decided,omitempty"`
	At      time.Time   `json:"at,omitzero"`
	// Refused says why the gate takes no answers from here. It is the last line.
	Refused string `json:"refused,omitempty"`
}

// reply is a line from the person.

type reply struct {
	ID     uint64      `json:"id"`
	Answer gate.Answer `json:"answer"`
}

// Asker asks a person about held calls over a unix socket that this user alone can open. It
// may be used from many goroutines.
type Asker struct {
	listener net.Listener
	patience time.Duration
	mu       sync.Mutex
	last     uint64
	waiting  map[uint64]*asked
	peer     net.Conn // the person's, nil for nobody
	serving  sync.WaitGroup
	decided  []Told
	// check says why a program may not answer, "" if it may.
	check func(net.Conn) string
}

type asked struct {
	told   Told
	until  time.Time
	answer chan gate.Answer
}

// ListenAsk opens the socket. The directory around it has to be the user's own alone.
// Answers are taken from a person at a terminal, as far as that can be told.
func ListenAsk(path string, patience time.Duration) (*Asker, error) {
	return listenAsk(path, patience, stranger)
}

func listenAsk(path string, patience time.Duration, check func(net.Conn) string) (*Asker, error) {
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, &UsageError{What: err.Error(), Hint: "name a socket in a directory of your own: --ask ~/.local/state/coalmine/ask.sock"}
	}
	if dir.Mode().Perm()&0o022 != 0 {
		return nil, &UsageError{What: "others can write to " + filepath.Dir(path), Hint: "name a socket in a directory of your own: chmod 700 it"}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, &UsageError{What: err.Error(), Hint: "remove the file if no other gate asks there"}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	a := &Asker{listener: l, patience: patience, waiting: map[uint64]*asked{}, check: check}
	a.serving.Go(a.accept)
	return a, nil
}

// Close ends the asking: what waits is denied.
func (a *Asker) Close() error {
	err := a.listener.Close()
	a.mu.Lock()
	if a.peer != nil {
		_ = a.peer.Close()
	}
	for _, w := range a.waiting {
		w.say(gate.Deny)
	}
	a.mu.Unlock()
	a.serving.Wait()
	return err
}

func (w *asked) say(answer gate.Answer) {
	select {
	case w.answer <- answer:
	default: // it has one
	}
}

// Ask is gate.Options.Ask: it denies what nobody answers in time.
func (a *Asker) Ask(ctx context.Context, q gate.Question) gate.Answer {
	a.mu.Lock()
	if len(a.waiting) >= maxWaiting {
		a.mu.Unlock()
		return gate.Deny
	}
	a.last++
	id := a.last
	w := &asked{
		told:  Told{ID: id, Tool: cut(q.Tool), Reason: string(q.Reason), Why: cut(q.Why), Arguments: cut(string(q.Arguments))},
		until: time.Now().Add(a.patience), answer: make(chan gate.Answer, 1),
	}
	a.waiting[id] = w
	a.send(w)
	a.mu.Unlock()
	timer := time.NewTimer(a.patience)
	defer timer.Stop()
	var given gate.Answer
	select {
	case given = <-w.answer:
	case <-timer.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
	a.write(Told{ID: id, Over: true, Answer: given})
	return cmp.Or(given, gate.Deny)
}

// Tell is gate.Options.Tell: it shows what became of a call about which nobody was asked.
func (a *Asker) Tell(d gate.Decision) {
	if d.Asked {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t := Told{Tool: cut(d.Tool), Why: cut(d.Why), Decided: d.Action, At: time.Now()}
	if a.decided = append(a.decided, t); len(a.decided) > maxDecided {
		a.decided = slices.Delete(a.decided, 0, 1)
	}
	a.write(t)
}

// cut bounds a text that others made.
func cut(s string) string {
	if len(s) > maxArguments {
		return strings.ToValidUTF8(s[:maxArguments], "") + "…"
	}
	return s
}

// send shows one question. The lock is held.
func (a *Asker) send(w *asked) {
	w.told.Seconds = max(1, int(time.Until(w.until).Seconds()))
	a.write(w.told)
}

// write sends a line to the person, if there is one. The lock is held.
func (a *Asker) write(q Told) {
	if a.peer == nil {
		return
	}
	line, err := json.Marshal(q)
	if err == nil {
		_ = a.peer.SetWriteDeadline(time.Now().Add(time.Second))
		_, err = a.peer.Write(append(line, '\n'))
	}
	if err != nil {
		_ = a.peer.Close()
		a.peer = nil
	}
}

// accept takes one person after another. The newest is asked.
func (a *Asker) accept() {
	for {
		conn, err := a.listener.Accept()
		if err != nil {
			return
		}
		if why := a.check(conn); why != "" {
			refuse(conn, why)
			continue
		}
		a.mu.Lock()
		if a.peer != nil {
			_ = a.peer.Close()
		}
		a.peer = conn
		for _, t := range a.decided {
			a.write(t)
		}
		for _, id := range slices.Sorted(maps.Keys(a.waiting)) {
			a.send(a.waiting[id])
		}
		a.mu.Unlock()
		a.serving.Go(func() { a.read(conn) })
	}
}

// refuse sends a program away that may not answer.
func refuse(conn net.Conn, why string) {
	if line, err := json.Marshal(Told{Refused: why}); err == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write(append(line, '\n')) // it may have gone
	}
	_ = conn.Close()
}

// read takes a person's answers.
func (a *Asker) read(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxAsked)
	for lines.Scan() {
		var r reply
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break
		}
		a.mu.Lock()
		if w := a.waiting[r.ID]; w != nil && a.peer == conn {
			w.say(r.Answer)
		}
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = conn.Close()
	if a.peer == conn {
		a.peer = nil
	}
}
