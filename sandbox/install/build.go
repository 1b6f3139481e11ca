package install

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The bounds of a built tree. What is beyond is an error: the tree would not be
// what the build made.
const (
	maxTree    = 2 << 30
	maxEntries = 500_000
	maxWords   = 64 << 10
	// maxName and maxDepth bound a file's name, in bytes and in parts: a short archive
	// could else make a tree so deep that removing it takes minutes.
	maxName  = 4096
	maxDepth = 128
)

// gypScript finds the node-gyp that npm brings, and the headers that Node.js was installed with: without a network a
// native module can be compiled against no others.
const gypScript = `npm=$(dirname "$(readlink -f "$(command -v npm)" 2>/dev/null)" 2>/dev/null)/..
gyp=$npm/node_modules/@npmcli/run-script/lib/node-gyp-bin
[ -f "$npm/node_modules/node-gyp/bin/node-gyp.js" ] && export npm_config_node_gyp="$npm/node_modules/node-gyp/bin/node-gyp.js"
headers=$(dirname "$(dirname "$(readlink -f "$NODE")")")
[ -f "$headers/include/node/node.h" ] && export npm_config_nodedir="$headers"
`

// quote makes a text one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// BuildScript is what a shell reads from its stdin to run the steps of a tree that
// is shown in dir: each in the environment that its installer would give it, its
// output on stderr, whether the one before succeeded or not. Then it writes the
// steps' exit statuses on one line, waits for a line, and writes the tree as an archive.
func (t *Tree) BuildScript(dir, initial string) string {
	var b strings.Builder
	vars := t.npmVars
	switch {
	case t.Native:
		vars = goVars
	case t.Python != nil:
		vars = t.pythonVars
	default:
		fmt.Fprintf(&b, "export INIT_CWD=%s npm_config_user_agent='npm/11.6.2 node/v22.21.0 linux x64 workspaces/false' npm_command=exec npm_config_yes=true\n", quote(initial))
		b.WriteString("NODE=$(command -v node) && export NODE npm_node_execpath=\"$NODE\"\n")
		b.WriteString(gypScript)
	}
	b.WriteString("said=''\n")
	for _, s := range t.Steps {
		fmt.Fprintf(&b, "(cd %s && %s exec sh -c %s) </dev/null >&2\n", quote(filepath.Join(dir, s.Dir)), vars(dir, s), quote(s.Command))
		b.WriteString("said=\"$said $?\"\n")
	}
	fmt.Fprintf(&b, "echo $said; read -r go; cd / && exec tar -C %s -cf - .\n", quote(dir))
	return b.String()
}

// npmVars are the variables that npm sets for a script.
func (t *Tree) npmVars(dir string, s Step) string {
	where := filepath.Join(dir, s.Dir)
	path := ""
	for d := where; within(d, dir); d = filepath.Dir(d) {
		path += filepath.Join(d, "node_modules/.bin") + ":"
	}
	return fmt.Sprintf("PATH=%s\"$gyp\":$PATH npm_lifecycle_event=%s npm_lifecycle_script=%s npm_package_name=%s npm_package_version=%s npm_package_json=%s",
		quote(path), quote(s.Event), quote(s.Command), quote(s.Package), quote(s.Version), quote(filepath.Join(where, manifestNPM)))
}

func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// Built reads what a BuildScript writes. All of it is hostile.
type Built struct {
	in *lineReader
}

// NewBuilt reads from a shell's stdout.
func NewBuilt(r io.Reader) *Built { return &Built{&lineReader{r: r}} }

// Statuses are the steps' exit statuses.
func (b *Built) Statuses(steps int) ([]int, error) {
	line, err := b.in.line()
	if err != nil {
		return nil, fmt.Errorf("read how the build's scripts ended: %w", err)
	}
	var out []int
	for _, w := range strings.Fields(line) {
		n, err := strconv.Atoi(w)
		if err != nil || len(out) == steps {
			return nil, errors.New("what the build printed is not how its scripts ended")
		}
		out = append(out, n)
	}
	if len(out) != steps {
		return nil, errors.New("what the build printed is not how its scripts ended")
	}
	return out, nil
}

