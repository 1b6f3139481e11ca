package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// notOwn are directories of other people's code, or of none.
var notOwn = []string{".git", "node_modules", ".venv", "venv", "site-packages", "dist-packages", "__pycache__"}

// Source copies the source of an image's server into an empty directory of the
// host: the directory that its command starts in, or the package around the first
// file that the command names. Nothing of the image is started, no link is made,
// and what is in it is hostile. It returns the copy's top, "" where the image says
// of no directory that it is the server's, or has nothing in it but dependencies.
func Source(ctx context.Context, name string, img *Image, command []string, to, run string) (top string, err error) {
	cli, err := connect(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = cli.Close() }()
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	r, err := cli.ContainerCreate(whole, client.ContainerCreateOptions{Config: &container.Config{
		Image: name, Entrypoint: []string{"/never"}, NetworkDisabled: true, Labels: labels(run, "source-"+run),
	}})
	if err != nil {
		return "", explain(err, "look into the image "+name)
	}
	defer func() {
		whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
		defer cancel()
		err = errors.Join(err, remove(whole, cli, r.ID))
	}()
	dir := sourceDir(img.Dir, command, func(file string) (isDir, ok bool) {
		st, err := cli.ContainerStatPath(ctx, r.ID, client.ContainerStatPathOptions{Path: file})
		return st.Stat.Mode.IsDir(), err == nil
	})
	if dir == "" {
		return "", nil
	}
	got, err := cli.CopyFromContainer(ctx, r.ID, client.CopyFromContainerOptions{SourcePath: dir})
	if err != nil {
		return "", explain(err, "read the image "+name)
	}
	defer func() { _ = got.Content.Close() }()
	n, err := unpackSource(to, path.Base(dir), got.Content)
	if err != nil {
		return "", fmt.Errorf("read %s of the image %s: %w", dir, name, err)
	}
	if n == 0 {
		return "", nil
	}
	return filepath.Join(to, path.Base(dir)), nil
}

// sourceDir is the server's own directory in an image, "" for none that is known.
func sourceDir(workdir string, command []string, stat func(string) (isDir, ok bool)) string {
	for _, a := range command {
		file := path.Clean(a)
		if !path.IsAbs(file) {
			if strings.HasPrefix(a, "-") || !strings.Contains(a, ".") || workdir == "" {
				continue
			}
			file = path.Join(workdir, file)
		}
		if isDir, ok := stat(file); !ok || isDir || !slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".php"}, path.Ext(file)) {
			continue
		}
		own := path.Dir(file)
		for dir := own; !sandbox.TooWide(dir); dir = path.Dir(dir) {
			if slices.ContainsFunc(install.Manifests, func(m string) bool { _, ok := stat(path.Join(dir, m)); return ok }) {
				return dir
			}
		}
		if !sandbox.TooWide(own) {
			return own
		}
	}
	if workdir = path.Clean(workdir); path.IsAbs(workdir) && !sandbox.TooWide(workdir) {
		return workdir
	}
	return ""
}

// unpackSource takes the regular files below one directory of an archive that are
// the server's own, and counts them.
func unpackSource(to, top string, r io.Reader) (int, error) {
	root, err := os.OpenRoot(to)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }()
	a := tar.NewReader(r)
	files, left := 0, int64(maxTree)
	for n := 0; ; n++ {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return files, err
		}
		name := filepath.Clean(h.Name)
		if n > maxEntries {
			return files, fmt.Errorf("it has more than %d files", maxEntries)
		}
		if h.Typeflag != tar.TypeReg || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(notOwn, part) }) {
			continue
		}
		if !filepath.IsLocal(name) || !strings.HasPrefix(name, top+"/") {
			return files, errors.New("it names a file outside its directory")
		}
		if left -= h.Size; left < 0 {
			return files, fmt.Errorf("it has more than %d MiB", maxTree>>20)
		}
		if err := writeNew(root, name, a); err != nil {
			return files, err
		}
		files++
	}
}

func writeNew(root *os.Root, name string, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
