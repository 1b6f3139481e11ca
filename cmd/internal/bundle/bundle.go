package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/cmd/internal/attest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Schema is the version of a manifest's JSON form.
const Schema = "coalmine/bundle/v1"

// The last files of an archive.
const (
	manifestName  = "manifest.json"
	signatureName = "manifest.sig"
)

// The bounds of an archive: files, bytes of all of them, bytes of a manifest, and bytes of a
// line that is searched for secrets. A longer line is left out of a redacted file.
const (
	maxFiles    = 10_000
	maxBytes    = 8 << 30
	maxManifest = 16 << 20
	maxLine     = 1 << 20
)

// Manifest lists what an archive holds.
type Manifest struct {
	Schema   string    `json:"schema"`
	Version  string    `json:"coalmine"`
	Created  time.Time `json:"created"`
	Redacted bool      `json:"redacted"`
	Files    []File    `json:"files"`
}

// File is one file of an archive.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// Original is the hash before the redaction, "" where nothing was redacted.
	Original string `json:"original_sha256,omitempty"`
	// Log says whether a wire log had the hash that its last line names, "" for other files.
	Log session.Integrity `json:"log,omitempty"`
}

// Options say how to pack.
type Options struct {
	Version string
	Created time.Time
	// Redact takes secrets and personal data out.
	Redact bool
	// Key signs the manifest, nil for no signature.
	Key *attest.Signer
}

// Pack writes an archive of files and directories to w, each below its base name.
func Pack(w io.Writer, names []string, o Options) (*Manifest, error) {
	zip := gzip.NewWriter(w)
	p := &packer{tar: tar.NewWriter(zip), opts: o, manifest: &Manifest{Schema: Schema, Version: o.Version, Created: o.Created.UTC(), Redacted: o.Redact, Files: []File{}}, seen: map[string]bool{}}
	for _, name := range names {
		if err := p.add(name); err != nil {
			return nil, err
		}
	}
	data, err := json.MarshalIndent(p.manifest, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := p.write(manifestName, data); err != nil {
		return nil, err
	}
	if o.Key != nil {
		raw, err := o.Key.Sign(context.Background(), data) // no key is asked for over a wire
		if err != nil {
			return nil, err
		}
		text := base64.StdEncoding.EncodeToString(raw) + "\n"
		if err := p.write(signatureName, []byte(text)); err != nil {
			return nil, err
		}
	}
	return p.manifest, errors.Join(p.tar.Close(), zip.Close())
}

type packer struct {
	tar      *tar.Writer
	opts     Options
	manifest *Manifest
	seen     map[string]bool
	bytes    int64
}

// add packs a file, or all regular files of a directory.
func (p *packer) add(name string) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	info, err := os.Lstat(abs)
	if err != nil {
		return err
	}
	dir, only := abs, "."
	if !info.IsDir() {
		dir, only = filepath.Dir(abs), filepath.Base(abs)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), only, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", file)
		}
		as := file
		if only == "." {
			as = path.Join(filepath.Base(abs), filepath.ToSlash(file))
		}
		if err := p.file(root, file, as); err != nil {
			return fmt.Errorf("pack %s: %w", as, err)
		}
		return nil
	})
}

// file packs one file.
func (p *packer) file(root *os.Root, name, as string) error {
	if p.seen[as] || as == manifestName || as == signatureName {
		return errors.New("another file of the bundle has this name")
	}
	p.seen[as] = true
	if len(p.manifest.Files) >= maxFiles {
		return fmt.Errorf("a bundle holds at most %d files", maxFiles)
	}
	in, err := root.OpenFile(name, os.O_RDONLY|session.NoFollow, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	f := File{Path: as}
	if path.Ext(as) == ".jsonl" {
		if f.Log, err = session.CheckWireLog(in); err != nil {
			return err
		}
	}
	content, size, err := p.content(in, &f)
	if err != nil {
		return err
	}
	defer content.Close()
	if p.bytes += size; p.bytes > maxBytes {
		return fmt.Errorf("a bundle holds at most %d bytes", int64(maxBytes))
	}
	if err := p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: as, Mode: 0o600, Size: size, ModTime: p.opts.Created}); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(p.tar, sum), content, size); err != nil {
		return fmt.Errorf("it became shorter: %w", err)
	}
	f.SHA256, f.Bytes = hex.EncodeToString(sum.Sum(nil)), size
	p.manifest.Files = append(p.manifest.Files, f)
	return nil
}

