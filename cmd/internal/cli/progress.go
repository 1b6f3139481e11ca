package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep"
)

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
}

func (e *env) newProgress() *progress {
	return &progress{w: e.err, terminal: isTerminal(e.err), every: plainEvery, due: time.Now().Add(plainEvery)}
}

func (p *progress) tell(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && !p.held {
		fmt.Fprintf(p.w, "\r\x1b[K%s", report.Escape(line, 100))
	}
	if p.terminal {
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
	p.done, p.all = done, all
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
