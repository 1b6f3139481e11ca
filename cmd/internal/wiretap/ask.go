package wiretap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/report"
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

// question is a line to the person, reply one from them.
type question struct {
	ID        uint64 `json:"id"`
	Tool      string `json:"tool,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Why       string `json:"why,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	// Seconds are left for an answer. Over says that the question needs none any more.
	Seconds int  `json:"seconds,omitempty"`
	Over    bool `json:"over,omitempty"`
}

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
}

type asked struct {
	question question
	until    time.Time
	answer   chan gate.Answer
}

// ListenAsk opens the socket. The directory around it has to be the user's own alone.
func ListenAsk(path string, patience time.Duration) (*Asker, error) {
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
	a := &Asker{listener: l, patience: patience, waiting: map[uint64]*asked{}}
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
	arguments := string(q.Arguments)
	if len(arguments) > maxArguments {
		arguments = strings.ToValidUTF8(arguments[:maxArguments], "") + "…"
	}
	w := &asked{
		question: question{ID: id, Tool: q.Tool, Reason: string(q.Reason), Why: q.Why, Arguments: arguments},
		until:    time.Now().Add(a.patience), answer: make(chan gate.Answer, 1),
	}
	a.waiting[id] = w
	a.send(w)
	a.mu.Unlock()
	timer := time.NewTimer(a.patience)
	defer timer.Stop()
	answer := gate.Deny
	select {
	case answer = <-w.answer:
	case <-timer.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
	a.write(question{ID: id, Over: true})
	return answer
}

// send shows one question. The lock is held.
func (a *Asker) send(w *asked) {
	w.question.Seconds = max(1, int(time.Until(w.until).Seconds()))
	a.write(w.question)
}

// write sends a line to the person, if there is one. The lock is held.
func (a *Asker) write(q question) {
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
		a.mu.Lock()
		if a.peer != nil {
			_ = a.peer.Close()
		}
		a.peer = conn
		for _, w := range a.waiting {
			a.send(w)
		}
		a.mu.Unlock()
		a.serving.Go(func() { a.read(conn) })
	}
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

// AnswerCalls connects to a gate's socket, shows what is held and sends what the person types:
// o, s or d. It ends with the gate, the input or ctx.
func AnswerCalls(ctx context.Context, path string, in io.Reader, out io.Writer) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return &UsageError{What: err.Error(), Hint: "start the gate first: coalmine gate --ask " + path + " -- COMMAND"}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer func() {
		cancel()
		_ = conn.Close()
		reading.Wait()
	}()
	typed := make(chan string)
	go func() { // it ends with the input, as the program does
		defer cancel()
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			select {
			case typed <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	questions := make(chan question)
	reading.Go(func() {
		defer close(questions)
		lines := bufio.NewScanner(conn)
		lines.Buffer(nil, maxAsked)
		for lines.Scan() {
			var q question
			if json.Unmarshal(lines.Bytes(), &q) != nil {
				return
			}
			select {
			case questions <- q:
			case <-ctx.Done():
				return
			}
		}
	})
	return converse(ctx, questions, typed, conn, out)
}

// converse shows one question at a time.
func converse(ctx context.Context, questions <-chan question, typed <-chan string, gateway io.Writer, out io.Writer) error {
	var open []question
	show := func() {
		if len(open) > 0 {
			q := open[0]
			fmt.Fprintf(out, "\nheld: %s — %s (%d s)\n  %s\n[o]nce, for the [s]ession, [d]eny? ", report.Clean(q.Tool, 100), report.Clean(q.Why, 300), q.Seconds, report.Clean(q.Arguments, maxArguments))
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case q, ok := <-questions:
			switch {
			case !ok:
				fmt.Fprintln(out, "the gate has ended")
				return nil
			case !q.Over:
				if open = append(open, q); len(open) == 1 {
					show()
				}
				continue
			}
			for i := range open {
				if open[i].ID != q.ID {
					continue
				}
				open = append(open[:i:i], open[i+1:]...)
				if i == 0 {
					fmt.Fprintln(out, "\ndenied: there was no answer in time")
					show()
				}
				break
			}
		case line := <-typed:
			answer, ok := map[string]gate.Answer{"o": gate.AllowOnce, "once": gate.AllowOnce, "s": gate.AllowSession, "session": gate.AllowSession, "d": gate.Deny, "deny": gate.Deny}[strings.ToLower(strings.TrimSpace(line))]
			if len(open) == 0 {
				continue
			}
			if !ok {
				fmt.Fprint(out, "type o, s or d: ")
				continue
			}
			data, err := json.Marshal(reply{open[0].ID, answer})
			if err != nil {
				return err
			}
			if _, err := gateway.Write(append(data, '\n')); err != nil {
				return err
			}
			open = open[1:]
			show()
		}
	}
}
