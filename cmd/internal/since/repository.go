package since

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// repository is a working tree and where git keeps its records.
type repository struct {
	// top is the working tree, own the directory of its HEAD, and common that of
	// refs and objects. They differ in a linked worktree.
	top, own, common string
}

// find finds the repository around an absolute directory. Only ".git" makes one: a
// change can bring a bare repository, but git checks no ".git" out. Where
// repositories lie in each other, the working directory has to be in the inner
// one, since a change can bring that as a submodule.
func find(dir string) (*repository, error) {
	top := nearest(dir)
	if top == "" {
		return nil, fmt.Errorf("%s is in no repository", dir)
	}
	outer, err := enclosing(top)
	if err != nil {
		return nil, err
	}
	if outer != "" && !standsIn(top) {
		return nil, fmt.Errorf("%s lies inside the repository %s: start coalmine in the one that is meant", top, outer)
	}
	r, err := open(top)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{r.own, r.common} {
		if err := owned(dir, top); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// nearest is the first directory from dir upwards with a ".git", "" for none.
func nearest(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// enclosing is a repository around that of top, by name or by its real place.
func enclosing(top string) (string, error) {
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return "", err
	}
	for _, at := range []string{top, real} {
		if up := filepath.Dir(at); up != at {
			if outer := nearest(up); outer != "" {
				return outer, nil
			}
		}
	}
	return "", nil
}

// standsIn reports whether the working directory is in a directory.
func standsIn(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	cwd, err := absolute(".")
	return err == nil && shown.Above(cwd, info) != ""
}

// open reads what top/.git is: a directory, or the file of a linked worktree.
func open(top string) (*repository, error) {
	at := filepath.Join(top, ".git")
	info, err := os.Lstat(at)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &repository{top: top, own: at, common: at}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither a directory nor a file", at)
	}
	own, err := pointer(at, "gitdir: ")
	if err != nil {
		return nil, err
	}
	common, err := pointer(filepath.Join(own, "commondir"), "")
	if err != nil {
		return nil, fmt.Errorf("%s is not a linked worktree's (a submodule's? use a clone of its own): %w", at, err)
	}
	back, err := pointer(filepath.Join(own, "gitdir"), "")
	if err != nil {
		return nil, err
	}
	if !sameFile(back, at) || !sameFile(filepath.Dir(own), filepath.Join(common, "worktrees")) {
		return nil, fmt.Errorf("%s points to %s, which is not this worktree's", at, own)
	}
	// Whoever writes working files could have made such a one.
	if info, err := os.Stat(top); err != nil || shown.Above(common, info) != "" {
		return nil, fmt.Errorf("%s points into its own working tree", at)
	}
	return &repository{top: top, own: own, common: common}, nil
}

// pointer reads a file of git's that holds one path after a prefix, and resolves it.
func pointer(name, prefix string) (string, error) {
	data, err := readSmall(name)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(strings.TrimSuffix(string(data), "\n"), prefix)
	if !ok || path == "" || strings.ContainsAny(path, "\n\x00") {
		return "", fmt.Errorf("%s names no path", name)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(name), path)
	}
	return filepath.EvalSymlinks(path)
}

// maxSmall bounds HEAD, a ref and a pointer, in bytes.
const maxSmall = 8 << 10

// readSmall reads a small regular file, and waits for no pipe.
func readSmall(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|session.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRegular(f, maxSmall)
}

// readRegular reads an open file of at most limit bytes.
func readRegular(f *os.File, limit int64) ([]byte, error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", f.Name()))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is longer than %d bytes", f.Name(), limit)
	}
	return data, err
}

// owned refuses records of git that belong to another user, who then says what the
// merge base is (git's safe.directory). Root takes those of the working tree's
// owner: so it is in a job's container.
func owned(dir, top string) error {
	owner, err := uid(dir)
	if err != nil {
		return err
	}
	us := os.Geteuid()
	if owner == us || owner == 0 {
		return nil
	}
	if tree, err := uid(top); us == 0 && err == nil && tree == owner {
		return nil
	}
	return fmt.Errorf("%s belongs to another user (uid %d)", dir, owner)
}

func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	two, errTwo := os.Stat(b)
	return errOne == nil && errTwo == nil && os.SameFile(one, two)
}

// isHash reports whether text is an object's name, in SHA-1 or SHA-256.
func isHash[T string | []byte](text T) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return len(bytes.Trim([]byte(text), "0123456789abcdef")) == 0
}
