package prepare

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"time"
)

// Schema is the version of a Manifest.
const Schema = "coalmine/prepared/v1"

// The names in an archive.
const (
	manifestName = "prepared.json"
	answersDir   = "archives"
	imagesName   = "images.tar"
)

// The bounds of an archive: bytes of the manifest, of one answer and of all, and how many answers.
const (
	maxManifest = 1 << 20
	maxAnswer   = 4 << 30
	maxAll      = 64 << 30
	maxAnswers  = 200_000
)

// answerName is how the cache of package registry names an answer.
var answerName = regexp.MustCompile(`^[0-9a-f]{2}/[0-9a-f]{62}$`)

// Manifest says what an archive holds.
type Manifest struct {
	Schema string `json:"schema"`
	// Version is that of the program that packed it.
	Version string    `json:"version"`
	Created time.Time `json:"created"`
	Targets []Target  `json:"targets,omitempty"`
	// Images are names of images in the archive.
	Images []string `json:"images,omitempty"`
}

// Target is a package with all that it depends on.
type Target struct {
	// Name is what coalmine probe takes, with its version.
	Name string `json:"name"`
	// Digest is that of all that was fetched, "" for what a build is still to fetch.
	Digest string `json:"digest,omitempty"`
	// Missing says what is not in the archive, "" for nothing.
	Missing string `json:"missing,omitempty"`
}

// Write packs the answers below a directory. images is what an engine saved, nil for none, and size its length in bytes.
func Write(out io.Writer, m Manifest, answers fs.FS, images io.Reader, size int64) error {
	m.Schema = Schema
	head, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	w := tar.NewWriter(out)
	if err := add(w, manifestName, int64(len(head)), m.Created, func(to io.Writer) error {
		_, err := to.Write(head)
		return err
	}); err != nil {
		return err
	}
	err = fs.WalkDir(answers, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !answerName.MatchString(p) {
			return err
		}
		f, err := answers.Open(p)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return add(w, path.Join(answersDir, p), info.Size(), m.Created, func(to io.Writer) error {
			_, err := io.CopyN(to, f, info.Size())
			return err
		})
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("pack what registries answered: %w", err)
	}
	if images != nil {
		if err := add(w, imagesName, size, m.Created, func(to io.Writer) error {
			_, err := io.CopyN(to, images, size)
			return err
		}); err != nil {
			return err
		}
	}
	return w.Close()
}

func add(w *tar.Writer, name string, size int64, at time.Time, write func(io.Writer) error) error {
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at, Format: tar.FormatPAX})
	if err == nil {
		err = write(w)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

// ErrFormat says that a file is no archive of this package, or breaks its bounds.
var ErrFormat = errors.New("this is no archive of coalmine prepare")

// Read unpacks the answers below cache, which is made where it is absent, and hands the images to load. What is there
// already stays. The answers are checked when they are used, against the digests of their registries.
func Read(in io.Reader, cache string, load func(io.Reader) error) (*Manifest, error) {
	r := tar.NewReader(in)
	m, err := readManifest(r)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	root, err := os.OpenRoot(cache)
	if err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written by it
	all := int64(0)
	for n := 0; ; n++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		if all += h.Size; h.Typeflag != tar.TypeReg || h.Size < 0 || all > maxAll || n > maxAnswers {
			return nil, fmt.Errorf("%w: an entry is no file, or there are too many", ErrFormat)
		}
		dir, name := path.Split(h.Name)
		switch under := path.Base(dir) + "/" + name; {
		case h.Name == imagesName:
			err = load(r)
		case h.Name == answersDir+"/"+under && answerName.MatchString(under) && h.Size <= maxAnswer:
			err = keep(root, under, r)
		default:
			err = fmt.Errorf("%w: there is an entry of an unknown name", ErrFormat)
		}
		if err != nil {
			return nil, err
		}
	}
}

func readManifest(r *tar.Reader) (*Manifest, error) {
	h, err := r.Next()
	if err != nil || h.Name != manifestName || h.Size > maxManifest {
		return nil, ErrFormat
	}
	var m Manifest
	if err := json.NewDecoder(io.LimitReader(r, maxManifest)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if m.Schema != Schema {
		return nil, fmt.Errorf("%w of this version", ErrFormat)
	}
	return &m, nil
}

// keep writes one answer under another name first, so that nobody reads half of it.
func keep(root *os.Root, name string, from io.Reader) error {
	if _, err := root.Stat(name); err == nil {
		return nil
	}
	err := root.Mkdir(path.Dir(name), 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("unpack an answer: %w", err)
	}
	// The cache removes what is called so, and is left behind.
	draft := "tmp-" + path.Base(name)
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("unpack an answer: %w", err)
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(draft, name)
	}
	if err != nil {
		return fmt.Errorf("unpack an answer: %w", errors.Join(err, root.Remove(draft)))
	}
	return nil
}
