package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// Look is what a backend shows of the server's directory, or of its one file, nil for
// none. Errors are *UsageError.
func (s *Spec) Look(ctx context.Context) (*shown.View, error) {
	if s.ServerDir == "" {
		return nil, nil
	}
	dir, from := filepath.Clean(s.ServerDir), cmp.Or(s.ServerFrom, s.ServerDir)
	real, err := filepath.EvalSymlinks(from)
	switch {
	case err != nil:
		return nil, &UsageError{Err: fmt.Errorf("the server's directory: %w", err), Hint: "name the server's file by a path that exists"}
	case !filepath.IsAbs(dir):
		return nil, &UsageError{Err: fmt.Errorf("the server's directory %s is not an absolute path", dir), Hint: ownDirectory}
	case TooWide(dir) || TooWide(real):
		return nil, &UsageError{Err: fmt.Errorf("%s holds more than the server, and is not shown to it", dir), Hint: ownDirectory}
	}
	view := s.View
	if view == nil {
		if view, err = shown.Look(ctx, shown.Request{Dir: from}); err != nil {
			return nil, NotShown(dir, err)
		}
	}
	if len(view.Covers) > 0 && view.Covers[0].Path == "." && view.Covers[0].Data == nil {
		return nil, &UsageError{Err: fmt.Errorf("%s is a credential, and is not shown to the server", dir), Hint: ownDirectory}
	}
	return view, nil
}

const ownDirectory = "put the server into a directory of its own"

// NotShown says why a directory is not shown.
func NotShown(dir string, why error) error {
	return &UsageError{Err: fmt.Errorf("%s is not shown to the server: %w", dir, why), Hint: ownDirectory}
}

// Covers are the files that take the place of those of a View which hold secrets.
func Covers(dir string, v *shown.View) []rootfs.File {
	var out []rootfs.File
	for _, c := range v.Covers {
		out = append(out, rootfs.File{Path: filepath.Join(dir, c.Path), Mode: uint32(c.Mode), Data: c.Data})
	}
	return out
}

// maxNamed bounds the paths that are named of a directory's covered and hidden ones.
const maxNamed = 100

// ShownServer says what of the server's own files a View shows.
func (s *Spec) ShownServer(v *shown.View) session.Shown {
	out := session.Shown{Path: v.Real, Why: session.ShownServer, Masked: len(v.Covers), Hidden: len(v.Hidden), Untracked: len(v.Untracked)}
	if dir := filepath.Clean(s.ServerDir); dir != v.Real {
		out.As = dir
	}
	for _, c := range v.Covers[:min(len(v.Covers), maxNamed)] {
		out.MaskedPaths = append(out.MaskedPaths, c.Path)
	}
	out.HiddenPaths = slices.Clone(v.Hidden[:min(len(v.Hidden), maxNamed)])
	return out
}

// Outside says that a command leads to a path that nothing but the user's word shows.
func Outside(path string, b shown.Bounds) error {
	return &UsageError{
		Err:  fmt.Errorf("%s lies outside %s, so a configuration or a package cannot show it", path, b.Top),
		Hint: "--show " + Quoted(path) + " shows it",
	}
}

// Quoted is a word as a shell takes it.
func Quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@+:") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
