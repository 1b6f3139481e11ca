package strace

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// BundleDir is where a bundle's files go inside the sandbox.
const BundleDir = "/.strace"

const (
	maxBundleFile  = 64 << 20
	maxBundleFiles = 64
)

// Bundle collects strace, its loader and its libraries from this machine, so that it
// runs in any root directory of the same architecture whatever that holds. name is strace's
// path, "" for the one in PATH. It returns the files, to be written where they say, and
// the argument prefix that starts strace there.
func Bundle(name string) ([]rootfs.File, []string, error) {
	if name == "" {
		found, err := shown.Program("strace")
		if err != nil {
			return nil, nil, errors.New("strace is not installed here: install it (apt install strace, dnf install strace, apk add strace)")
		}
		name = found
	}
	b := bundle{have: map[string]bool{}}
	program, err := b.add(name, "strace")
	if err != nil {
		return nil, nil, err
	}
	bin := path.Join(BundleDir, "strace")
	if program.interp == "" {
		return b.files, []string{bin}, nil
	}
	loader := filepath.Base(program.interp)
	b.like = program
	if _, err = b.add(program.interp, loader); err != nil {
		return nil, nil, err
	}
	if err = b.libraries(program); err != nil {
		return nil, nil, err
	}
	prefix := []string{path.Join(BundleDir, loader)}
	if strings.HasPrefix(loader, "ld-linux") {
		prefix = append(prefix, "--inhibit-cache")
	}
	return b.files, append(prefix, "--library-path", BundleDir, bin), nil
}

// bundle is a set of files being collected.
type bundle struct {
	files []rootfs.File
	have  map[string]bool
	like  *object
}

// object is what has to be known of an ELF file.
type object struct {
	file    string
	class   elf.Class
	machine elf.Machine
	interp  string
	needed  []string
	search  []string // DT_RUNPATH or DT_RPATH, expanded
}

// add reads a file into the bundle under a name.
func (b *bundle) add(file, as string) (*object, error) {
	if len(b.files) >= maxBundleFiles {
		return nil, fmt.Errorf("strace: %s: it needs more than %d files", file, maxBundleFiles)
	}
	o, err := readObject(file)
	if err != nil {
		return nil, fmt.Errorf("strace: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("strace: %w", err)
	}
	if info.Size() > maxBundleFile {
		return nil, fmt.Errorf("strace: %s: %d bytes are too many", file, info.Size())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("strace: %w", err)
	}
	b.files = append(b.files, rootfs.File{Path: path.Join(BundleDir, as), Mode: 0o555, Data: data, Root: true})
	b.have[as] = true
	return o, nil
}

// libraries adds everything that an object needs, and what that needs.
func (b *bundle) libraries(o *object) error {
	for _, name := range o.needed {
		base := filepath.Base(name)
		if b.have[base] {
			continue
		}
		file, err := b.find(name, o)
		if err != nil {
			return err
		}
		library, err := b.add(file, base)
		if err != nil {
			return err
		}
		if err = b.libraries(library); err != nil {
			return err
		}
	}
	return nil
}

// triplets name the directories that Debian and its like add to /lib.
var triplets = map[elf.Machine]string{
	elf.EM_X86_64:  "x86_64-linux-gnu",
	elf.EM_AARCH64: "aarch64-linux-gnu",
	elf.EM_386:     "i386-linux-gnu",
	elf.EM_ARM:     "arm-linux-gnueabihf",
	elf.EM_RISCV:   "riscv64-linux-gnu",
	elf.EM_PPC64:   "powerpc64le-linux-gnu",
	elf.EM_S390:    "s390x-linux-gnu",
}

// find looks for a library as the loader would, but for its cache.
func (b *bundle) find(name string, by *object) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	dirs := append([]string{}, by.search...)
	dirs = append(dirs, b.like.search...)
	dirs = append(dirs, filepath.Dir(b.like.interp))
	for _, root := range []string{"/lib", "/usr/lib"} {
		if t := triplets[by.machine]; t != "" {
			dirs = append(dirs, filepath.Join(root, t))
		}
		dirs = append(dirs, root+"64", root)
	}
	dirs = append(dirs, "/usr/local/lib")
	for _, dir := range dirs {
		file := filepath.Join(dir, name)
		o, err := readObject(file)
		if err == nil && o.class == by.class && o.machine == by.machine {
			return file, nil
		}
	}
	return "", fmt.Errorf("strace: %s needs %s, which is in none of %s", by.file, name, strings.Join(dirs, " "))
}

func readObject(file string) (*object, error) {
	f, err := elf.Open(file)
	if err != nil {
		var missing *fs.PathError
		if errors.As(err, &missing) {
			return nil, err
		}
		return nil, fmt.Errorf("%s is not a program: %w", file, err)
	}
	defer func() { _ = f.Close() }()
	o := &object{file: file, class: f.Class, machine: f.Machine}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz == 0 || p.Filesz > 4096 {
			continue
		}
		text := make([]byte, p.Filesz)
		if _, err = p.ReadAt(text, 0); err != nil {
			return nil, fmt.Errorf("%s: read the loader's name: %w", file, err)
		}
		o.interp = strings.TrimRight(string(text), "\x00")
	}
	// A static program has no dynamic section: that is an answer, not an error.
	o.needed, _ = f.ImportedLibraries()
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		values, _ := f.DynString(tag)
		for _, v := range values {
			for dir := range strings.SplitSeq(v, ":") {
				dir = strings.NewReplacer("${ORIGIN}", filepath.Dir(file), "$ORIGIN", filepath.Dir(file)).Replace(dir)
				if filepath.IsAbs(dir) {
					o.search = append(o.search, dir)
				}
			}
		}
	}
	return o, nil
}
