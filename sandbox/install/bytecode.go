package install

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Bounds of the modules that are compiled: one, all of them, and their number. What is beyond is compiled where it is
// imported, as without any.
const (
	maxModule  = 2 << 20
	maxModules = 96 << 20
	manyModule = 20_000
)

// compileScript compiles what is in "site" and prints an archive of what that made. A module that is no Python
// of this version is left out, as by an installer. The hash of its source stands in each file, and the interpreter
// compares it when it loads one.
const compileScript = `"$1" -I -m compileall -q --invalidation-mode checked-hash site >&2; exec tar -cf - --exclude='*.py' site`

// compile writes the bytecode of an environment's modules beside them, as pip does: else each start of the server
// compiles all that it imports, and writes as many files. An interpreter other than the server's compiles nothing.
func (p *pip) compile(ctx context.Context, root *os.Root, py *Python) error {
	if len(p.flags) > 0 {
		return nil
	}
	modules, err := modulesOf(root, py.packages())
	if err != nil || len(modules) == 0 {
		return err
	}
	return p.job(ctx, compileScript, modules, func(r io.Reader) error {
		return entries(r, func(name string, size int64, r io.Reader) error {
			source, ok := sourceOf(name)
			if _, known := modules[source]; !ok || !known || size > 4*maxModule {
				return nil // it is none of what was asked for
			}
			data, err := io.ReadAll(r)
			if err != nil {
				return err
			}
			return writeNew(root, filepath.Join(py.packages(), strings.TrimPrefix(name, "site/")), data)
		})
	}, p.python)
}

// modulesOf reads the modules below a directory, each under "site".
func modulesOf(root *os.Root, dir string) (map[string][]byte, error) {
	out, left := map[string][]byte{}, maxModules
	err := fs.WalkDir(root.FS(), filepath.ToSlash(dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path.Ext(name) != ".py" || len(out) >= manyModule {
			return err
		}
		data, err := readFile(root, name, maxModule)
		if err != nil || len(data) > left {
			return nil // it is compiled where it is imported
		}
		left -= len(data)
		out["site/"+strings.TrimPrefix(name, filepath.ToSlash(dir)+"/")] = data
		return nil
	})
	return out, err
}

// sourceOf is the module of a file of bytecode (PEP 3147).
func sourceOf(name string) (string, bool) {
	dir, file := path.Split(name)
	stem, _, tagged := strings.Cut(strings.TrimSuffix(file, ".pyc"), ".")
	if !tagged || !strings.HasSuffix(file, ".pyc") || path.Base(dir) != "__pycache__" {
		return "", false
	}
	return path.Join(path.Dir(strings.TrimSuffix(dir, "/")), stem+".py"), true
}
