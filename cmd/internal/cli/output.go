package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeOutput writes a file that a flag names, or one of coalmine's own names in a directory
// that another may have filled. What stands there is replaced, and a link is not followed.
func writeOutput(path, data string, mode os.FileMode) error {
	if !strings.HasPrefix(filepath.Clean(path), "/dev/") {
		return replaceFile(path, data, mode)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, data)
	return errors.Join(err, f.Close())
}

// replaceFile puts a file in another's place in one step.
func replaceFile(path, data string, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".coalmine-*")
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
