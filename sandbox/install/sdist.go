package install

import (
	"compress/bzip2"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// findSource has pip look a source distribution up and fetch it as it fetches
// anything, with the user's indexes, proxies and credentials. pip's own commands
// would run the archive's code to learn what it depends on; this stops before.
const findSource = `
import hashlib, json, sys
from pip._internal.cli.cmdoptions import make_target_python
from pip._internal.commands import create_command
from pip._vendor.packaging.specifiers import SpecifierSet
name, version, out, limit = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
command = create_command("download")
options, _ = command.parse_args(["--no-deps", "--no-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"] + sys.argv[5:])
with command.main_context():
    session = command.get_default_session(options)
    finder = command._build_package_finder(options=options, session=session, target_python=make_target_python(options))
    found = finder.find_best_candidate(name, specifier=SpecifierSet("==" + version if version else "")).best_candidate
    if found is None:
        sys.exit("no source distribution")
    link = found.link
    answer = session.get(link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)
    answer.raise_for_status()
    whole, size = hashlib.sha256(), 0
    with open(out, "xb") as f:
        for part in answer.iter_content(1 << 16):
            size += len(part)
            if size > limit:
                sys.exit("too large")
            whole.update(part)
            f.write(part)
print(json.dumps({"version": str(found.version), "file": link.filename, "sha256": whole.hexdigest(),
    "named": link.hash if link.hash_name == "sha256" else "", "local": link.scheme == "file"}))
`

// maxArchive bounds a source distribution, in bytes.
const maxArchive = 512 << 20

// sourced is a source distribution that was fetched.
type sourced struct {
	Version string `json:"version"`
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	// Named is the hash that the index gives; a file of the user's own needs none.
	Named string `json:"named"`
	Local bool   `json:"local"`
}

// source fetches a package's source distribution into a file below a root, and runs nothing of it.
func (p *pip) source(ctx context.Context, root *os.Root, s Spec, file string) (*sourced, error) {
	name, _, _ := strings.Cut(s.Name, "[")
	args := append([]string{p.python, findSource, name, s.Version, "archive", fmt.Sprint(maxArchive)}, p.flags...)
	var told []byte
	sum := sha256.New()
	err := p.job(ctx, `python=$1 find=$2; shift 2; "$python" -c "$find" "$@" >found.json || exit 1; exec tar -cf - found.json archive`, nil, func(r io.Reader) error {
		return entries(r, func(name string, size int64, r io.Reader) error {
			var err error
			switch {
			case name == "found.json" && size <= maxWords:
				told, err = io.ReadAll(r)
			case name == "archive" && size <= maxArchive:
				err = writeFile(root, io.TeeReader(r, sum), file, 0o600)
			default:
				err = fmt.Errorf("%.100q is too large, or was not asked for", name)
			}
			return err
		})
	}, args...)
	if err != nil {
		return nil, err
	}
	var got sourced
	if err := json.Unmarshal(told, &got); err != nil {
		return nil, fmt.Errorf("read what pip found: %w", err)
	}
	got.SHA256 = hex.EncodeToString(sum.Sum(nil))
	switch {
	case got.Named == "" && !got.Local:
		return nil, withHint("choose a version that has a wheel", "%s: the index names no hash of its source distribution, which is not fetched", s)
	case got.Named != "" && got.Named != got.SHA256:
		return nil, withHint("pip cache purge; if it stays, the archive is not the one that was published", "%s: its source distribution does not have the hash that the index names", s)
	case !pypiVer.MatchString(got.Version):
		return nil, fmt.Errorf("%s: %q is not a version", s, got.Version)
	}
	return &got, nil
}

// sourceDistribution fetches a package that has no wheel, and what its build needs.
// why is the error that says so.
func (f *Fetcher) sourceDistribution(ctx context.Context, s Spec, py *Python, why error) (t *Tree, err error) {
	temp, err := f.Cache.Temp()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = removeAll(temp)
		}
	}()
	p, err := f.findPip(ctx, py)
	if err != nil {
		return nil, err
	}
	f.progress("fetching the source of " + s.String())
	cache, err := os.OpenRoot(f.Cache.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = cache.Close() }()
	archive := filepath.Base(temp) + ".archive"
	defer func() { _ = cache.Remove(archive) }()
	got, err := p.source(ctx, cache, s, archive)
	if err != nil {
		var own *Error
		if errors.As(err, &own) || ctx.Err() != nil {
			return nil, err
		}
		return nil, why // there is none, or it cannot be fetched
	}
	dropped, err := unpackSource(filepath.Join(f.Cache.Dir, archive), got.File, temp)
	if err != nil {
		return nil, fmt.Errorf("unpack the source of %s: %w", s, err)
	}
	name, _, _ := strings.Cut(s.Name, "[")
	t = &Tree{Spec: s, Name: name, Version: got.Version, Integrity: "sha256:" + got.SHA256, Host: temp, Own: true, Root: ".", Python: py, Dropped: dropped}
	root, err := os.OpenRoot(temp)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	project, err := readProject(root)
	if err != nil {
		return nil, withHint("", "%s: its pyproject.toml cannot be read: %w", s, err)
	}
	if err := f.prepareBuild(ctx, t, root, project); err != nil {
		return nil, err
	}
	t.Env = filepath.Join(buildPlace, "env")
	t.Digest = digest([]string{normalized(name) + " " + got.Version + " " + got.SHA256, t.Digest})
	t.Packages++
	t.await()
	return t, nil
}

// unpackSource unpacks an archive of one directory, without that directory's name,
// and returns the links that it left out since they lead out.
func unpackSource(archive, name, to string) (dropped []string, err error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	switch {
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, err
		}
		return unpackTar(root, z, "", withoutTop)
	case strings.HasSuffix(name, ".tar.bz2"):
		return unpackTar(root, bzip2.NewReader(f), "", withoutTop)
	case strings.HasSuffix(name, ".zip"):
		return nil, unpackSourceZip(root, f)
	}
	return nil, fmt.Errorf("it is neither a zip nor a tar archive: %q", filepath.Ext(name))
}

// withoutTop is a name of an archive below its one directory, "" for what is not below it.
func withoutTop(name string) (string, error) {
	name, err := entryName(name)
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(name, "/")
	return rest, nil
}

func unpackSourceZip(root *os.Root, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := openZip(f, info.Size())
	if err != nil {
		return err
	}
	left := fullBudget()
	for _, e := range z.File {
		name, err := withoutTop(e.Name)
		if err != nil {
			return err
		}
		if err := left.take(e.UncompressedSize64); err != nil {
			return err
		}
		if name == "" || !e.Mode().IsRegular() {
			continue
		}
		if err := unpackFile(root, e, name); err != nil {
			return err
		}
	}
	return nil
}
