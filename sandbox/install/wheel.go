package install

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// layOut unpacks the wheels below "wheels" into an environment, without running
// an installer or anything of them.
func layOut(root *os.Root, py *Python) error {
	names, err := fs.Glob(root.FS(), "wheels/*.whl")
	if err != nil {
		return err
	}
	left := fullBudget()
	for _, name := range names {
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(unpackWheel(root, f, py, left), f.Close()); err != nil {
			return fmt.Errorf("unpack %s: %w", path.Base(name), err)
		}
	}
	return writeRuntime(root, py)
}

// writeRuntime writes what decides which interpreter an environment has and what
// that loads. It is the last to write into the environment.
func writeRuntime(root *os.Root, py *Python) error {
	if err := errors.Join(root.MkdirAll(py.packages(), 0o755), root.MkdirAll("bin", 0o755)); err != nil {
		return err
	}
	for _, name := range []string{"python", "python3", "python" + py.minor()} {
		if err := errors.Join(root.RemoveAll("bin/"+name), root.Symlink(py.Executable, "bin/"+name)); err != nil {
			return err
		}
	}
	return errors.Join(root.RemoveAll("pyvenv.cfg"), root.WriteFile("pyvenv.cfg", []byte(py.config()), 0o644))
}

var (
	interpreterName = lazyregexp.New(`^(?:python|pypy)[0-9.]*[a-z]?$`)
	libraryName     = lazyregexp.New(`^(?:python|pypy)[0-9.]+[a-z]?$`)
)

// decidesRuntime reports whether a file of an environment says which interpreter its
// programs have, or what the interpreter loads before any package. An installer
// writes such files; a wheel has no business with them.
func decidesRuntime(target string) bool {
	parts := strings.Split(target, "/")
	last := parts[len(parts)-1]
	switch {
	case target == "pyvenv.cfg", strings.HasSuffix(last, "._pth"):
		return true
	case parts[0] == "bin" && len(parts) > 1:
		return parts[1] == "pyvenv.cfg" || interpreterName.MatchString(parts[1])
	case (parts[0] == "lib" || parts[0] == "lib64") && len(parts) > 1:
		// The standard library has its place beside site-packages; lib64 is a link to lib.
		return strings.HasPrefix(parts[1], "python") && strings.HasSuffix(parts[1], ".zip") ||
			libraryName.MatchString(parts[1]) && (len(parts) < 3 || parts[2] != "site-packages")
	}
	return false
}

// unpackWheel unpacks one wheel into an environment. All of it is hostile.
func unpackWheel(root *os.Root, f *os.File, py *Python, left *budget) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := openZip(f, info.Size())
	if err != nil {
		return err
	}
	for _, e := range z.File {
		if err := left.take(e.UncompressedSize64); err != nil {
			return err
		}
		if _, err := entryName(e.Name); err != nil {
			return err
		}
		if e.FileInfo().IsDir() {
			continue // "NAME.data/" has no place of its own; files make their directories
		}
		target := wheelTarget(e.Name, py)
		if target == "" || !filepath.IsLocal(target) {
			return errors.New("it names a file outside its directory")
		}
		if decidesRuntime(target) {
			return fmt.Errorf("it holds %.100q, which decides what Python runs", target)
		}
		if !e.Mode().IsRegular() {
			return errors.New("it holds something other than files")
		}
		if err := unpackFile(root, e, target); err != nil {
			return err
		}
	}
	return nil
}

func unpackFile(root *os.Root, e *zip.File, target string) error {
	if err := root.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	// Of two wheels with one file the later has it, as with pip.
	if err := root.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r, err := e.Open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	mode := fs.FileMode(0o644)
	if e.Mode()&0o111 != 0 || strings.HasPrefix(target, "bin/") {
		mode = 0o755
	}
	return writeFile(root, io.LimitReader(r, int64(e.UncompressedSize64)), target, mode)
}

