package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
)

// Options say what is shown, and how.
type Options struct {
	// Path is a session log, the directory of a run, a report.json, a directory of these, or the
	// socket of a gate that asks.
	Path string
	// Filter is the filter of a session to begin with.
	Filter string
	// Follow keeps reading a log that grows: Show always does, Plain to the end of the context.
	Follow bool
	// Color allows colours.
	Color bool
	// Version is coalmine's, for a run that is judged anew.
	Version string
	In      io.Reader
	Out     io.Writer
}

// Show runs the terminal until the user leaves it or the context ends.
func Show(ctx context.Context, o Options) error {
	o.Follow = true
	m, err := New(ctx, o)
	if err != nil {
		return err
	}
	profile := colorprofile.Ascii
	if o.Color {
		profile = colorprofile.ANSI
	}
	// A profile that is given keeps bubbletea from asking tmux for one.
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithColorProfile(profile), tea.WithoutSignalHandler())
	_, err = p.Run()
	m.close()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// close ends what the screens do, from the top down.
func (m *Model) close() {
	for i := len(m.screens) - 1; i >= 0; i-- {
		if c, ok := m.screens[i].(interface{ close() }); ok {
			c.close()
		}
	}
	m.stop()
}

// New returns the model of what the options name.
func New(ctx context.Context, o Options) (*Model, error) {
	ctx, stop := context.WithCancel(ctx)
	m := &Model{env: env{ctx: ctx, theme: theme{o.Color}, follow: o.Follow, version: o.Version, waiting: new([]tea.Msg)}, stop: stop}
	s, err := m.open(o)
	if err != nil {
		stop()
		return nil, err
	}
	m.screens = []screen{s}
	return m, nil
}

func (m *Model) open(o Options) (screen, error) {
	kind, err := kindOf(o.Path)
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindRun:
		return newRun(m.env, o.Path), nil
	case kindReport:
		return newReport(m.env, o.Path), nil
	case kindDir:
		return newDirectory(m.env, o.Path), nil
	case kindGate:
		gateway, err := wiretap.DialAsk(m.ctx, o.Path)
		if err != nil {
			return nil, err
		}
		return newHeld(m.env, filepath.Base(o.Path), gateway), nil
	}
	file, x, err := frames.Open(o.Path)
	if err != nil {
		return nil, err
	}
	s := newStream(m.env, clean(filepath.Base(o.Path), 60), file, x)
	s.filter, err = frames.ParseFilter(o.Filter)
	s.typed = o.Filter
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// kind is what a path leads to.
type kind int

const (
	kindLog kind = iota
	kindRun
	kindReport
	kindDir
	kindGate
)

func kindOf(path string) (kind, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		for _, name := range runFiles {
			if info, err := os.Lstat(filepath.Join(path, name)); err == nil && info.Mode().IsRegular() {
				return kindRun, nil
			}
		}
		return kindDir, nil
	case info.Mode()&os.ModeSocket != 0:
		return kindGate, nil
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a regular file", path)
	case strings.HasSuffix(path, ".json"):
		return kindReport, nil
	}
	return kindLog, nil
}

// FilterHelp says in a line what Options.Filter may hold.
const FilterHelp = frames.FilterHelp
