package install

import (
	"context"
	"encoding/base64"
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
	return p.compileWithin(ctx, root, py, MaxFiles)
}

// compileWithin compiles in jobs, the files of each of which take at most so many bytes of the configuration.
func (p *pip) compileWithin(ctx context.Context, root *os.Root, py *Python, most int) error {
	modules, left := map[string][]byte{}, most
	flush := func() error {
		err := p.compileJob(ctx, root, py, modules)
		modules, left = map[string][]byte{}, most
		return err
	}
	err := eachModule(root, py.packages(), func(name string, data []byte) error {
		size := configSize(name, data)
		if size > left {
			if err := flush(); err != nil {
				return err
			}
		}
		left -= size
		modules[name] = data
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// configSize is the most that a file takes in the JSON of the agent's configuration: base64, and a path that may be escaped.
func configSize(name string, data []byte) int {
	return base64.StdEncoding.EncodedLen(len(data)) + 6*(len(JobDir)+len(name)) + 256
}

// compileJob compiles some modules in one sandbox.
func (p *pip) compileJob(ctx context.Context, root *os.Root, py *Python, modules map[string][]byte) error {
	if len(modules) == 0 {
		return nil
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

// eachModule reads the modules below a directory within the bounds, each under "site".
func eachModule(root *os.Root, dir string, each func(name string, data []byte) error) error {
	left, many := int64(maxModules), manyModule
	return fs.WalkDir(root.FS(), filepath.ToSlash(dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path.Ext(name) != ".py" {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxModule {
			return nil // it is compiled where it is imported
		}
		if info.Size() > left || many == 0 {
			return fs.SkipAll
		}
		data, err := readFile(root, name, maxModule)
		if err != nil {
			return nil // as above
		}
		left, many = left-int64(len(data)), many-1
		return each("site/"+strings.TrimPrefix(name, filepath.ToSlash(dir)+"/"), data)
	})
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
