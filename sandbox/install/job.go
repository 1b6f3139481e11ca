package install

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/registry"
)

// JobDir is the directory of a Job's files in its sandbox.
const JobDir = "/home/user/work"

// MaxFiles bounds what a Job's Files may take in the JSON of the configuration by which a sandbox gets them.
const MaxFiles = 60 << 20

// toolTime bounds one Job.
const toolTime = 10 * time.Minute

// A Job is one run of a client of registries: npm, pip or go. It runs as an ordinary
// user in a sandbox that holds nothing but Files and the programs, and that reaches
// nothing but the registries of its tool.
type Job struct {
	Tool registry.Tool
	// Programs are shown to the sandbox where they are there; one of them has to be.
	Programs []string
	// Script is what sh runs in the directory of the files, with Args. Its stdout is a
	// Job's only result.
	Script string
	Args   []string
	// Env are variables besides those by which the tool finds its registries.
	Env []string
	// Files are manifests and locks, by local paths.
	Files map[string][]byte
	// Before and Dated are those of registry.Options.
	Before time.Time
	Dated  func(file string, at time.Time)
}

// Result is how a Job ended.
type Result struct {
	// Code is the script's exit status, 127 where none of the programs is there.
	Code int
	// Stderr is the beginning of what it printed, at most 1 MiB.
	Stderr string
	// Refused are the hosts that the tool asked for and may not reach, escaped and bounded.
	Refused []string
	// Unreached are the registries that gave no whole answer, each with the reason, escaped and bounded.
	Unreached []string
}

// Sandbox runs a Job and writes the script's stdout to out, whose errors do not end it.
type Sandbox func(ctx context.Context, j Job, out io.Writer) (Result, error)

// run runs a Job. read takes its stdout, which is hostile, and need not take all.
func (f *Fetcher) run(ctx context.Context, j Job, read func(io.Reader) error) error {
	if f.Sandbox == nil {
		return errors.New("there is no sandbox to fetch in")
	}
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := read(r)
		_ = r.CloseWithError(io.ErrClosedPipe)
		done <- err
	}()
	res, err := f.Sandbox(ctx, j, w)
	_ = w.Close()
	readErr := <-done
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", j.Tool, context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("fetch with %s: %w", j.Tool, err)
	case res.Code == 127:
		return errNoTool
	case res.Code != 0:
		return &toolError{string(j.Tool), res.Stderr, res.Refused, res.Unreached, fmt.Errorf("exit status %d", res.Code)}
	case readErr != nil:
		return fmt.Errorf("read what %s fetched: %w", j.Tool, readErr)
	}
	return nil
}

// errNoTool says that none of a Job's programs is there.
var errNoTool = errors.New("it is not installed")

// into reads a whole stdout of at most so many bytes.
func into(out *[]byte, limit int64) func(io.Reader) error {
	return func(r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, limit+1))
		if err == nil && int64(len(data)) > limit {
			err = fmt.Errorf("it is more than %d bytes", limit)
		}
		*out = data
		return err
	}
}

// entries calls f for each regular file of a hostile archive, in its order. r yields
// the file's bytes, as many as its size says.
func entries(in io.Reader, f func(name string, size int64, r io.Reader) error) error {
	a, left := tar.NewReader(in), fullBudget()
	for {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := entryName(h.Name)
		if err != nil {
			return err
		}
		if err := left.take(uint64(max(h.Size, 0))); err != nil {
			return err
		}
		for key := range h.PAXRecords {
			if strings.HasPrefix(key, "GNU.sparse.") {
				return errors.New("it has a sparse file")
			}
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := f(name, h.Size, a); err != nil {
			return err
		}
	}
}

// maxManifests bounds the manifests and locks of one checkout, and what a Job prints of them, in
// bytes: all of them are in memory at once.
const maxManifests = maxLock + maxManifest

// files reads an archive of small files into memory.
func files(out map[string][]byte) func(io.Reader) error {
	return func(r io.Reader) error {
		left := int64(maxManifests)
		return entries(r, func(name string, size int64, r io.Reader) error {
			if left -= size; left < 0 || len(out) > 100 {
				return fmt.Errorf("%q is too large", name)
			}
			data, err := io.ReadAll(r)
			out[name] = data
			return err
		})
	}
}

// manifestFiles reads a checkout's files of some names, wherever in it they lie, for
// a client to resolve what they depend on: no other file of a checkout is shown to one.
func manifestFiles(root *os.Root, names ...string) (map[string][]byte, error) {
	const most = 2000
	out, left := map[string][]byte{}, int64(maxManifests)
	err := fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == "vendor" {
			return fs.SkipDir // others' manifests
		}
		if !e.Type().IsRegular() || !slices.Contains(names, e.Name()) {
			return nil
		}
		limit := int64(maxManifest)
		if e.Name() == lockNPM || e.Name() == shrinkwrapNPM {
			limit = maxLock
		}
		data, err := readFile(root, path, limit)
		if err != nil {
			return nil // the client says what it lacks
		}
		if left -= int64(len(data)); left < 0 {
			return fmt.Errorf("its manifests are larger than %d MiB together", maxManifests>>20)
		}
		if out[filepath.ToSlash(path)] = data; len(out) > most {
			return fmt.Errorf("it has more than %d manifests", most)
		}
		return nil
	})
	return out, err
}

// writeNew writes a new file below a root, with the directories above it, from memory.
func writeNew(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	return writeFile(root, bytes.NewReader(data), name, 0o644)
}
