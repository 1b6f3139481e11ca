package since

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrOutside says that a path is not of the repository.
var ErrOutside = errors.New("it lies outside the repository")

const (
	// maxFile bounds a file of the merge base, in bytes.
	maxFile = 16 << 20
	// patience bounds each question to git.
	patience = 30 * time.Second
)

// Base is the commit from which a change under review began.
type Base struct {
	// Ref is the name that was given, Commit the merge base's hash.
	Ref, Commit string
	top         string
}

// Open finds the merge base of a ref and HEAD in the repository around dir.
func Open(ctx context.Context, dir, ref string) (*Base, error) {
	b := &Base{Ref: ref, top: dir}
	top, err := b.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	if b.top, err = filepath.EvalSymlinks(strings.TrimSuffix(string(top), "\n")); err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	tip, err := b.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("the repository knows no %q", ref)
	}
	commit, err := b.git(ctx, "merge-base", strings.TrimSpace(string(tip)), "HEAD")
	if err != nil {
		return nil, fmt.Errorf("%s and HEAD have no merge base here (a shallow clone?)", ref)
	}
	b.Commit = strings.TrimSpace(string(commit))
	return b, nil
}

// File is what a file held in the merge base; ok is false where it was not there.
// Outside the repository it is ErrOutside.
func (b *Base) File(ctx context.Context, name string) (data []byte, ok bool, err error) {
	rel, err := b.relative(name)
	if err != nil {
		return nil, false, err
	}
	entry, err := b.git(ctx, "ls-tree", "-z", "-l", "--full-tree", b.Commit, "--", rel)
	if err != nil {
		return nil, false, fmt.Errorf("look for %s in %s: %w", rel, b.Commit, err)
	}
	if len(entry) == 0 {
		return nil, false, nil
	}
	mode, rest, _ := strings.Cut(string(entry), " ")
	fields := strings.Fields(rest)
	if !strings.HasPrefix(mode, "100") || len(fields) < 3 {
		return nil, false, fmt.Errorf("%s is no regular file in %s", rel, b.Commit)
	}
	data, err = b.git(ctx, "cat-file", "blob", fields[1])
	if err != nil {
		return nil, false, fmt.Errorf("read %s of %s: %w", rel, b.Commit, err)
	}
	return data, true, nil
}

// Changed reports whether anything below a directory differs from the merge base:
// what is committed since, what is not yet, and new files that are not ignored.
func (b *Base) Changed(ctx context.Context, dir string) (bool, error) {
	rel, err := b.relative(dir)
	if err != nil {
		return true, err
	}
	names, err := b.git(ctx, "diff", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=none", b.Commit, "--", rel)
	if err != nil {
		return true, fmt.Errorf("compare %s with %s: %w", rel, b.Commit, err)
	}
	added, err := b.git(ctx, "ls-files", "--others", "--exclude-standard", "--", rel)
	if err != nil {
		return true, fmt.Errorf("list what is new in %s: %w", rel, err)
	}
	return len(names)+len(added) > 0, nil
}

// relative is a path as the repository names it; its directory is resolved, the
// last element is not.
func (b *Base) relative(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	rel, err := filepath.Rel(b.top, filepath.Join(dir, filepath.Base(abs)))
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s: %w", name, ErrOutside)
	}
	return filepath.ToSlash(rel), nil
}

// git asks one question. Nothing that the repository's own files name is run.
func (b *Base) git(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	question := args[0]
	args = append([]string{"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.quotePath=true", "-C", b.top}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	data, readErr := io.ReadAll(io.LimitReader(out, maxFile+1))
	if len(data) > maxFile {
		cancel()
		_ = cmd.Wait()
		return nil, fmt.Errorf("git's answer is longer than %d bytes", maxFile)
	}
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("git %s: %w %.200s", question, err, line)
	}
	return data, nil
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
