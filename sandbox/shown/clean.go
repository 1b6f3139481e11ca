package shown

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// Clean remembers which contents were read before and held no secret, so that a program
// that is run again is not searched again. It keeps digests alone. A nil Clean remembers
// nothing. Its methods may be called from several goroutines.
type Clean struct {
	dir  string
	mu   sync.Mutex
	has  map[mark]struct{}
	more []byte
}

// mark is the beginning of a content's key, long enough that no two are alike.
type mark [16]byte

// maxMarks bounds what is remembered: beyond it, all is forgotten.
const maxMarks = 1 << 19

// OpenClean reads what is remembered in a directory, which need not be there. What other
// users may write is not believed.
func OpenClean(dir string) *Clean {
	c := &Clean{dir: dir, has: map[mark]struct{}{}}
	name := c.file()
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 {
		return c
	}
	data, err := os.ReadFile(name)
	if err != nil || len(data)%len(mark{}) != 0 || len(data) > maxMarks*len(mark{}) {
		_ = os.Remove(name)
		return c
	}
	for ; len(data) > 0; data = data[len(mark{}):] {
		c.has[mark(data[:len(mark{})])] = struct{}{}
	}
	return c
}

// file is named by the rules: others may find a secret where these find none.
func (c *Clean) file() string { return filepath.Join(c.dir, secrets.Rules()) }

func (c *Clean) holds(key secrets.Sum) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.has[mark(key[:len(mark{})])]
	return ok
}

func (c *Clean) add(key secrets.Sum) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := mark(key[:len(mark{})])
	if _, ok := c.has[m]; !ok {
		c.has[m] = struct{}{}
		c.more = append(c.more, m[:]...)
	}
}

// Save keeps what was learned since, for later runs. Other processes may do so at the same time.
func (c *Clean) Save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.more) == 0 {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(c.file()); errors.Is(err, fs.ErrNotExist) {
		c.forgetOthers()
	}
	f, err := os.OpenFile(c.file(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(c.more)
	c.more = nil
	return errors.Join(err, f.Close())
}

// forgetOthers removes what was learned by other rules.
func (c *Clean) forgetOthers() {
	old, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, e := range old {
		if len(e.Name()) == len(secrets.Rules()) {
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
}
