package since

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// ErrOutside says that a path does not lead into the repository.
var ErrOutside = errors.New("it lies outside the repository")

// maxFile bounds a file of the merge base that is read, in bytes.
const maxFile = 16 << 20

// Base is the commit from which a change under review began. It is not safe for
// concurrent use.
type Base struct {
	// Ref is the name that was given, Commit the merge base's hash.
	Ref, Commit string
	// top is the working tree, as its user names it.
	top string
	git *git
}

// Open finds the merge base of a ref and HEAD in the repository around dir. The
// caller closes it.
func Open(ctx context.Context, dir, ref string) (*Base, error) {
	dir, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	repo, err := find(dir)
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	g, err := newGit(repo)
	if err != nil {
		return nil, fmt.Errorf("read the repository %s: %w", repo.top, err)
	}
	b := &Base{Ref: ref, top: repo.top, git: g}
	if b.Commit, err = g.mergeBase(ctx, ref); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return b, nil
}

// Close removes what Open made.
func (b *Base) Close() error { return b.git.close() }

// File is what a file held in the merge base; ok is false where it was not there.
// Outside the repository it is ErrOutside.
func (b *Base) File(ctx context.Context, name string) (data []byte, ok bool, err error) {
	rel, err := b.relative(name)
	if err != nil {
		return nil, false, err
	}
	// Each directory on the way is asked for too: a link there is no missing file.
	for at := rel; at != "."; at = filepath.Dir(at) {
		tree, err := b.git.tree(ctx, b.Commit, at)
		if err != nil {
			return nil, false, err
		}
		e, there := tree[at]
		switch {
		case !there || at != rel && e.mode == modeTree:
			continue
		case at != rel:
			return nil, false, fmt.Errorf("%s is not a directory in %s", at, b.Commit)
		case e.mode != modeFile && e.mode != modeProgram:
			return nil, false, fmt.Errorf("%s is not a regular file in %s", rel, b.Commit)
		}
		if data, err = b.git.output(ctx, maxFile, "cat-file", "blob", e.hash); err != nil {
			return nil, false, fmt.Errorf("read %s of %s: %w", rel, b.Commit, err)
		}
		return data, true, nil
	}
	return nil, false, nil
}

// Names are the regular files that stood in a directory in the merge base, by their
// names there. Outside the repository it is ErrOutside.
func (b *Base) Names(ctx context.Context, dir string) ([]string, error) {
	rel, err := b.relative(dir)
	if err != nil {
		return nil, err
	}
	rel = filepath.ToSlash(rel)
	tree, err := b.git.tree(ctx, b.Commit, rel)
	if err != nil {
		return nil, err
	}
	var out []string
	for name, e := range tree {
		if path.Dir(name) == rel && (e.mode == modeFile || e.mode == modeProgram) {
			out = append(out, path.Base(name))
		}
	}
	slices.Sort(out)
	return out, nil
}

// Changed reports whether a file or directory differs from the merge base. It is
// false only where every entry was read and is the same: names, bytes, links and
// the permission to execute. What git ignores or converts at a checkout (line
// endings, LFS, encodings) counts as changed, and so do submodules. Outside the
// repository it is true and ErrOutside.
func (b *Base) Changed(ctx context.Context, name string) (bool, error) {
	rel, err := b.relative(name)
	if err != nil {
		return true, err
	}
	tree, err := b.git.tree(ctx, b.Commit, rel)
	if err != nil {
		return true, err
	}
	same, err := sameTree(ctx, b.top, rel, tree)
	if err != nil {
		return true, fmt.Errorf("compare %s with %s: %w", rel, b.Commit, err)
	}
	return !same, nil
}

// relative is a path as the repository names it. No link below the top is
// resolved.
func (b *Base) relative(name string) (string, error) {
	abs, err := absolute(name)
	if err != nil {
		return "", err
	}
	top, err := os.Stat(b.top)
	if err != nil {
		return "", err
	}
	if at := shown.Above(abs, top); at != "" {
		rel, err := filepath.Rel(at, abs)
		return rel, err
	}
	real, err := resolve(abs)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if shown.Above(real, top) != "" {
		return "", fmt.Errorf("%s is a link into the repository %s: name it by its place there", name, b.top)
	}
	return "", fmt.Errorf("%s: %w", name, ErrOutside)
}

// resolve resolves the links of the part of a path that exists.
func resolve(abs string) (string, error) {
	rest := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", err
		}
		if _, err := os.Lstat(dir); err == nil {
			return "", fmt.Errorf("%s is a link to nothing", dir)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// absolute makes a path absolute without a guess: the kernel takes "link/.." for
// the parent of the link's target, so such a path is refused.
func absolute(name string) (string, error) {
	named := false
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if part == ".." && named {
			return "", fmt.Errorf("%s: a directory and then \"..\" may lead through a link: name the path without it", name)
		}
		named = named || part != "" && part != "." && part != ".."
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	cwd, err := os.Getwd()
	if err == nil {
		cwd, err = filepath.EvalSymlinks(cwd) // it may be $PWD
	}
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	return filepath.Join(cwd, name), nil
}

// FirstDifference is the first line, from 1, in which two texts differ.
func FirstDifference(a, b []byte) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return line
		}
		if a[i] == '\n' {
			line++
		}
	}
	return line
}
