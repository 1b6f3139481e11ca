package wiretap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
)

// Answerer is a person's side of a gate's socket. Next and Answer may be called from
// different goroutines.
type Answerer struct {
	conn  net.Conn
	lines *bufio.Scanner
}

// DialAsk connects to a gate that asks.
func DialAsk(ctx context.Context, path string) (*Answerer, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &UsageError{What: err.Error(), Hint: "start the gate first: coalmine gate --ask " + path + " -- COMMAND"}
	}
	a := &Answerer{conn: conn, lines: bufio.NewScanner(conn)}
	a.lines.Buffer(nil, maxAsked)
	return a, nil
}

// Next waits for what the gate tells next. It returns io.EOF when the gate has ended, and a
// UsageError if the gate takes no answers from this process.
func (a *Answerer) Next() (Told, error) {
	var t Told
	switch {
	case !a.lines.Scan():
		return t, io.EOF
	case json.Unmarshal(a.lines.Bytes(), &t) != nil:
		return t, errors.New("the gate sent a line that is not part of its protocol")
	case t.Refused != "":
		return t, &UsageError{What: "the gate takes no answers from here: " + report.Clean(t.Refused, 200), Hint: "run coalmine answer or coalmine tui in a terminal of its own"}
	}
	return t, nil
}

// Answer answers for a call that is held.
func (a *Answerer) Answer(id uint64, answer gate.Answer) error {
	data, err := json.Marshal(reply{id, answer})
	if err == nil {
		_, err = a.conn.Write(append(data, '\n'))
	}
	return err
}

// Close lets go of the gate, which then denies what it holds in time.
func (a *Answerer) Close() error { return a.conn.Close() }

// AnswerCalls connects to a gate's socket, shows what is held and sends what the person types:
// o, s or d. It ends with the gate, the input or ctx.
func AnswerCalls(ctx context.Context, path string, in io.Reader, out io.Writer) error {
	gateway, err := DialAsk(ctx, path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer func() {
		cancel()
		_ = gateway.Close()
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
	told := make(chan Told)
	var ended error
	reading.Go(func() {
		defer close(told)
		for {
			t, err := gateway.Next()
			if err != nil {
				ended = err
				return
			}
			select {
			case told <- t:
			case <-ctx.Done():
				return
			}
		}
	})
	return (&conversation{gateway: gateway, out: out}).run(ctx, told, typed, &ended)
}

// conversation shows one question at a time.
type conversation struct {
	gateway *Answerer
	out     io.Writer
	open    []Told
}

// run ends with ctx or with told; ended then says how.
func (c *conversation) run(ctx context.Context, told <-chan Told, typed <-chan string, ended *error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case t, ok := <-told:
			var refused *UsageError
			switch {
			case !ok && errors.As(*ended, &refused):
				return refused
			case !ok:
				fmt.Fprintln(c.out, "the gate has ended")
				return nil
			}
			c.told(t)
		case line := <-typed:
			if err := c.typed(line); err != nil {
				return err
			}
		}
	}
}

func (c *conversation) show() {
	if len(c.open) > 0 {
		q := c.open[0]
		fmt.Fprintf(c.out, "\nheld: %s — %s (%d s)\n  %s\n[o]nce, for the [s]ession, [d]eny? ", report.Clean(q.Tool, 100), report.Clean(q.Why, 300), q.Seconds, report.Clean(q.Arguments, maxArguments))
	}
}

// told takes a line of the gate's.
func (c *conversation) told(t Told) {
	switch {
	case t.Decided != "":
		return
	case !t.Over:
		if c.open = append(c.open, t); len(c.open) == 1 {
			c.show()
		}
		return
	}
	for i := range c.open {
		if c.open[i].ID != t.ID {
			continue
		}
		c.open = append(c.open[:i:i], c.open[i+1:]...)
		if i == 0 {
			fmt.Fprintln(c.out, "\ndenied: there was no answer in time")
			c.show()
		}
		return
	}
}

// typed takes a line of the person's.
func (c *conversation) typed(line string) error {
	answer, ok := map[string]gate.Answer{"o": gate.AllowOnce, "once": gate.AllowOnce, "s": gate.AllowSession, "session": gate.AllowSession, "d": gate.Deny, "deny": gate.Deny}[strings.ToLower(strings.TrimSpace(line))]
	if len(c.open) == 0 {
		return nil
	}
	if !ok {
		fmt.Fprint(c.out, "type o, s or d: ")
		return nil
	}
	if err := c.gateway.Answer(c.open[0].ID, answer); err != nil {
		return err
	}
	c.open = c.open[1:]
	c.show()
	return nil
}
