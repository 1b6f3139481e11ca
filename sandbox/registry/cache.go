package registry

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// headerSize is the room before a body in a file of the cache, in bytes.
	headerSize = 8 << 10
	// draftPrefix begins the names of files under way; after draftAge nobody writes them.
	draftPrefix = "tmp-"
	draftAge    = time.Hour
)

// cache keeps answers of registries in a directory: a file for each, named by the digest
// of its key, with a header and the body. A file gets its name when it is complete, and
// its body is compared with its sum whenever it is read. Several processes may use one.
type cache struct {
	root *os.Root
	max  int64
	// own is the path of a directory that is removed at the end, "" for one that stays.
	own string
}

// stored describes an answer.
type stored struct {
	Key          string `json:"key"`
	Type         string `json:"type"`
	Encoding     string `json:"encoding,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// Fresh is until when the registry need not be asked again.
	Fresh  time.Time `json:"fresh,omitzero"`
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
}

// openCache opens or makes a directory; "" makes one that close removes.
func openCache(dir string, maximum int64) (*cache, error) {
	c := &cache{max: maximum}
	if dir == "" {
		own, err := os.MkdirTemp("", "registry-")
		if err != nil {
			return nil, withHint("make TMPDIR writable", "make room for what registries answer: %w", err)
		}
		dir, c.own = own, own
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, withHint("make it writable, or set XDG_CACHE_HOME", "make the cache of registries: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, withHint("make it readable, or set XDG_CACHE_HOME", "open the cache of registries: %w", err)
	}
	info, err := root.Stat(".")
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = root.Chmod(".", 0o700) // fails for another user's directory
	}
	if err != nil {
		_ = root.Close()
		return nil, withHint("remove it: others may write to it", "use the cache of registries %s: %w", dir, err)
	}
	c.root = root
	return c, nil
}

// close trims the cache to its bound.
func (c *cache) close() error {
	var err error
	if c.own != "" {
		err = os.RemoveAll(c.own)
	} else {
		err = c.trim(time.Now())
	}
	return errors.Join(err, c.root.Close())
}

// cacheKey names an answer by what it depends on, and tells none of that.
func cacheKey(parts ...string) string {
	sum := sha256.Sum256([]byte("v1\x00" + strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// cacheName is the path of an answer below the cache's directory.
func cacheName(key string) string { return path.Join(key[:2], key[2:]) }

// cacheError is a failure to write to the cache.
type cacheError struct{ err error }

func (c *cacheError) Error() string { return "write to the cache of registries: " + c.err.Error() }
func (c *cacheError) Unwrap() error { return c.err }

// draft is a file under way.
type draft struct {
	cache *cache
	name  string
	file  *os.File
	sum   hash.Hash
	size  int64
}

// create begins a file; commit or discard ends it.
func (c *cache) create() (*draft, error) {
	name := draftPrefix + rand.Text()
	f, err := c.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, &cacheError{err}
	}
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		_ = f.Close()
		_ = c.root.Remove(name)
		return nil, &cacheError{err}
	}
	return &draft{cache: c, name: name, file: f, sum: sha256.New()}, nil
}

// Write adds to the body.
func (d *draft) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	_, _ = d.sum.Write(p[:n])
	d.size += int64(n)
	if err != nil {
		return n, &cacheError{err}
	}
	return n, nil
}

// body reads what was written so far.
func (d *draft) body() io.Reader { return io.NewSectionReader(d.file, headerSize, d.size) }

// commit gives the file its name, by which find has it from then on. A draft can be read
// until discard.
func (d *draft) commit(s stored) error {
	s.Size, s.SHA256 = d.size, hex.EncodeToString(d.sum.Sum(nil))
	header, err := json.Marshal(s)
	if err != nil {
		return &cacheError{err}
	}
	if len(header) > headerSize {
		return nil // odd headers; it is asked for again
	}
	header = append(header, bytes.Repeat([]byte(" "), headerSize-len(header))...)
	if _, err := d.file.WriteAt(header, 0); err != nil {
		return &cacheError{err}
	}
	name := cacheName(s.Key)
	if err := d.cache.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return &cacheError{err}
	}
	if err := d.cache.root.Rename(d.name, name); err != nil {
		return &cacheError{err}
	}
	d.name = ""
	return nil
}

// discard closes the file, and removes it unless it was committed.
func (d *draft) discard() {
	_ = d.file.Close()
	if d.name != "" {
		_ = d.cache.root.Remove(d.name)
	}
}

// found is a stored answer, open for reading.
type found struct {
	stored
	file *os.File
}

func (f *found) body() io.Reader { return io.NewSectionReader(f.file, headerSize, f.Size) }
func (f *found) close()          { _ = f.file.Close() }

// find opens the answer of a key whose body has the sum that its header names, and the
// digest that an index names. It is nil where there is none; one that is spoiled is removed.
func (c *cache) find(key string, want digest) *found {
	name := cacheName(key)
	file, err := c.root.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	f := &found{file: file}
	if !f.read(key) {
		f.close()
		_ = c.root.Remove(name)
		return nil
	}
	if h := want.hash(); h != nil {
		if _, err := io.Copy(h, f.body()); err != nil || hex.EncodeToString(h.Sum(nil)) != want.sum {
			f.close()
			return nil
		}
	}
	now := time.Now()
	_ = c.root.Chtimes(name, now, now) // when it was used last
	return f
}

func (f *found) read(key string) bool {
	header := make([]byte, headerSize)
	if _, err := f.file.ReadAt(header, 0); err != nil || json.Unmarshal(header, &f.stored) != nil || f.Key != key || f.Size < 0 {
		return false
	}
	info, err := f.file.Stat()
	if err != nil || info.Size() != headerSize+f.Size {
		return false
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f.body())
	return err == nil && n == f.Size && hex.EncodeToString(sum.Sum(nil)) == f.SHA256
}

// trim removes the answers that were not used for longest, until the rest is within
// the bound, and what processes that ended left under way.
func (c *cache) trim(now time.Time) error {
	type file struct {
		name string
		size int64
		used time.Time
	}
	var files []file
	var total int64
	err := fs.WalkDir(c.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // another process removed it
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		if strings.HasPrefix(name, draftPrefix) {
			if now.Sub(info.ModTime()) > draftAge {
				_ = c.root.Remove(name)
			}
			return nil
		}
		if dir, rest := path.Split(name); len(dir) == 3 && len(rest) == 62 {
			files = append(files, file{name, info.Size(), info.ModTime()})
			total += info.Size()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("trim the cache of registries: %w", err)
	}
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= c.max {
			break
		}
		if err := c.root.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trim the cache of registries: %w", err)
		}
		total -= f.size
	}
	return nil
}
