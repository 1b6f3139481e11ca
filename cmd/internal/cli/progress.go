package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep"
)

// maxFound bounds the findings that are told before the report has them.
const maxFound = 5

// plainEvery is the least time between two lines of progress that stay, and before the first.
const plainEvery = 10 * time.Second

// noMarkup writes what opens an element, a link or an attribute as report.Escape does control
// characters: a job's log may end up in the same file as a report in HTML or Markdown.
var noMarkup = strings.NewReplacer("<", `\u{3C}`, ">", `\u{3E}`, "[", `\u{5B}`, "]", `\u{5D}`, `"`, `\u{22}`, "'", `\u{27}`, "`", `\u{60}`)

// progress says what happens now. On a terminal that is one line, which the next one takes
// over. Elsewhere, as in the log of a job, it is the last line of each plainEvery. It takes
// calls from many goroutines; nil says nothing.
type progress struct {
	w        io.Writer
	terminal bool
	every    time.Duration

	mu sync.Mutex
	// line is the last one, due when the next may be printed, and waiting what prints it.
	line    string
	due     time.Time
	waiting *time.Timer
	// held says that others write.
	held bool
	// done are so many of all servers.
	done, all int
	// finds counts the findings of the server that was not told of yet.
	finds int
	// next is when often tells again, of who calls it.
	next time.Time
}

func (e *env) newProgress() *progress {
	return &progress{w: e.err, terminal: isTerminal(e.err), every: plainEvery, due: time.Now().Add(plainEvery)}
}

// progressUnless is nil under --quiet.
func (e *env) progressUnless(quiet bool) *progress {
	if quiet {
		return nil
	}
	return e.newProgress()
}

// oftenEvery is the least time between two lines that often makes, and before the first: short work
// shows none.
const oftenEvery = 200 * time.Millisecond

// often tells a line of steps that are many. One goroutine calls it.
func (p *progress) often(line func() string) {
	if p == nil {
		return
	}
	now := time.Now()
	if p.next.IsZero() {
		p.next = now.Add(oftenEvery)
	}
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(oftenEvery)
	p.tell(line())
}

// measured is a file that is read, with how far that is.
type measured struct {
	from io.Reader
	p    *progress
	what string
	read int64
	size int64
}

// Read implements io.Reader.
func (c *measured) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.read += int64(n)
	c.p.often(func() string {
		return fmt.Sprintf("reading %s: %d of %d MB, %d MB left", c.what, c.read>>20, c.size>>20, max(c.size-c.read, 0)>>20)
	})
	return n, err
}

// reading tells how far a file is read.
func (p *progress) reading(f *os.File, what string) io.Reader {
	info, err := f.Stat()
	if p == nil || err != nil {
		return f
	}
	return &measured{from: f, p: p, what: what, size: info.Size()}
}

func (p *progress) tell(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.line = line
		p.show()
		return
	}
	if p.all > 1 {
		line += fmt.Sprintf("; %d of %d servers done, %d left", p.done, p.all, p.all-p.done)
	}
	p.line = line
	if p.waiting == nil && !p.held {
		var own *time.Timer
		own = time.AfterFunc(time.Until(p.due), func() { p.print(&own) })
		p.waiting = own
	}
}

// show writes the last line over the one before.
func (p *progress) show() {
	if !p.held {
		fmt.Fprintf(p.w, "\r\x1b[K%s", report.Escape(p.line, 100))
	}
}

// looksOn reports whether somebody sees findings as they come.
func (p *progress) looksOn() bool { return p != nil && p.terminal }

// found tells of a finding above the line: the first few, and of more how many.
func (p *progress) found(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finds++
	if p.held || p.finds > maxFound+1 {
		return
	}
	if p.finds > maxFound {
		line = "more; the report has all"
	}
	fmt.Fprintf(p.w, "\r\x1b[Kfound so far: %s\n", report.Escape(line, 160))
	p.show()
}

// print writes the last line when its time has come, unless clear took it back.
func (p *progress) print(own **time.Timer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting != *own {
		return
	}
	p.waiting, p.due = nil, time.Now().Add(p.every)
	// The word before it keeps a name from being a command of the job's runner.
	fmt.Fprintln(p.w, "progress: "+noMarkup.Replace(report.Escape(p.line, 400)))
}

// stays reports whether a line stays where it is printed.
func (p *progress) stays() bool { return p != nil && !p.terminal }

// hold takes the line back, so that others can write, until release.
func (p *progress) hold() {
	if p == nil {
		return
	}
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
}

// release lets lines be told again.
func (p *progress) release() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
}

// clear takes the line back, so that others can write.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	if p.waiting != nil {
		p.waiting.Stop()
		p.waiting = nil
	}
}

// at says how many of all servers are done.
func (p *progress) at(done, all int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.all, p.finds = done, all, 0
}

// sweepProgress tells the counts of a sweep and the server that began last.
type sweepProgress struct {
	*progress
	start time.Time

	mu     sync.Mutex
	counts sweep.Progress
	now    string
}

// count takes the counts whenever one changes.
func (s *sweepProgress) count(c sweep.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = c
	s.say()
}

// begin takes the name of a server that begins.
func (s *sweepProgress) begin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = name
	if s.counts.Jobs > 0 {
		s.say()
	}
}

func (s *sweepProgress) say() {
	c, left := s.counts, "?"
	if ran := c.Run + c.Failed; ran > 0 {
		left = (time.Since(s.start) / time.Duration(ran) * time.Duration(c.Jobs-c.Done())).Round(time.Second).String()
	}
	line := fmt.Sprintf("%d/%d: %d run, %d judged again, %d unchanged, %d failed, %s left", c.Done(), c.Jobs, c.Run, c.Judged, c.Skipped, c.Failed, left)
	if s.now != "" {
		line += "; now " + s.now
	}
	s.tell(line)
}
