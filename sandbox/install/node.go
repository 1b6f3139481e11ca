package install

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// archivesPlace holds fetched archives beside the tree that is laid out from them.
const archivesPlace = ".archives"

// integrities are the algorithms of npm's hashes, the strongest first.
var integrities = []string{"sha512", "sha384", "sha256", "sha1"}

// npmArchives are archives that npm fetched, in files below a root, by their hashes.
type npmArchives struct {
	root   *os.Root
	byHash map[string]string // "sha512-…" to a file's name
}

// read keeps each file of an archive, whatever its name, by the hashes of its bytes.
func (s *npmArchives) read(in io.Reader) error {
	if err := s.root.Mkdir(archivesPlace, 0o700); err != nil {
		return err
	}
	return entries(in, func(_ string, _ int64, r io.Reader) error {
		hashes := []hash.Hash{sha512.New(), sha512.New384(), sha256.New(), sha1.New()}
		all := make([]io.Writer, len(hashes))
		for i, h := range hashes {
			all[i] = h
		}
		name := filepath.Join(archivesPlace, fmt.Sprint(len(s.byHash)))
		if err := writeFile(s.root, io.TeeReader(r, io.MultiWriter(all...)), name, 0o600); err != nil {
			return err
		}
		for i, h := range hashes {
			s.byHash[integrities[i]+"-"+base64.StdEncoding.EncodeToString(h.Sum(nil))] = name
		}
		return nil
	})
}

// find is the archive of an integrity as a lock names it, "" where none was fetched:
// of several hashes the strongest counts.
func (s *npmArchives) find(integrity string) string {
	for _, algorithm := range integrities {
		found := false
		for _, word := range strings.Fields(integrity) {
			word, _, _ = strings.Cut(word, "?")
			if !strings.HasPrefix(word, algorithm+"-") {
				continue
			}
			if found = true; s.byHash[word] != "" {
				return s.byHash[word]
			}
		}
		if found {
			return ""
		}
	}
	return ""
}

// layOut makes the node_modules that a lock describes, each package from the archive
// that has the hash which the lock names. npm leaves out an optional package that does
// not fit this system.
func (s *npmArchives) layOut(l *lock) error {
	paths, left := lockedPaths(l), fullBudget()
	for _, path := range paths {
		p := l.Packages[path]
		if p.InBundle || p.Link || p.Integrity == "" || !installed(path) {
			continue
		}
		file := s.find(p.Integrity)
		if file == "" && (p.Optional || p.DevOptional) {
			continue
		}
		if file == "" {
			return withHint("npm cache verify; if it stays, the archive is not the one that was published", "no archive with the hash of %s was fetched", strings.TrimPrefix(path, "node_modules/"))
		}
		if err := s.unpack(file, path, left); err != nil {
			return fmt.Errorf("unpack %s: %w", strings.TrimPrefix(path, "node_modules/"), err)
		}
	}
	return errors.Join(s.link(l, paths), s.root.RemoveAll(archivesPlace))
}

// installed reports whether a path of a lock is that of a dependency, not of a
// package of the checkout's own.
func installed(path string) bool { return strings.Contains("/"+path, "/node_modules/") }

// lockedPaths are the packages of a lock, those that others lie in first.
func lockedPaths(l *lock) []string {
	var paths []string
	for path := range l.Packages {
		if path != "" && filepath.IsLocal(path) && filepath.Clean(path) == path {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		if d := strings.Count(a, "node_modules/") - strings.Count(b, "node_modules/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return paths
}

// unpack unpacks one archive as npm does: without its top directory, and without links.
func (s *npmArchives) unpack(file, to string, left *budget) error {
	f, err := s.root.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := errors.Join(s.root.RemoveAll(to), s.root.MkdirAll(to, 0o755)); err != nil {
		return err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	a := tar.NewReader(z)
	for {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := left.take(uint64(max(h.Size, 0))); err != nil {
			return err
		}
		name, err := withoutTop(h.Name)
		if err != nil {
			return err
		}
		if name == "" || h.Typeflag != tar.TypeReg {
			continue
		}
		name = filepath.Join(to, name)
		if err := errors.Join(s.root.MkdirAll(filepath.Dir(name), 0o755), s.root.RemoveAll(name)); err != nil {
			return err
		}
		h.Mode = h.Mode&0o111 | 0o644
		if err := unpack(s.root, a, h, name); err != nil {
			return err
		}
	}
}

// link makes the links of workspaces, and those of programs in node_modules/.bin.
func (s *npmArchives) link(l *lock, paths []string) error {
	links := linker{root: s.root}
	bins := map[string]bool{}
	for _, path := range paths {
		place, p := path, l.Packages[path]
		if p.Link {
			target, err := filepath.Rel(filepath.Dir(path), p.Resolved)
			if err != nil || !filepath.IsLocal(p.Resolved) {
				continue
			}
			links.add(path, target)
			place = p.Resolved
		}
		i := strings.LastIndex(path, "node_modules/")
		m, err := readManifest(s.root, place)
		if err != nil || i < 0 {
			continue // what does not fit this system is not there
		}
		top := path[:i+len("node_modules")]
		for _, b := range m.bins() {
			name := filepath.Join(top, ".bin", b.Name)
			target, err := filepath.Rel(filepath.Dir(name), filepath.Join(path, b.Path))
			if err != nil || bins[name] {
				continue
			}
			bins[name] = true
			links.add(name, target)
			if err := executable(s.root, filepath.Join(place, b.Path)); err != nil {
				return err
			}
		}
	}
	return links.finish()
}

// executable makes a regular file executable, where there is one.
func executable(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return nil // it lies below a file
	}
	return root.Chmod(name, info.Mode().Perm()|0o111)
}
