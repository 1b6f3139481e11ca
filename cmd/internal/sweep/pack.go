package sweep

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// The bounds on a run directory.
const (
	maxRunFiles = 100_000
	maxRunBytes = 4 << 30
)

// pack writes the regular files of a run directory as a tar, in the order of their names
// and without times, so that equal directories are equal archives.
func pack(dir *os.Root, to io.Writer) error {
	w := tar.NewWriter(to)
	err := fs.WalkDir(dir.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := dir.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = io.CopyN(w, f, info.Size())
		return err
	})
	if err != nil {
		return fmt.Errorf("pack the run: %w", err)
	}
	return w.Close()
}

// unpack writes the files of an archive below a directory, which is empty.
func unpack(from io.Reader, dir *os.Root) error {
	r := tar.NewReader(from)
	left := int64(maxRunBytes)
	for range maxRunFiles {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack a run: %w", err)
		}
		if left -= h.Size; h.Typeflag != tar.TypeReg || !fs.ValidPath(h.Name) || left < 0 {
			return fmt.Errorf("unpack a run: %.80q is not a file of a run, or all are too large", h.Name)
		}
		if err := unpackFile(r, dir, h.Name); err != nil {
			return fmt.Errorf("unpack a run: %w", err)
		}
	}
	return errors.New("unpack a run: it has too many files")
}

func unpackFile(from io.Reader, dir *os.Root, name string) (err error) {
	if err := dir.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, from)
	return err
}
