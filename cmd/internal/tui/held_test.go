package tui

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
)

// noGateway keeps what was answered.
type noGateway struct{ given []string }

func (g *noGateway) Next() (wiretap.Told, error) { return wiretap.Told{}, io.EOF }
func (g *noGateway) Close() error                { return nil }
func (g *noGateway) Answer(id uint64, a gate.Answer) error {
	g.given = append(g.given, string(a)+" "+string(rune('0'+id)))
	return nil
}

// desk is a screen of a gate whose clock the test has.
type desk struct {
	*player
	h       *held
	gateway noGateway
	clock   time.Time
}

func newDesk(t *testing.T, size [2]int) *desk {
	t.Helper()
	d := &desk{clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	ctx, stop := context.WithCancel(context.Background())
	m := &Model{env: env{ctx: ctx, waiting: new([]tea.Msg)}, stop: stop}
	d.h = newHeld(m.env, "ask.sock", &d.gateway)
	d.h.now = func() time.Time { return d.clock }
	m.screens = []screen{d.h}
	t.Cleanup(m.close)
	d.player = &player{t: t, m: m}
	d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
	return d
}

// tells has the gate tell something; what follows from it is left.
func (d *desk) tells(told wiretap.Told) { d.m.Update(toldMsg{of: d.h, told: told}) }

func (d *desk) see(t *testing.T, want string) {
	t.Helper()
	lines := d.screen()
	check(t, want, lines, [2]int{d.m.width, d.m.height})
	if all := plainText(strings.Join(lines, "\n")); !strings.Contains(all, want) {
		t.Errorf("%q is not on the screen:\n%s", want, all)
	}
}

func (d *desk) counts(t *testing.T, want string) {
	t.Helper()
	if title := d.h.title(); !strings.HasSuffix(title, want) {
		t.Errorf("%q, want %q", title, want)
	}
}

func TestCallsAreDecided(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		d := newDesk(t, size)
		d.see(t, "waiting for calls")
		d.tells(wiretap.Told{Tool: "list", Decided: gate.Passed, At: d.clock})
		d.tells(wiretap.Told{Tool: "drop", Why: "the policy does not allow the tool", Decided: gate.Blocked, At: d.clock})
		d.counts(t, "0 held, 2 calls, 1 blocked")
		for id := range uint64(4) {
			d.tells(wiretap.Told{ID: id + 1, Tool: "rm\x1b[2J", Why: "not declared", Arguments: `{"path":"/x"}`, Seconds: 30})
		}
		d.see(t, "held, 30 s")
		d.keys("o")
		d.see(t, "only just come")
		d.clock = d.clock.Add(time.Second)
		d.keys("o o")
		d.tells(wiretap.Told{ID: 1, Over: true, Answer: gate.AllowOnce})
		d.keys("s") // the next one was selected just now
		d.clock = d.clock.Add(time.Second)
		d.keys("s")
		d.tells(wiretap.Told{ID: 2, Over: true, Answer: gate.AllowSession})
		d.keys("down d") // who moves looks
		d.tells(wiretap.Told{ID: 4, Over: true, Answer: gate.Deny})
		d.tells(wiretap.Told{ID: 3, Over: true})
		d.keys("o")
		d.see(t, "not held")
		if want := []string{"once 1", "session 2", "deny 4"}; !slices.Equal(d.gateway.given, want) {
			t.Errorf("%q, want %q", d.gateway.given, want)
		}
		d.counts(t, "0 held, 6 calls, 3 blocked")
		d.keys("G enter")
		d.see(t, `{"path":"/x"}`)
	}
}

// What is held stays selected while other calls come, so that no key decides on another one.
func TestTheSelectedCallStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, sizes[0])
	d.tells(wiretap.Told{ID: 1, Tool: "a", Seconds: 30})
	d.clock = d.clock.Add(time.Second)
	for range maxCalls + 10 {
		d.tells(wiretap.Told{Tool: "b", Decided: gate.Passed, At: d.clock})
	}
	d.tells(wiretap.Told{ID: 2, Tool: "c", Seconds: 30})
	d.keys("o")
	if !slices.Equal(d.gateway.given, []string{"once 1"}) || len(d.h.calls) > maxCalls {
		t.Errorf("%q of %d calls", d.gateway.given, len(d.h.calls))
	}
	d.m.Update(toldMsg{of: d.h, err: io.EOF})
	d.see(t, "the gate has ended")
	if d.h.waiting() != 0 {
		t.Error("calls seem to be held by a gate that has ended")
	}
}

// A socket is shown as a gate, and a key reaches it.
func TestASocketIsAGate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		line, _ := json.Marshal(wiretap.Told{ID: 7, Tool: "rm", Seconds: 30})
		_, _ = conn.Write(append(line, '\n'))
		answer, _ := bufio.NewReader(conn).ReadString('\n')
		got <- answer
		_ = conn.Close()
	}()
	t.Cleanup(func() { _ = l.Close() })
	m, err := New(context.Background(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(m.Init()())
	h := m.top().(*held)
	h.since = time.Time{}
	m.Update(tea.KeyPressMsg{Code: 'd', Text: "d"})
	if answer := <-got; answer != `{"id":7,"answer":"deny"}`+"\n" {
		t.Errorf("the gate got %q", answer)
	}
	m.Update(h.next()())
	if !strings.Contains(plainText(m.View().Content), "the gate has ended") {
		t.Error(plainText(m.View().Content))
	}
}
