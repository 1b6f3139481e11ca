package shown

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// maxNamed bounds the credentials of a program's tree.
const maxNamed = 1000

// Named lists the files below a directory that hold credentials by their names, and the
// sockets there, as absolute paths. It reads no file and follows no link: it is for the trees
// of programs that the user has installed, of fifty thousand files and more.
func Named(dir string) ([]string, error) {
	l := &looker{top: dir}
	var out []string
	top := filepath.Clean(dir) + "/" // also where dir is a link
	err := filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if name != top && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)) {
				return nil
			}
			return err
		}
		if l.entries++; l.entries > maxEntries || len(out) > maxNamed {
			return fmt.Errorf("it has more than %d files, or %d credentials", maxEntries, maxNamed)
		}
		if e.Type() == fs.ModeSocket || e.Type().IsRegular() && l.credential(name[len(top):]) {
			out = append(out, name)
		}
		return nil
	})
	return out, err
}
