package registry

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxConfig bounds a file of settings, in bytes.
const maxConfig = 4 << 20

// Source is where the settings of a user are read from. Relative paths in it, and
// in the settings, are ignored: nothing depends on the working directory.
type Source struct {
	// Env is the user's environment as os.Environ returns it.
	Env []string
	// Home is the user's home directory.
	Home string
	// Prefixes are the sys.prefix of interpreters whose own pip.conf counts.
	Prefixes []string
	// System is what stands before the paths of system-wide files, such as /etc/pip.conf:
	// "" but in tests.
	System string
}

// environment is the user's variables, by name.
type environment map[string]string

func newEnvironment(list []string) environment {
	env := environment{}
	for _, pair := range list {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}

// first is the value of the first of the variables that is not empty, and its name.
func (e environment) first(names ...string) (value, name string) {
	for _, name := range names {
		if v := e[name]; v != "" {
			return v, name
		}
	}
	return "", ""
}

// lookPath finds a program in the absolute directories of PATH, "" for none.
func (e environment) lookPath(program string) string {
	for _, dir := range filepath.SplitList(e["PATH"]) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// readFile reads a file of the user's settings. A path that is not absolute, or at
// which nothing is, yields nil.
func readFile(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, nil
	}
	// Nobody writes to a named pipe: opening it must not wait.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, withHint("make it readable, or remove it", "read the settings in %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, withHint("make it readable, or remove it", "read the settings in %s: %w", path, err)
	}
	if info.IsDir() || path == os.DevNull {
		return nil, nil
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil, withHint("replace it by a file of settings", "%s is not a file of at most %d bytes", path, maxConfig)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return nil, withHint("make it readable, or remove it", "read the settings in %s: %w", path, err)
	}
	return data, nil
}

// badFile is the error of a file of settings that cannot be understood. It tells the
// line and not its content, which may be a secret.
func badFile(path string, line int, what string) error {
	return withHint("mend that file, or remove it", "the settings in %s cannot be read: line %d is %s", path, line, what)
}
