package shown

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxNamed bounds the credentials of a program's tree.
const maxNamed = 1000

// Named lists the files below a directory that hold credentials by their names, and the
// sockets there, as absolute paths. It reads no file: it is for the trees of programs
// that the user has installed.
func Named(dir string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	l := &looker{top: dir, root: root}
	var out []string
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if name != "." && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)) {
				return nil
			}
			return err
		}
		if l.entries++; l.entries > maxEntries || len(out) > maxNamed {
			return fmt.Errorf("it has more than %d files, or %d credentials", maxEntries, maxNamed)
		}
		if e.Type().IsRegular() && l.credential(name) || e.Type() == fs.ModeSocket {
			out = append(out, filepath.Join(dir, name))
		}
		return nil
	})
	return out, err
}
