package install

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tmpPrefix begins the names of unfinished and of built trees: the number of the
// process that made them follows.
const tmpPrefix = "tmp-"

// Archives is the directory below a Cache's in which the answers of registries are kept.
const Archives = "archives"

// Cache is a directory of fetched trees, each named by the digest of what is in it.
// Several processes may use one.
type Cache struct{ Dir string }

// DefaultCache is below the user's own cache directory.
func DefaultCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, withHint("set XDG_CACHE_HOME, or HOME", "find the cache directory: %w", err)
	}
	return Cache{filepath.Join(dir, "coalmine", "packages")}, nil
}

// Temp makes a directory for a tree under way. An ordinary user's sandbox reads what is in it.
func (c Cache) Temp() (string, error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return "", withHint("make it writable, or set XDG_CACHE_HOME", "make the cache: %w", err)
	}
	dir := filepath.Join(c.Dir, fmt.Sprintf("%s%d-%s", tmpPrefix, os.Getpid(), rand.Text()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", withHint("make it writable, or set XDG_CACHE_HOME", "make room in the cache: %w", err)
	}
	return dir, nil
}

// find is the tree of a key, "" where there is none.
func (c Cache) find(key string) string {
	dir := filepath.Join(c.Dir, key)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return ""
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // when it was used last
	return dir
}

// keep gives a finished tree its name. Where another process was faster, its tree is taken.
func (c Cache) keep(temp, key string) (string, error) {
	dir := filepath.Join(c.Dir, key)
	err := os.Rename(temp, dir)
	if err == nil {
		return dir, nil
	}
	if found := c.find(key); found != "" {
		return found, os.RemoveAll(temp)
	}
	return "", fmt.Errorf("keep what was fetched: %w", err)
}

// Clean removes the trees that processes which have ended left unfinished, and
// with all every tree. It returns what it removed.
func (c Cache) Clean(all bool) ([]string, error) {
	entries, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the cache: %w", err)
	}
	var removed []string
	for _, e := range entries {
		if e.Name() == "" || !all && !c.left(e.Name()) {
			continue
		}
		if rest, ok := strings.CutPrefix(e.Name(), tmpPrefix); ok && !dead(rest) {
			continue
		}
		path := filepath.Join(c.Dir, e.Name())
		if err := removeAll(path); err != nil {
			return removed, fmt.Errorf("clean the cache: %w", err)
		}
		removed = append(removed, path)
	}
	return removed, nil
}

func (c Cache) left(name string) bool {
	rest, ok := strings.CutPrefix(name, tmpPrefix)
	return ok && dead(rest)
}

// dead reports whether the process whose number begins name has ended.
func dead(name string) bool {
	number, _, _ := strings.Cut(name, "-")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return false
	}
	_, err = os.Stat(fmt.Sprintf("/proc/%d", pid))
	return errors.Is(err, fs.ErrNotExist)
}

// removeAll removes a tree whose directories may not be writable.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(path))
}

// Remove removes a tree that is nobody else's.
func (t *Tree) Remove() error {
	if !t.Own {
		return nil
	}
	return removeAll(t.Host)
}
