package audit

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bounds of an archive: its own bytes, what it unpacks to, and what is kept of a tar.
const (
	MaxArchive  = 64 << 20
	maxUnpacked = 1 << 30
	maxKept     = 160 << 20
)

// IsArchive reports whether a file is an archive that Archive reads, by its name.
func IsArchive(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{".tgz", ".tar.gz", ".whl", ".zip", ".mcpb", ".dxt", ".crate"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// Archive audits an archive in memory: a tar that gzip packed, or a ZIP, such as a wheel or a
// bundle. Nothing is written, and its links are not followed. An archive that unpacks to
// more than the bounds is an error. It is never the reader's own, whatever the options say, and all of
// it is the source's: what it brings of other people's code, it runs.
func Archive(ctx context.Context, name string, data []byte, o Options) (*Report, error) {
	o.Own, o.Tracked = false, func(string) bool { return true }
	if len(data) > MaxArchive {
		return nil, fmt.Errorf("audit %s: the archive is larger than %d bytes", name, MaxArchive)
	}
	skipped := 0
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		var err error
		if data, skipped, err = repack(ctx, data); err != nil {
			return nil, fmt.Errorf("audit %s: %w", name, err)
		}
	}
	z, err := openZip(data)
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", name, err)
	}
	r, err := Tree(ctx, within(z), name, o)
	if err == nil {
		r.Skipped += skipped
	}
	return r, err
}

// openZip opens a ZIP whose directory and contents keep to the bounds.
func openZip(data []byte) (*zip.Reader, error) {
	// archive/zip holds the whole directory, whatever its length.
	if bytes.Count(data, []byte("PK\x01\x02")) > maxFiles {
		return nil, fmt.Errorf("the archive has more than %d entries", maxFiles)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	total := uint64(0)
	for _, f := range z.File {
		if total += f.UncompressedSize64; f.UncompressedSize64 > maxUnpacked || total > maxUnpacked {
			return nil, fmt.Errorf("the archive unpacks to more than %d bytes", maxUnpacked)
		}
	}
	tellApart(z)
	return z, nil
}

// plain is the name of an entry as a path within the archive.
func plain(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ToValidUTF8(name, "\ufffd")), "/")
}

// tellApart gives entries of one name, and those whose name is no path, names of their own:
// archive/zip reads no directory that has any. Of several alike, the last one keeps the name, for it is what unpacking leaves.
func tellApart(z *zip.Reader) {
	parents, seen := map[string]bool{}, map[string]bool{}
	for _, f := range z.File {
		name, isDir := plain(strings.ReplaceAll(f.Name, `\`, "/")), strings.HasSuffix(f.Name, "/")
		if f.Name = name; isDir {
			f.Name += "/"
		}
		for dir := path.Dir(name); dir != "." && !parents[dir]; dir = path.Dir(dir) {
			parents[dir] = true
		}
	}
	for i, f := range slices.Backward(z.File) {
		name := strings.TrimSuffix(f.Name, "/")
		switch isDir := strings.HasSuffix(f.Name, "/"); {
		case name == "":
		case !seen[name] && (isDir || !parents[name]):
			seen[name] = true
		case isDir:
			f.Name = "" // it is passed over
		default:
			f.Name = fmt.Sprintf("duplicate-%d/%s", i, name)
		}
	}
}

// within is the one directory that all of an archive lies in, as npm's "package", or the
// whole of it.
func within(z *zip.Reader) fs.FS {
	list, err := fs.ReadDir(z, ".")
	if err != nil || len(list) != 1 || !list[0].IsDir() {
		return z
	}
	if sub, err := fs.Sub(z, list[0].Name()); err == nil {
		return sub
	}
	return z
}

// repack makes a ZIP, which can be read in any order, of a tar that gzip packed. It counts
// the files that are too large or that are no files.
func repack(ctx context.Context, data []byte) (out []byte, skipped int, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, 0, fmt.Errorf("open the archive: %w", err)
	}
	bound := &io.LimitedReader{R: z, N: maxUnpacked}
	t := tar.NewReader(bound)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case ctx.Err() != nil:
			return nil, 0, ctx.Err()
		case errors.Is(err, io.EOF) && bound.N > 0:
			if err := w.Close(); err != nil {
				return nil, 0, fmt.Errorf("keep the archive: %w", err)
			}
			return b.Bytes(), skipped, nil
		case bound.N <= 0 || n > maxFiles || b.Len() > maxKept:
			return nil, 0, fmt.Errorf("the archive unpacks to more than %d bytes, %d of them to be read, or has more than %d entries", maxUnpacked, maxKept, maxFiles)
		case err != nil:
			return nil, 0, fmt.Errorf("read the archive: %w", err)
		}
		name := plain(h.Name)
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader || name == "" {
			continue
		}
		if h.Typeflag != tar.TypeReg || h.Size > maxFile || !fs.ValidPath(name) {
			skipped++
			continue
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, 0, err
		}
		if _, err := io.Copy(f, t); err != nil {
			return nil, 0, fmt.Errorf("read the archive: %w", err)
		}
	}
}
