package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// openOut makes the run's directory below out and opens it. Links are refused:
// what stands there may have been put there by another.
func openOut(out, target string) (*os.Root, string, error) {
	hint := "name a directory that can be written with --out DIR"
	if err := RefuseLink(out, "--out"); err != nil {
		return nil, "", err
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("make the output directory: %w", err), Hint: hint}
	}
	parent, err := os.OpenRoot(out)
	if err != nil {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("open the output directory: %w", err), Hint: hint}
	}
	defer parent.Close()
	name := report.Slug(target)
	if err := parent.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("make the run's directory: %w", err), Hint: hint}
	}
	if info, err := parent.Lstat(name); err != nil || !info.IsDir() {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("%s in %s is not a directory", name, out), Hint: "remove it, or " + hint}
	}
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("open the run's directory: %w", err), Hint: hint}
	}
	return dir, out + "/" + name, nil
}

// RefuseLink is an error where a relative path to an output directory leads through a link. flag
// is the flag that names the directory.
func RefuseLink(name, flag string) error {
	link := linkIn(name)
	if link == "" {
		return nil
	}
	return &sandbox.UsageError{Err: fmt.Errorf("the output directory %s is a symbolic link", link), Hint: "remove it, which may have come with the repository, or name by " + flag + " and its absolute path where the files are to go"}
}

// linkIn is the first symbolic link on a relative path, "" for none: whoever brought
// the working directory's content may have put it there. An absolute path is the
// user's own word.
func linkIn(name string) string {
	if filepath.IsAbs(name) {
		return ""
	}
	way := ""
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(name)), "/") {
		way = filepath.Join(way, part)
		if info, err := os.Lstat(way); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return way
		}
	}
	return ""
}

// hide keeps what runs write out of the server's sight where that lies in the
// server's own directory: it would tell the server of its probe, and the probe
// of its own decoys.
func (p *probe) hide(out string) {
	for _, dir := range []string{out, p.name} {
		if rel := relativeTo(p.plan.Server.ServerDir, dir); rel != "" {
			p.plan = p.plan.Hiding(filepath.Join(p.plan.Server.ServerDir, rel))
			p.output = dir
			return
		}
		if p.fetched != nil && relativeTo(p.plan.Server.Source, dir) != "" {
			p.output = dir // it was not copied with the checkout
			return
		}
	}
}

// unaudited is what of the audited directory runs wrote.
func (p *probe) unaudited() []string {
	if rel := relativeTo(p.plan.Server.Source, p.output); rel != "" {
		return []string{filepath.ToSlash(rel)}
	}
	return nil
}

// relativeTo is the way from a directory down to a path, "" where there is
// none, or one of them is "".
func relativeTo(top, name string) string {
	if top == "" || name == "" {
		return ""
	}
	realTop, topErr := filepath.EvalSymlinks(top)
	abs, absErr := filepath.Abs(name)
	if errors.Join(topErr, absErr) != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(realTop, real)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}
