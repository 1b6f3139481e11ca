package docker

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

const (
	// maxTree bounds the bytes, maxEntries the files of a server's directory.
	maxTree    = 1 << 30
	maxEntries = 500_000
	page       = 4096
)

// tree is a server's directory, or its one file, as it goes into the container.
type tree struct {
	path     string // absolute, the same inside and outside
	isDir    bool
	root     *os.Root
	entries  []entry
	size     int64 // in whole pages
	uid, gid int
	// hidden are absolute paths in the container that are not copied, and covers the
	// contents that take the place of files with secrets.
	hidden map[string]bool
	covers map[string][]byte
}

// entry is one file of a tree; name is relative to the root.
type entry struct {
	name string
	info fs.FileInfo
	link string
}

// readTree lists what will be copied, and refuses what is too much. Symbolic
// links are taken as they are and never followed: what they lead to outside is not the server's.
//
// What the agent will plant itself stays empty until then.
func readTree(spec sandbox.Spec, view *shown.View) (*tree, error) {
	t := &tree{path: filepath.Clean(spec.ServerDir), uid: spec.User.UID, gid: spec.User.GID, hidden: map[string]bool{}, covers: map[string][]byte{}}
	info, err := os.Stat(view.Real)
	if err != nil {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("the server's directory: %w", err), Hint: "name the server's file by a path that exists"}
	}
	t.isDir = info.IsDir()
	top, start := view.Real, "."
	if !t.isDir {
		top, start = filepath.Split(top)
	}
	for _, path := range spec.Hidden {
		t.hidden[path] = true
	}
	for _, name := range view.Hidden {
		t.hidden[filepath.Join(t.path, name)] = true
	}
	for _, f := range spec.Files {
		if !f.Dir && f.Link == "" {
			t.covers[f.Path] = nil
		}
	}
	for _, f := range sandbox.Covers(t.path, view) {
		t.covers[f.Path] = f.Data
	}
	if t.root, err = os.OpenRoot(top); err != nil {
		return nil, fmt.Errorf("open the server's directory: %w", err)
	}
	if err := fs.WalkDir(t.root.FS(), start, t.add); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// place is an entry's in the container.
func (t *tree) place(name string) string {
	if t.isDir {
		return filepath.Join(t.path, name)
	}
	return filepath.Join(filepath.Dir(t.path), name)
}

func (t *tree) close() { _ = t.root.Close() }

// add takes one entry of the walk. What cannot be read is left out: the
// server's user might not read it either.
func (t *tree) add(name string, d fs.DirEntry, err error) error {
	if d != nil && t.hidden[t.place(name)] {
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the server's directory: %w", err)
	}
	info, err := d.Info()
	if err != nil {
		return nil // it has just gone
	}
	e := entry{name: name, info: info}
	switch {
	case info.Mode().IsRegular():
		t.size += (info.Size() + page - 1) / page * page
	case info.Mode()&fs.ModeSymlink != 0:
		if e.link, err = t.root.Readlink(name); err != nil {
			return nil
		}
		t.size += page
	case info.IsDir():
	default:
		return nil // sockets, pipes and devices are not a server's code
	}
	if t.entries = append(t.entries, e); t.size > maxTree || len(t.entries) > maxEntries {
		return &sandbox.UsageError{
			Err:  fmt.Errorf("the server's directory %s has more than %d MiB or %d files", t.path, maxTree>>20, maxEntries),
			Hint: "put the server into a directory of its own, or into an image and name that by --image",
		}
	}
	return nil
}

// write yields the tree as an archive whose names begin at the container's root.
func (t *tree) write(w io.Writer) error {
	a := tar.NewWriter(w)
	for _, e := range t.entries {
		if err := t.writeEntry(a, e); err != nil {
			return fmt.Errorf("%s: %w", t.place(e.name), err)
		}
	}
	return a.Close()
}

func (t *tree) writeEntry(a *tar.Writer, e entry) error {
	name := filepath.ToSlash(t.place(e.name))
	h := &tar.Header{
		Name: strings.TrimPrefix(name, "/"),
		Uid:  t.uid, Gid: t.gid, ModTime: e.info.ModTime(), Format: tar.FormatPAX,
		// Readable for the target whatever it was here; setuid has no place in a copy.
		Mode: int64(e.info.Mode().Perm() | 0o600),
	}
	data, covered := t.covers[name]
	switch {
	case e.link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.link, 0o777
		return a.WriteHeader(h)
	case e.info.IsDir():
		h.Typeflag, h.Name, h.Mode = tar.TypeDir, h.Name+"/", h.Mode|0o100
		return a.WriteHeader(h)
	case covered:
		h.Typeflag, h.Size = tar.TypeReg, int64(len(data))
		if err := a.WriteHeader(h); err != nil {
			return err
		}
		_, err := a.Write(data)
		return err
	}
	return t.writeFile(a, h, e)
}

// writeFile copies a file's bytes: as many as there are now, even if another
// process writes to it meanwhile.
func (t *tree) writeFile(a *tar.Writer, h *tar.Header, e entry) error {
	f, err := t.root.OpenFile(e.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, e.info) {
		return nil // replaced since the walk, perhaps by a link or a pipe
	}
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := a.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(a, io.LimitReader(f, h.Size))
	if err != nil {
		return err
	}
	_, err = io.CopyN(a, zeros{}, h.Size-n) // it has shrunk
	return err
}

// zeros reads as endless zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
