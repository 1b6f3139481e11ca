package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Fetched is a target that had to be fetched. A build changes it before the
// server's first run; from then on it is only read.
type Fetched struct {
	// Tree is what was fetched, nil for an image; Image is nil for all others.
	Tree    *install.Tree
	Image   *docker.Image
	Bin     install.Bin
	Cache   install.Cache
	Package session.Package
	// Built is the directory of the tree after its build, "" without one.
	Built string
	// Copied is where an image's source was copied to, Top the server's own in it, "" for none.
	Copied, Top string
	// Unread says why it could not be copied.
	Unread error
}

// Mendable makes an error of the user's registries, or of what was to be fetched, one of the
// command line.
func Mendable(err error) error {
	var mend *registry.Error
	if errors.As(err, &mend) {
		return &sandbox.UsageError{Err: err, Hint: mend.Hint}
	}
	return err
}

// described is what the log says of the package.
func (in *Fetched) described() *session.Package {
	pkg := in.Package
	if in.Tree != nil {
		pkg.LinksLeftOut = in.Tree.Dropped[:min(len(in.Tree.Dropped), session.MaxLinksLeftOut)]
	}
	return &pkg
}

// ImageCommand is what an engine would run of an image: its entry point with its
// command, or with the arguments given.
func (in *Fetched) ImageCommand(o *Options) []string {
	entry, args := in.Image.Entrypoint, in.Image.Cmd
	if o.Entrypoint != "" {
		entry, args = []string{o.Entrypoint}, nil
	}
	if len(o.Args) > 0 {
		args = o.Args
	}
	return slices.Concat(entry, args)
}

// Remove removes what is this probe's alone. It may be called on nil.
func (in *Fetched) Remove() error {
	if in == nil {
		return nil
	}
	var err error
	if in.Tree != nil {
		err = in.Tree.Remove()
	}
	for _, dir := range []string{in.Built, in.Copied} {
		if dir != "" {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// Unmade reports whether the build should have made the server, and did not. It may be
// called on nil.
func (in *Fetched) Unmade() bool {
	return in != nil && in.Tree != nil && (in.Bin.Path == "" || in.Built == "" && (in.Tree.Pending || in.Tree.Native))
}

// Tools are the programs that the build starts.
func (in *Fetched) Tools() []string {
	switch {
	case in.Tree.Native:
		return []string{"go"}
	case in.Tree.Python != nil:
		return []string{in.Tree.Python.Executable}
	}
	return []string{"node", "npm"}
}

// vars are the variables that an image's own description and its command line give.
func (in *Fetched) vars(o *Options) []string {
	if in == nil || in.Image == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(in.Image.Env, o.Vars), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		return !ok || name == "" || name == "PATH" || name == "HOME"
	})
}

// id names the tree where it is shown: the same for the same files.
func (in *Fetched) id() string {
	sum := sha256.Sum256([]byte(in.Tree.Digest))
	return hex.EncodeToString(sum[:])[:16]
}

// place is where a package's runner would have put it.
func (in *Fetched) place(home string) string {
	switch in.Tree.Spec.Kind {
	case install.KindPyPI:
		return filepath.Join(home, ".cache", "uv", "archive-v0", in.id())
	case install.KindDirectory:
		return filepath.Join(home, "src", filepath.Base(in.Tree.Spec.Name))
	}
	return filepath.Join(home, ".npm", "_npx", in.id())
}

// command starts the package's program as its runner would.
func (in *Fetched) command(dir string, args []string) []string {
	bin := in.Bin.Path
	if in.Tree.Native {
		return append([]string{filepath.Join(dir, bin)}, args...)
	}
	if in.Tree.Python != nil {
		return append([]string{filepath.Join(dir, in.Tree.Env, "bin", "python"), filepath.Join(dir, bin)}, args...)
	}
	if link := filepath.Join("node_modules", ".bin", in.Bin.Name); in.Tree.Spec.Kind == install.KindNPM && exists(in.Tree.Host, link) {
		bin = link
	}
	return append([]string{"node", filepath.Join(dir, bin)}, args...)
}

// exists reports whether a tree of others' making has a file, or a link to one of its own.
func exists(top, name string) bool {
	root, err := os.OpenRoot(top)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	_, err = root.Stat(name)
	return err == nil
}

// runtime are the programs of the sandbox's system that run the package's: what the
// package's own tree says of that decides nothing.
func (in *Fetched) runtime() []string {
	if in.Tree.Python == nil {
		return nil
	}
	return []string{in.Tree.Python.Executable}
}

// host is the directory that the server's files come from.
func (in *Fetched) host() string {
	if in.Built != "" {
		return in.Built
	}
	return in.Tree.Host
}

// source is the package's own part of it, to be audited, and the directory whose
// files others wrote, "" for a checkout where it lies.
func (in *Fetched) source() (dir, top string) {
	switch {
	case in.Tree == nil:
		return in.Top, in.Copied
	case in.Tree.Root == "":
		return "", ""
	case in.Tree.Spec.Kind == install.KindDirectory:
		return in.Tree.Spec.Name, ""
	}
	return filepath.Join(in.host(), in.Tree.Root), in.host()
}

// files are what the place where the tree is shown has to be told: its scripts,
// and the way to it, which is the user's own.
func (in *Fetched) files(dir, home string) []rootfs.File {
	var out []rootfs.File
	for d := filepath.Dir(dir); strings.HasPrefix(d, home+"/"); d = filepath.Dir(d) {
		out = append(out, rootfs.File{Path: d, Dir: true, Mode: 0o755})
	}
	slices.Reverse(out)
	for _, s := range in.Tree.Scripts {
		out = append(out, rootfs.File{Path: filepath.Join(dir, s.Path), Mode: 0o755, Data: []byte(strings.ReplaceAll(s.Text, "{}", dir))})
	}
	return out
}
