package shown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// maxIndex bounds git's list of files, in bytes, and gitPatience the wait for it.
	maxIndex    = 256 << 20
	gitPatience = time.Minute
)

// Repository is the top of the working tree around a path that exists, without links in
// it, "" where there is none. A bare repository does not count: only a .git counts, which git
// never takes from a commit.
func Repository(file string) string {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	if real, err = filepath.Abs(real); err != nil {
		return ""
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Index is what git tracks in a working tree.
type Index struct {
	top string
	// known are the tracked files, true, and the directories around them, false.
	known map[string]bool
}

// ReadIndex asks git what it tracks in the working tree with this top. Only the index is
// read: no hook, filter, monitor or attribute of the repository takes part, nor any
// configuration of this machine.
func ReadIndex(ctx context.Context, top string) (*Index, error) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	out, err := git(ctx, top, "ls-files", "-z", "--cached", "--recurse-submodules")
	if err != nil {
		return nil, fmt.Errorf("ask git what it tracks in %s: %w", top, err)
	}
	x := &Index{top: top, known: map[string]bool{}}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name == "" || !filepath.IsLocal(name) {
			continue
		}
		x.known[name] = true
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, there := x.known[dir]; there {
				break
			}
			x.known[dir] = false
		}
	}
	return x, nil
}

// Tracks reports whether a path below the top, with slashes, is tracked, or has tracked
// files below it.
func (x *Index) Tracks(rel string) bool {
	_, ok := x.known[rel]
	return ok || rel == "."
}

// Git finds git on the PATH, except what the working tree with this top brings: a
// PATH may name its node_modules/.bin.
func Git(top string) (string, error) {
	info, err := os.Stat(top)
	if err != nil {
		return "", err
	}
	return program(searchPath(), "git", []os.FileInfo{info})
}

// Program finds a program on the PATH that this process is to believe, except what the
// checkout around the working directory brings, and what npm installed for a project: npm
// puts that first where it starts a script.
func Program(name string) (string, error) { return ProgramIn(searchPath(), name) }

func searchPath() []string { return filepath.SplitList(os.Getenv("PATH")) }

// ProgramIn is Program for other directories than those of the PATH.
func ProgramIn(dirs []string, name string) (string, error) {
	var trees []os.FileInfo
	if dir, err := os.Getwd(); err == nil {
		for _, tree := range []string{dir, Repository(dir)} {
			if tree == "" || TooWide(tree, Homes()) {
				continue // a home, say, where the user's own programs are
			}
			if info, err := os.Stat(tree); err == nil {
				trees = append(trees, info)
			}
		}
	}
	return program(dirs, name, trees)
}

func program(dirs []string, name string, trees []os.FileInfo) (string, error) {
	brought := func(file string) bool {
		return strings.Contains(file, "/node_modules/.bin/") || slices.ContainsFunc(trees, func(tree os.FileInfo) bool { return Above(file, tree) != "" })
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(found); err == nil && !brought(found) && !brought(real) {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s is not on the PATH, apart from what a checkout brings: %w", name, exec.ErrNotFound)
}

// Above is the first directory on the way from the root to a path that is the
// directory top, "" for none.
func Above(abs string, top os.FileInfo) string {
	found := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, top) {
			found = dir
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}

// git asks one question about a working tree.
func git(ctx context.Context, top string, question ...string) ([]byte, error) {
	program, err := Git(top)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{
		"--no-pager", "--no-optional-locks", "--literal-pathspecs", "--git-dir=" + filepath.Join(top, ".git"), "--work-tree=" + top,
		"-c", "safe.bareRepository=explicit", "-c", "safe.directory=*",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.attributesFile=" + os.DevNull,
	}, question...)...)
	cmd.Dir = top
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(top),
	}
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
	data, readErr := io.ReadAll(io.LimitReader(out, maxIndex+1))
	if len(data) > maxIndex {
		cancel()
		readErr = fmt.Errorf("its answer is longer than %d bytes", maxIndex)
	}
	if err := errors.Join(readErr, cmd.Wait()); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("%w %.200q", err, line)
	}
	return data, nil
}
