package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep"
)

// Where the output is no terminal, a line of each ten seconds stays, and none of a short run.
func TestPlainProgress(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, c := range map[string]struct {
		flags probeFlags
		run   func(p *probeFlags)
		want  string
	}{
		"a short run": {run: func(f *probeFlags) {
			f.Progress("handshake")
			time.Sleep(9 * second)
			f.progress.clear()
		}},
		"a long step": {run: func(f *probeFlags) {
			f.Progress("handshake")
			f.Progress("building")
			time.Sleep(time.Hour)
		}, want: "building\n"},
		"many steps": {run: func(f *probeFlags) {
			time.Sleep(second / 2)
			for i := range 25 {
				f.Progress(fmt.Sprintf("call %d", i))
				time.Sleep(second)
			}
			f.progress.clear()
		}, want: "call 9\ncall 19\n"},
		"several servers": {run: func(f *probeFlags) {
			f.progress.at(0, 3)
			f.progressOf("one", 3)("listing")
			time.Sleep(11 * second)
			f.progress.clear()
			f.progress.at(1, 3)
			f.progressOf("two", 3)("handshake")
			time.Sleep(11 * second)
		}, want: "one: listing; 0 of 3 servers done, 3 left\ntwo: handshake; 1 of 3 servers done, 2 left\n"},
		"one server": {run: func(f *probeFlags) {
			f.progress.at(0, 1)
			f.progressOf("one", 1)("listing")
			time.Sleep(time.Minute)
		}, want: "one: listing\n"},
		"words of a server": {run: func(f *probeFlags) {
			f.progress.at(0, 1)
			f.progressOf("::error::x\n::y", 1)("call\x1b[2J")
			time.Sleep(time.Minute)
		}, want: `::error::x ::y: call\u{1B}\u{5B}2J` + "\n"},
		"markup of a server": {run: func(f *probeFlags) {
			f.progress.at(0, 1)
			f.progressOf("<img src='x'>", 1)("tool [a](http://b.example) `c` \"d\"")
			time.Sleep(time.Minute)
		}, want: `\u{3C}img src=\u{27}x\u{27}\u{3E}: tool \u{5B}a\u{5D}(http://b.example) \u{60}c\u{60} \u{22}d\u{22}` + "\n"},
		"quiet": {flags: probeFlags{quiet: true}, run: func(f *probeFlags) {
			f.progress.at(0, 1)
			if tell := f.progressOf("one", 1); tell != nil {
				tell("listing")
			}
			time.Sleep(time.Minute)
			f.progress.clear()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var said bytes.Buffer
				e := &env{err: &said}
				f := c.flags
				e.follow(&f)
				c.run(&f)
				synctest.Wait()
				var want strings.Builder
				for line := range strings.Lines(c.want) {
					want.WriteString("progress: " + line)
				}
				if diff := cmp.Diff(want.String(), said.String()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A sweep says its counts, what is left and which server began last.
func TestProgressOfASweep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		p := &sweepProgress{progress: (&env{err: &said}).newProgress(), start: time.Now()}
		p.tell("listing npm:mcp")
		time.Sleep(plainEvery + time.Second)
		p.count(sweep.Progress{Jobs: 4, Skipped: 1})
		for _, name := range []string{"npm:a", "npm:b"} {
			p.begin(name)
			time.Sleep(plainEvery)
		}
		p.count(sweep.Progress{Jobs: 4, Skipped: 1, Run: 1})
		time.Sleep(plainEvery)
		p.count(sweep.Progress{Jobs: 4, Skipped: 1, Run: 2, Failed: 1})
		p.clear()
		time.Sleep(time.Minute)
		synctest.Wait()
		const want = "progress: listing npm:mcp\n" +
			"progress: 1/4: 0 run, 0 judged again, 1 unchanged, 0 failed, ? left; now npm:a\n" +
			"progress: 1/4: 0 run, 0 judged again, 1 unchanged, 0 failed, ? left; now npm:b\n" +
			"progress: 2/4: 1 run, 0 judged again, 1 unchanged, 0 failed, 1m2s left; now npm:b\n"
		if diff := cmp.Diff(want, said.String()); diff != "" {
			t.Error(diff)
		}
	})
	(&sweepProgress{}).begin("npm:a") // with --quiet there is none
	(&sweepProgress{}).count(sweep.Progress{Jobs: 1})
}

// On a terminal the first findings stay above the line, which is written again below them.
func TestFindingsAsTheyCome(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	p := &progress{w: &said, terminal: true}
	p.at(0, 1)
	p.tell("call 3")
	for i := range maxFound + 3 {
		p.found(fmt.Sprintf("[high] CM101: secret %d\x1b[2J", i))
	}
	shown := func() int { return strings.Count(said.String(), "found so far: [high]") }
	if shown() != maxFound || strings.Count(said.String(), "the report has all") != 1 || !strings.HasSuffix(said.String(), "\r\x1b[Kcall 3") {
		t.Errorf("%q", said.String())
	}
	if strings.Contains(said.String(), "\x1b[2J") {
		t.Error("a finding acts on the terminal")
	}
	p.at(1, 2)
	p.found("[high] of the next server")
	if shown() != maxFound+1 {
		t.Errorf("%q", said.String())
	}
	p.hold()
	said.Reset()
	p.found("[high] while the report is printed")
	p.tell("call 4")
	if said.Len() != 0 {
		t.Errorf("%q", said.String())
	}
	if (&progress{}).looksOn() || (*progress)(nil).looksOn() {
		t.Error("findings come early although nobody looks on")
	}
}

// Long work tells how far it is, and short work nothing.
func TestProgressOfReading(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		r := (&progress{w: &said, terminal: true}).reading(f, "log\x1b[2J")
		for range 4 {
			if n, err := r.Read(make([]byte, 1<<20)); n == 0 || err != nil {
				t.Fatal(n, err)
			}
			time.Sleep(oftenEvery * 3 / 4)
		}
		if got, want := said.String(), "\r\x1b[Kreading log\\u{1B}[2J: 3 of 4 MB, 1 MB left"; got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	})
	if got := (*progress)(nil).reading(f, "log"); got != f {
		t.Error("with --quiet there is none")
	}
}
