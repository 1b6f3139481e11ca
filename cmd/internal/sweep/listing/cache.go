package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// cache keeps the pages of a source with what their registry compares them by, so that a
// page that did not change is not sent again. A nil one keeps nothing.
type cache struct {
	dir *os.Root
	// prefix is that of the source's files, and used are those that were asked for.
	prefix string
	used   map[string]bool
}

// keptPage is one file of a cache. Its name is a hash: an address may hold a password.
type keptPage struct {
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	Body     []byte `json:"body"`
}

// maxValidator bounds an ETag or a date, in bytes.
const maxValidator = 512

// openCache opens the cache of a source in a directory, which it makes; "" is for none.
func openCache(dir, source string) (*cache, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &cache{dir: root, prefix: hashed(source) + "-", used: map[string]bool{}}, nil
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (c *cache) name(address string) string { return c.prefix + hashed(address) + ".json" }

// page is what is kept of an address, nil for nothing. What cannot be read is asked for.
func (c *cache) page(address string) *keptPage {
	if c == nil {
		return nil
	}
	data, err := session.ReadFile(c.dir, c.name(address), 2*maxPage) // base64 takes a third more
	var p keptPage
	if err != nil || json.Unmarshal(data, &p) != nil || len(p.Body) > maxPage {
		return nil
	}
	c.used[c.name(address)] = true
	return &p
}

// ask adds to a request what the registry compares.
func (p *keptPage) ask(h http.Header) {
	switch {
	case p == nil:
	case p.ETag != "":
		h.Set("If-None-Match", p.ETag)
	case p.Modified != "":
		h.Set("If-Modified-Since", p.Modified)
	}
}

// keep keeps a page that the registry can compare. What cannot be kept is asked for again.
func (c *cache) keep(address string, h http.Header, body []byte) {
	p := keptPage{ETag: h.Get("ETag"), Modified: h.Get("Last-Modified"), Body: body}
	if c == nil || p.ETag+p.Modified == "" || len(p.ETag) > maxValidator || len(p.Modified) > maxValidator {
		return
	}
	data, err := json.Marshal(p)
	if err != nil {
		return
	}
	name := c.name(address)
	if c.dir.WriteFile(name+".new", data, 0o600) == nil && c.dir.Rename(name+".new", name) == nil {
		c.used[name] = true
	}
}

// close removes what a whole list did not ask for any more.
func (c *cache) close(whole bool) error {
	if c == nil {
		return nil
	}
	var errs []error
	if whole {
		files, err := fs.ReadDir(c.dir.FS(), ".")
		errs = append(errs, err)
		for _, f := range files {
			if name := filepath.Base(f.Name()); strings.HasPrefix(name, c.prefix) && !c.used[name] {
				errs = append(errs, c.dir.Remove(name))
			}
		}
	}
	return errors.Join(append(errs, c.dir.Close())...)
}
