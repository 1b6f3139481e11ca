package since

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

const (
	// maxRefs and maxPacked bound the refs that are copied: files, and bytes.
	maxRefs   = 200_000
	maxPacked = 256 << 20
)

// mirror makes dir a bare repository with the commits of another: HEAD, refs and
// shallow are copied and checked, the directories of objects are linked. Left out
// is all by which a repository has git do more than read objects: config, hooks,
// info, index, alternates, grafts, replaced objects, the commit graph and
// promisors.
func mirror(r *repository, dir string) error {
	m, err := newMirror(r, dir)
	if err != nil {
		return err
	}
	defer m.common.Close()
	defer m.own.Close()
	defer m.to.Close()
	for _, step := range []func() error{m.head, m.packed, m.refs, m.shallow, m.objects, m.settings} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type mirrored struct {
	own, common, to *os.Root
	// objectsOf is the path of the objects' directory.
	objectsOf string
	// digits is the length of an object's name, 0 before one is seen.
	digits int
}

func newMirror(r *repository, dir string) (m *mirrored, err error) {
	m = &mirrored{objectsOf: filepath.Join(r.common, "objects")}
	if m.own, err = os.OpenRoot(r.own); err != nil {
		return nil, err
	}
	if m.common, err = os.OpenRoot(r.common); err != nil {
		return nil, errors.Join(err, m.own.Close())
	}
	if m.to, err = os.OpenRoot(dir); err != nil {
		return nil, errors.Join(err, m.own.Close(), m.common.Close())
	}
	return m, nil
}

// hash notes the length of an object's name; all have the same.
func (m *mirrored) hash(text string) error {
	if !isHash(text) || m.digits != 0 && m.digits != len(text) {
		return fmt.Errorf("%.80q is not an object's name", text)
	}
	m.digits = len(text)
	return nil
}

// head copies HEAD, and FETCH_HEAD as the one commit that git takes it for.
func (m *mirrored) head() error {
	data, err := readIn(m.own, "HEAD", maxSmall)
	if err != nil {
		return err
	}
	if err := m.ref("HEAD", data); err != nil {
		return err
	}
	// The last fetch's may be empty, or damaged: then the name is not known.
	data, err = readIn(m.own, "FETCH_HEAD", 1<<20)
	first, _, ok := bytes.Cut(data, []byte("\t"))
	if err != nil || !ok || !isHash(first) {
		return nil
	}
	return m.ref("FETCH_HEAD", first)
}

// ref writes one ref: an object's name, or that of another ref.
func (m *mirrored) ref(name string, data []byte) error {
	value := strings.TrimSpace(string(data))
	if target, ok := strings.CutPrefix(value, "ref:"); ok {
		target = strings.TrimSpace(target)
		if !strings.HasPrefix(target, "refs/") || !filepath.IsLocal(target) || strings.ContainsAny(target, "\n\x00") {
			return fmt.Errorf("%s names no ref", name)
		}
	} else if err := m.hash(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := m.to.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return m.to.WriteFile(name, []byte(value+"\n"), 0o600)
}

// packed copies packed-refs.
func (m *mirrored) packed() error {
	data, err := readIn(m.common, "packed-refs", maxPacked)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		hash, _, _ := strings.Cut(strings.TrimPrefix(line, "^"), " ")
		if err := m.hash(hash); err != nil {
			return fmt.Errorf("packed-refs: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("packed-refs: %w", err)
	}
	return m.to.WriteFile("packed-refs", data, 0o600)
}

// refs copies the refs that are files of their own. A link is none.
func (m *mirrored) refs() error {
	if info, err := m.common.Lstat("reftable"); err == nil {
		return fmt.Errorf("its refs are in %s, a format that is not read here", info.Name())
	}
	if err := m.to.MkdirAll("refs", 0o700); err != nil {
		return err
	}
	left := maxRefs
	return fs.WalkDir(m.common.FS(), "refs", func(name string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fmt.Errorf("there are more than %d refs that are files: git pack-refs --all mends it", maxRefs)
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := readIn(m.common, name, maxSmall)
		if err != nil {
			return err
		}
		return m.ref(name, data)
	})
}

// shallow copies where the history of a shallow clone ends.
func (m *mirrored) shallow() error {
	data, err := readIn(m.common, "shallow", maxPacked)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, line := range strings.Fields(string(data)) {
		if err := m.hash(line); err != nil {
			return fmt.Errorf("shallow: %w", err)
		}
	}
	return m.to.WriteFile("shallow", data, 0o600)
}

// objectDir is a directory of loose objects, or that of packs.
var objectDir = regexp.MustCompile(`^([0-9a-f]{2}|pack)$`)

// objects links the directories of objects, so that objects/info is not seen.
func (m *mirrored) objects() error {
	if data, err := readIn(m.common, "objects/info/alternates", maxSmall); len(bytes.TrimSpace(data)) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.New("it takes objects from another repository (objects/info/alternates), which is not followed: use a clone without --shared and --reference")
	}
	info, err := m.common.Lstat("objects")
	if err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is not a directory", m.objectsOf))
	}
	dirs, err := fs.ReadDir(m.common.FS(), "objects")
	if err != nil {
		return err
	}
	if err := m.to.MkdirAll("objects", 0o700); err != nil {
		return err
	}
	for _, d := range dirs {
		if !d.IsDir() || !objectDir.MatchString(d.Name()) {
			continue
		}
		if err := m.to.Symlink(filepath.Join(m.objectsOf, d.Name()), filepath.Join("objects", d.Name())); err != nil {
			return err
		}
	}
	return nil
}

// settings writes the configuration.
func (m *mirrored) settings() error {
	format := "sha1"
	if m.digits == 64 {
		format = "sha256"
	}
	return m.to.WriteFile("config", []byte(settings+"[extensions]\n\tobjectFormat = "+format+"\n"), 0o600)
}

// readIn reads a regular file below a root, and waits for no pipe.
func readIn(root *os.Root, name string, limit int64) ([]byte, error) {
	if info, err := root.Lstat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRegular(f, limit)
}