// content is what is packed of a file: the file itself, or a copy without secrets.
func (p *packer) content(in *os.File, f *File) (io.ReadCloser, int64, error) {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, 0, err
	}
	if !p.opts.Redact {
		info, err := in.Stat()
		if err != nil {
			return nil, 0, err
		}
		return io.NopCloser(in), info.Size(), nil
	}
	temp, err := os.CreateTemp("", "coalmine-bundle")
	if err != nil {
		return nil, 0, err
	}
	_ = os.Remove(temp.Name()) // it is read through its descriptor
	sum := sha256.New()
	size, err := redact(temp, io.TeeReader(in, sum))
	if err == nil {
		_, err = temp.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, temp.Close())
	}
	f.Original = hex.EncodeToString(sum.Sum(nil))
	return temp, size, nil
}

// tooLong stands for a line that is not searched.
const tooLong = "[line withheld: it is too long to be searched for secrets]"

// redact copies a text line by line without its secrets.
func redact(w io.Writer, r io.Reader) (size int64, err error) {
	in, out := bufio.NewReaderSize(r, maxLine), bufio.NewWriter(w)
	var scanner pii.Scanner
	for {
		line, err := in.ReadSlice('\n')
		text := string(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			text = tooLong + "\n"
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
		default:
			body := strings.TrimRight(text, "\r\n")
			text = scanner.Redact(body) + text[len(body):]
		}
		n, writeErr := out.WriteString(text)
		if size += int64(n); writeErr != nil {
			return size, writeErr
		}
		if errors.Is(err, io.EOF) {
			return size, out.Flush()
		}
		if err != nil {
			return size, err
		}
	}
}

// write packs a file that is in memory.
func (p *packer) write(name string, data []byte) error {
	if err := p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: p.opts.Created}); err != nil {
		return err
	}
	_, err := p.tar.Write(data)
	return err
}

// Verified is what an archive turned out to be.
type Verified struct {
	Manifest *Manifest
	// Faults say what does not agree with the manifest, none for a whole archive.
	Faults []string
	// Signed says that the archive has a signature; Trusted that the key given made it.
	Signed, Trusted bool
}

// ErrFormat says that a file is no bundle.
var ErrFormat = errors.New("it is not a bundle of coalmine")

// Verify reads an archive and compares it with its manifest. One of keys has to be the
// signer's, none to leave the signature unchecked. Names in the result are the archive's, as they are.
func Verify(r io.Reader, keys []*attest.Verifier) (*Verified, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, ErrFormat
	}
	archive := tar.NewReader(zip)
	sums := map[string]string{}
	var manifest, signature []byte
	v := &Verified{}
	left := int64(maxBytes)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || h.Typeflag != tar.TypeReg || len(sums) > maxFiles {
			return nil, ErrFormat
		}
		if left -= h.Size; left < 0 {
			return nil, fmt.Errorf("it unpacks to more than %d bytes", int64(maxBytes))
		}
		switch h.Name {
		case manifestName:
			manifest, err = io.ReadAll(io.LimitReader(archive, maxManifest))
		case signatureName:
			signature, err = io.ReadAll(io.LimitReader(archive, 4096))
		default:
			sum := sha256.New()
			_, err = io.Copy(sum, archive)
			if _, twice := sums[h.Name]; twice {
				v.Faults = append(v.Faults, h.Name+" is in it twice")
			}
			sums[h.Name] = hex.EncodeToString(sum.Sum(nil))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	if json.Unmarshal(manifest, &v.Manifest) != nil || v.Manifest == nil || v.Manifest.Schema != Schema {
		return nil, ErrFormat
	}
	v.compare(sums)
	v.Signed = signature != nil
	if len(keys) > 0 {
		raw, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(signature)))
		signs := func(k *attest.Verifier) bool { return k.Verify(context.Background(), manifest, raw) == nil }
		if v.Trusted = err == nil && v.Signed && slices.ContainsFunc(keys, signs); !v.Trusted {
			v.Faults = append(v.Faults, "the signature is not that key's")
		}
	}
	return v, nil
}

// compare adds what the files and the manifest do not agree on.
func (v *Verified) compare(sums map[string]string) {
	for _, f := range v.Manifest.Files {
		got, there := sums[f.Path]
		switch {
		case !there:
			v.Faults = append(v.Faults, f.Path+" is missing")
		case got != f.SHA256:
			v.Faults = append(v.Faults, f.Path+" was changed")
		case f.Log == session.IntegrityChanged:
			v.Faults = append(v.Faults, f.Path+" had been changed before it was packed")
		}
		delete(sums, f.Path)
	}
	for name := range sums {
		v.Faults = append(v.Faults, name+" is not in the manifest")
	}
}
