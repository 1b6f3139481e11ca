package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// plainWidth is how wide a line of Plain may be.
const plainWidth = 1000

// Plain prints the same as lines of text, without colour, pictures or a cursor: for screen
// readers, pipes and CI. Of a log that is followed it prints frames until the context ends.
func Plain(ctx context.Context, o Options) error {
	kind, err := kindOf(o.Path)
	if err != nil {
		return err
	}
	if kind == kindGate {
		return wiretap.AnswerCalls(ctx, o.Path, o.In, o.Out)
	}
	w := bufio.NewWriter(o.Out)
	e := env{ctx: ctx, version: o.Version, waiting: new([]tea.Msg)}
	switch kind {
	case kindRun:
		err = plainRun(w, newRun(e, o.Path))
	case kindReport:
		err = plainRun(w, newReport(e, o.Path))
	case kindDir:
		err = plainDirectory(ctx, w, o)
	default:
		err = plainLog(ctx, w, o)
	}
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	return err
}

// plainLine is a line without styles.
func plainLine(w io.Writer, line string) { fmt.Fprintln(w, ansi.Strip(line)) }

func plainRun(w io.Writer, v *runView) error {
	v.update(v.start()())
	if v.data == nil || v.data.res == nil {
		return v.err
	}
	if !v.reportOnly {
		v.update(v.readMoments(".")())
	}
	for i := range v.tabs {
		fmt.Fprintf(w, "\n%s\n", v.tabs[i].name)
		if i == tabFindings {
			plainFindings(w, v)
			continue
		}
		for _, it := range v.tabs[i].items {
			plainLine(w, it.line(120))
		}
	}
	if v.moments != nil && v.moments.more > 0 {
		fmt.Fprintf(w, "%s more moments are not shown\n", thousands(v.moments.more))
	}
	return nil
}

// plainFindings prints each finding with its evidence.
func plainFindings(w io.Writer, v *runView) {
	all := v.sorted()
	if len(all) == 0 {
		fmt.Fprintln(w, "no finding")
	}
	for i := range all {
		for _, it := range newFinding(v, &all[i]).build(plainWidth) {
			plainLine(w, it.line(plainWidth))
		}
		fmt.Fprintln(w)
	}
}

func plainDirectory(ctx context.Context, w *bufio.Writer, o Options) error {
	entries, more, err := listDirectory(o.Path)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		fmt.Fprintln(w, "no run and no session log here")
	}
	for _, e := range entries {
		name := clean(e.name, 200)
		if e.kind == kindDir {
			fmt.Fprintln(w, name+"/")
			continue
		}
		s := summarize(ctx, e, o.Version)
		switch {
		case s.err != nil:
			fmt.Fprintf(w, "%s: %s\n", name, clean(s.err.Error(), 300))
		case s.kind == kindRun:
			fmt.Fprintf(w, "%s: %s, %s, %s, %s, %s\n", name, s.server, clean(string(s.verdict), 20), count(s.findings, "finding"), count(s.calls, "call"), count(s.failed, "error"))
		default:
			fmt.Fprintf(w, "%s: session of %s, %s, %s\n", name, s.server, count(s.calls, "call"), count(s.failed, "error"))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "%s more are not listed\n", thousands(more))
	}
	return nil
}

func plainLog(ctx context.Context, w *bufio.Writer, o Options) error {
	f, err := frames.ParseFilter(o.Filter)
	if err != nil {
		return err
	}
	file, x, err := frames.Open(o.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	p := &plainFrames{w: w, x: x, filter: f}
	if !o.Follow {
		x.Build(ctx, false)
		p.print()
	} else if err := p.follow(ctx); err != nil {
		return err
	}
	s := x.State()
	if s.Left > 0 {
		fmt.Fprintf(w, "%s more frames than the index holds\n", thousands(int(s.Left)))
	}
	if s.Err != nil && ctx.Err() == nil {
		return fmt.Errorf("read %s: %w", filepath.Base(o.Path), s.Err)
	}
	return nil
}

// plainFrames prints the frames of an index once each.
type plainFrames struct {
	w      *bufio.Writer
	x      *frames.Index
	filter frames.Filter
	at     int
}

// follow prints what comes until the context ends, or the log can be read no further.
func (p *plainFrames) follow(ctx context.Context) error {
	done := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(done)
		p.x.Build(ctx, true)
	}()
	defer func() {
		stop()
		<-done
	}()
	for {
		select {
		case <-p.x.Changed():
		case <-done:
			p.print()
			return nil
		}
		p.print()
		if err := p.w.Flush(); err != nil {
			return err
		}
	}
}

func (p *plainFrames) print() {
	for p.at < p.x.State().Frames {
		found, next := p.x.Match(&p.filter, p.at)
		for _, i := range found {
			p.line(int(i))
		}
		p.at = next
	}
}

func (p *plainFrames) line(i int) {
	f := p.x.Frame(i)
	dir := "sent"
	if f.Dir == session.S2C {
		dir = "received"
	}
	line := fmt.Sprintf("%d %s", f.Seq, dir)
	if f.Kind == frames.Effect || f.Kind == frames.Finding {
		line = "- seen"
	}
	if !f.Time.IsZero() {
		line += " at " + seconds(f.Time.Sub(p.x.State().First))
	}
	line += ", " + label(&f)
	if t := took(p.x, &f); t != "" {
		line += " after " + t
	}
	if f.Blocked {
		line += ", blocked by the gate"
	}
	fmt.Fprintf(p.w, "%s: %s\n", line, clean(p.x.Preview(i, plainWidth), plainWidth))
}
