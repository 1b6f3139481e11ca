package tui

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

// player drives a model without a terminal.
type player struct {
	t    testing.TB
	m    *Model
	quit bool
}

func newPlayer(t testing.TB, o Options, size [2]int) *player {
	t.Helper()
	m, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, m: m}
	t.Cleanup(m.close)
	p.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
	p.do(m.Init())
	return p
}

func (p *player) send(msg tea.Msg) {
	_, cmd := p.m.Update(msg)
	p.do(cmd)
}

// do carries out a command and what follows from it.
func (p *player) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			p.do(c)
		}
	case tea.QuitMsg:
		p.quit = true
	default:
		p.send(msg)
	}
}

var keyCodes = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "up": tea.KeyUp, "tab": tea.KeyTab, "left": tea.KeyLeft, "right": tea.KeyRight}

// keys types a step of a script.
func (p *player) keys(step string) {
	for _, word := range strings.Fields(step) {
		if code, ok := keyCodes[word]; ok {
			p.send(tea.KeyPressMsg{Code: code})
			continue
		}
		if p.m.prompt != nil && len(p.m.prompt.text) > 0 {
			p.send(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
		}
		for _, r := range word {
			p.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func (p *player) screen() []string { return strings.Split(p.m.View().Content, "\n") }

// TestScreens compares the screens of the scripts with the kept ones.
func TestScreens(t *testing.T) {
	t.Parallel()
	dir := fixtures(t)
	for _, s := range scripts {
		if s.big && !*update {
			continue
		}
		if s.big {
			writeLog(t, filepath.Join(dir, s.on), millionLog)
		}
		for _, size := range sizes {
			p := newPlayer(t, Options{Path: filepath.Join(dir, s.on), Version: "test"}, size)
			var got []string
			for _, step := range s.steps {
				p.keys(step)
				lines := p.screen()
				check(t, s.name+" after "+step, lines, size)
				for i := range lines {
					lines[i] = ansi.Strip(lines[i])
				}
				got = append(got, trimmed(lines))
			}
			name := s.kept(size)
			if *update {
				var b strings.Builder
				for i, step := range s.steps {
					b.WriteString(header(step) + got[i])
				}
				if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				continue
			}
			for i, want := range readKept(t, name, s.steps) {
				if diff := cmp.Diff(want, got[i]); diff != "" {
					t.Errorf("%s, keys %q (-kept +now):\n%s", name, s.steps[i], diff)
				}
			}
		}
	}
}

// sgr is all that a screen may hold beside text.
var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// check fails for a screen that does not fit the terminal, or would act on it.
func check(t *testing.T, what string, lines []string, size [2]int) {
	t.Helper()
	if len(lines) != size[1] {
		t.Errorf("%s: %d lines of %d", what, len(lines), size[1])
	}
	for _, l := range lines {
		plain := sgr.ReplaceAllString(l, "")
		if w := ansi.StringWidth(plain); w > size[0] {
			t.Errorf("%s: a line is %d wide, of %d: %q", what, w, size[0], plain)
		}
		for _, r := range plain {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r >= 0xe0000 && r < 0xe0080 {
				t.Errorf("%s: %U would act on the terminal: %q", what, r, plain)
			}
		}
	}
}

// TestColourIsAChoice: without colour no line has one, with it a finding's severity has.
func TestColourIsAChoice(t *testing.T) {
	t.Parallel()
	dir := fixtures(t)
	colour := regexp.MustCompile(`\x1b\[(?:[0-9]+;)*3[0-9]`)
	for _, on := range []bool{false, true} {
		p := newPlayer(t, Options{Path: filepath.Join(dir, "leaky"), Color: on}, sizes[0])
		p.keys("2")
		if got := colour.MatchString(p.m.View().Content); got != on {
			t.Errorf("with colour %t, the screen has one: %t", on, got)
		}
	}
}

// TestMouse: a click selects, a second one opens, the wheel scrolls.
func TestMouse(t *testing.T) {
	t.Parallel()
	p := newPlayer(t, Options{Path: filepath.Join(fixtures(t), "weather.jsonl")}, [2]int{80, 10})
	s := p.m.top().(*stream)
	p.send(tea.MouseClickMsg{X: 3, Y: rowsAbove + 4, Button: tea.MouseLeft})
	if s.cursor != 4 || len(p.m.screens) != 1 {
		t.Fatalf("a click selects line %d with %d screens", s.cursor, len(p.m.screens))
	}
	p.send(tea.MouseClickMsg{X: 3, Y: rowsAbove + 4, Button: tea.MouseLeft})
	if len(p.m.screens) != 2 {
		t.Fatal("a second click opens nothing")
	}
	p.keys("esc")
	p.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if s.top != 3 {
		t.Fatalf("the wheel scrolls to %d", s.top)
	}
	p.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if s.top != 0 {
		t.Fatalf("the wheel scrolls back to %d", s.top)
	}
}

// TestEverySize: no terminal is too small, and a resize keeps the selected line in sight.
func TestEverySize(t *testing.T) {
	t.Parallel()
	dir := fixtures(t)
	for _, on := range []string{"weather.jsonl", "leaky", "."} {
		p := newPlayer(t, Options{Path: filepath.Join(dir, on)}, sizes[0])
		p.keys("G")
		for h := range 12 {
			for _, w := range []int{0, 1, 2, 7, 30, 300} {
				p.send(tea.WindowSizeMsg{Width: w, Height: h})
				lines := p.m.lines()
				if len(lines) > h {
					t.Fatalf("%s at %dx%d: %d lines", on, w, h, len(lines))
				}
				if s, ok := p.m.top().(*stream); ok && (s.cursor < s.top || s.cursor >= s.top+s.height) {
					t.Fatalf("%s at %dx%d: line %d is not in sight", on, w, h, s.cursor)
				}
			}
		}
	}
}

// TestLeave: the first screen's back leaves, others go back.
func TestLeave(t *testing.T) {
	t.Parallel()
	p := newPlayer(t, Options{Path: fixtures(t)}, sizes[0])
	p.keys("enter")
	if len(p.m.screens) != 2 {
		t.Fatal("enter opened nothing")
	}
	if p.keys("q"); p.quit || len(p.m.screens) != 1 {
		t.Fatal("q did not go back")
	}
	if p.keys("q"); !p.quit {
		t.Fatal("q did not leave")
	}
}

// TestNewRunsAppear: a list follows its directory. What was read is not read again, and the
// cursor stays on its entry.
func TestNewRunsAppear(t *testing.T) {
	t.Parallel()
	dir := fixtures(t)
	p := newPlayer(t, Options{Path: dir, Version: "test"}, sizes[0])
	d := p.m.top().(*directory)
	p.keys("down")
	on, first := d.entries[d.cursor].path, d.entries[0]
	writeLog(t, filepath.Join(dir, "new.jsonl"), func(l *logWriter) { l.hello() })
	p.send(lookMsg{d})
	if e := d.entries[0]; len(d.entries) != 4 || e.name != "new.jsonl" || e.server != "weather 1.2.0" || d.entries[d.cursor].path != on {
		t.Fatalf("%d entries, the first %+v, the cursor on %s", len(d.entries), e, d.entries[d.cursor].path)
	}
	if d.entries[1] != first {
		t.Errorf("%s was read again", first.name)
	}
	writeLog(t, filepath.Join(dir, "new.jsonl"), func(l *logWriter) { l.hello(); l.call(1, "a", "{}", textResult("", true)) })
	d.entries[0].readAt = time.Time{} // long ago
	p.send(lookMsg{d})
	if e := d.entries[0]; e.calls != 1 || e.failed != 1 || e.stale {
		t.Errorf("what has grown is shown as %+v", e)
	}
	if err := os.RemoveAll(on); err != nil {
		t.Fatal(err)
	}
	p.send(lookMsg{d})
	if len(d.entries) != 3 || d.cursor >= 3 || d.n != 3 {
		t.Errorf("%d entries, cursor %d of %d", len(d.entries), d.cursor, d.n)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	p.send(lookMsg{d})
	if d.err == nil || len(d.entries) != 3 || !strings.Contains(plainText(strings.Join(p.screen(), "\n")), "no such file") {
		t.Errorf("%v: %q", d.err, d.status())
	}
	d.follow = true
	if d.listed(entriesMsg{of: d, entries: d.entries}) == nil {
		t.Error("the directory is not looked at again")
	}
}

// TestEvidenceJumps: from each finding's evidence, enter leads to its own moment.
func TestEvidenceJumps(t *testing.T) {
	t.Parallel()
	p := newPlayer(t, Options{Path: filepath.Join(fixtures(t), "leaky"), Version: "test"}, sizes[1])
	v := p.m.top().(*runView)
	jumps := 0
	for _, f := range v.sorted() {
		for i := range f.Evidence {
			e := &f.Evidence[i]
			if e.Source != "record" || runOf(e) != "." {
				continue
			}
			jumps++
			p.m.push(newFinding(v, &f))
			p.send(nil)
			p.send(jumpMsg{v, *e})
			m := &v.moments.all[v.moments.visible[v.tabs[tabTimeline].list.cursor]]
			if v.at != tabTimeline || m.source != "record" || m.seq != e.Seq || p.m.top() != screen(v) {
				t.Errorf("%s: record %d leads to %s %d", f.Rule, e.Seq, m.source, m.seq)
			}
		}
	}
	if jumps == 0 {
		t.Fatal("no evidence is a record")
	}
}