// wheelTarget is where in an environment an entry of a wheel goes, "" for nowhere.
func wheelTarget(name string, py *Python) string {
	dir, rest, ok := strings.Cut(name, "/")
	if !ok || !strings.HasSuffix(dir, ".data") {
		return filepath.Join(py.packages(), name)
	}
	scheme, rest, _ := strings.Cut(rest, "/")
	switch scheme {
	case "purelib", "platlib":
		return filepath.Join(py.packages(), rest)
	case "scripts":
		return filepath.Join("bin", rest)
	case "data":
		return filepath.Clean(rest)
	case "headers":
		return filepath.Join("include", rest)
	}
	return ""
}

// readPyPI finds the environment's programs, and which of them are the package's.
func (t *Tree) readPyPI() error {
	root, err := openBelow(t.Host, cmp.Or(t.Env, "."))
	if err != nil {
		return fmt.Errorf("open what was fetched: %w", err)
	}
	defer func() { _ = root.Close() }()
	infos, err := fs.Glob(root.FS(), filepath.Join(t.Python.packages(), "*.dist-info"))
	if err != nil {
		return err
	}
	for _, info := range infos {
		dist, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(info), ".dist-info"), "-")
		own := normalized(dist) == normalized(cmp.Or(t.Name, t.Spec.Name))
		data, err := readFile(root, filepath.Join(info, "entry_points.txt"), maxManifest)
		if err == nil {
			t.addScripts(string(data), own)
		}
		if own {
			t.ownFiles(root, info)
		}
	}
	slices.SortFunc(t.Bins, func(a, b Bin) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// entryPoint is "NAME = MODULE:FUNCTION [EXTRAS]".
var entryPoint = lazyregexp.New(`^([A-Za-z0-9._-]+)\s*=\s*([A-Za-z_][\w.]*)\s*:\s*([A-Za-z_][\w.]*)\s*(?:\[.*\])?$`)

// addScripts takes in the programs that a wheel's entry points ask for.
func (t *Tree) addScripts(text string, own bool) {
	section := ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		m := entryPoint.FindStringSubmatch(line)
		if m == nil || strings.Trim(m[1], ".") == "" || decidesRuntime("bin/"+m[1]) || section != "console_scripts" {
			continue
		}
		first, _, _ := strings.Cut(m[3], ".")
		script := Script{Path: filepath.Join(t.Env, "bin", m[1]), Text: fmt.Sprintf("#!%s/bin/python\n# -*- coding: utf-8 -*-\nimport re\nimport sys\nfrom %s import %s\nif __name__ == \"__main__\":\n    sys.argv[0] = re.sub(r\"(-script\\.pyw|\\.exe)?$\", \"\", sys.argv[0])\n    sys.exit(%s())\n", filepath.Join("{}", t.Env), m[2], first, m[3])}
		if !slices.ContainsFunc(t.Scripts, func(s Script) bool { return s.Path == script.Path }) {
			t.Scripts = append(t.Scripts, script)
		}
		if own {
			t.Bins = append(t.Bins, Bin{m[1], script.Path})
		}
	}
}

// ownFiles finds the package's source, the directory with most of its files, and
// the programs that it brings as files.
func (t *Tree) ownFiles(root *os.Root, info string) {
	data, err := readFile(root, filepath.Join(info, "RECORD"), maxLock)
	if err != nil {
		return
	}
	files := map[string]int{}
	r := csv.NewReader(strings.NewReader(string(data)))
	r.FieldsPerRecord = -1
	for {
		row, err := r.Read()
		if err != nil {
			break
		}
		top, rest, ok := strings.Cut(row[0], "/")
		switch {
		case !ok || strings.HasSuffix(top, ".dist-info"):
		case strings.HasSuffix(top, ".data"):
			if name, isScript := strings.CutPrefix(rest, "scripts/"); isScript && !strings.Contains(name, "/") && strings.Trim(name, ".") != "" {
				t.Bins = append(t.Bins, Bin{name, filepath.Join(t.Env, "bin", name)})
			}
		case strings.HasSuffix(row[0], ".py"):
			files[top]++
		}
	}
	best := ""
	for top, n := range files {
		if n > files[best] || n == files[best] && top < best {
			best = top
		}
	}
	if best != "" && filepath.IsLocal(best) && t.Spec.Kind != KindDirectory {
		t.Root = filepath.Join(t.Python.packages(), best)
	}
}