// budget is what a tree of others' making may still have.
type budget struct {
	files int
	bytes uint64
}

func fullBudget() *budget { return &budget{maxEntries, maxTree} }

// take takes one file's share of it.
func (a *budget) take(size uint64) error {
	if a.files == 0 || size > a.bytes {
		return fmt.Errorf("it has more than %d MiB or %d files", maxTree>>20, maxEntries)
	}
	a.files--
	a.bytes -= size
	return nil
}

// Tree unpacks the archive of a tree that was shown at a path into an empty
// directory. It leaves devices and the like out, and returns the links that it left
// out since they lead out of the tree.
func (b *Built) Tree(dir, shown string) (dropped []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	in := &ending{r: b.in}
	if dropped, err = unpackTar(root, in, shown, entryName); err == nil && in.early {
		err = errors.New("the archive ends early")
	}
	if err != nil {
		return nil, fmt.Errorf("unpack what was built: %w", err)
	}
	return dropped, nil
}

// ending knows whether an archive lacks its end: that of a shell which was ended between two
// files is else one of fewer files.
type ending struct {
	r     io.Reader
	early bool
}

// Read implements io.Reader.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.early = e.early || n == 0 && errors.Is(err, io.EOF)
	return n, err
}

// unpackTar unpacks a hostile archive below a root, which is empty. place says where
// an entry goes by its name: "." and "" are left out. It returns the links that lead
// out, which it does not make.
func unpackTar(root *os.Root, r io.Reader, shown string, place func(string) (string, error)) (dropped []string, err error) {
	a, left := tar.NewReader(r), fullBudget()
	links := linker{root: root, shown: shown}
	for {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			err = links.finish()
			return links.dropped, err
		}
		if err != nil {
			return nil, err
		}
		if err := left.take(uint64(h.Size)); err != nil {
			return nil, err
		}
		name, err := place(h.Name)
		if err != nil {
			return nil, err
		}
		if name == "" || name == "." {
			continue
		}
		if h.Typeflag == tar.TypeLink {
			if h.Linkname, err = place(h.Linkname); err != nil {
				return nil, err
			}
		}
		if h.Typeflag == tar.TypeSymlink {
			links.add(name, h.Linkname)
			continue
		}
		if err := unpack(root, a, h, name); err != nil {
			return nil, err
		}
	}
}

// entryName is the name of an archive's entry, clean and local.
func entryName(name string) (string, error) {
	if len(name) > maxName || strings.Count(name, "/") > maxDepth {
		return "", errors.New("it has a file with too long a name")
	}
	if name = filepath.Clean(name); !filepath.IsLocal(name) {
		return "", errors.New("it names a file outside its directory")
	}
	return name, nil
}

// unpack makes one entry. A sparse file is refused: a short archive would fill the disk with it.
func unpack(root *os.Root, a io.Reader, h *tar.Header, name string) error {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return errors.New("it has a sparse file")
		}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeLink:
		target := filepath.Clean(h.Linkname)
		if info, err := root.Lstat(target); err != nil || !info.Mode().IsRegular() {
			return errors.New("a link to what is not there")
		}
		return root.Link(target, name)
	case tar.TypeReg:
		return writeFile(root, a, name, fs.FileMode(h.Mode)&0o777|0o600)
	}
	return nil
}

// writeFile writes a new file; a link of that name is not followed.
func writeFile(root *os.Root, r io.Reader, name string, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Chmod(name, mode)
}

// lineReader reads a first line byte by byte, so that nothing of what follows is lost.
type lineReader struct{ r io.Reader }

func (l *lineReader) Read(p []byte) (int, error) { return l.r.Read(p) }

func (l *lineReader) line() (string, error) {
	var b strings.Builder
	one := make([]byte, 1)
	for b.Len() < maxWords {
		if _, err := io.ReadFull(l.r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return b.String(), nil
		}
		b.WriteByte(one[0])
	}
	return "", errors.New("a line without an end")
}
