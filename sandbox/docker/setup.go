package docker

import (
	"context"
	"crypto/rand"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

const (
	// defaultDisk bounds each writable file system when the Spec does not.
	defaultDisk = 512 << 20
	// headroom is what the agent and the tracer may use beside the target.
	headroom = 256 << 20
	// agentPath is where a system's first program lies; the agent knows itself by that name.
	agentPath = "/sbin/init"
)

// setup is everything that is known before the container exists.
type setup struct {
	spec sandbox.Spec
	// name is the container's, and no other's: a run may have several.
	name   string
	image  *image
	agent  *os.File
	tracer []rootfs.File
	strace []string
	places []place
	server *tree
	noIPv6 bool
}

// place is a directory that the target may write to: a file system in memory
// with a bound, so that no server fills the engine's disk.
type place struct {
	path string
	// own gives it to the target.
	own  bool
	mode uint32
	// volume makes it one that outlives the moments between two mounts of it, so
	// that the server's files can be copied to it.
	volume bool
	size   int64
}

// prepare finds out all that can go wrong before anything is made.
func prepare(ctx context.Context, cli *client.Client, spec sandbox.Spec) (*setup, error) {
	img, err := findImage(ctx, cli, spec.Image)
	if err != nil {
		return nil, err
	}
	p := &setup{spec: spec, image: img, name: "coalmine-" + rand.Text()}
	if err := p.gather(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// gather opens and reads what goes into the container.
func (p *setup) gather(ctx context.Context) (err error) {
	spec := p.spec
	view, err := spec.Look(ctx)
	if err != nil {
		return err
	}
	if view != nil {
		if p.server, err = readTree(spec, view); err != nil {
			return err
		}
	}
	p.places = layOut(spec, p.server)
	if spec.Straced() {
		if p.tracer, p.strace, err = bundle(); err != nil {
			return err
		}
	}
	p.agent, err = openAgent(spec.AgentPath, p.image)
	return err
}

func (p *setup) close() {
	if p.agent != nil {
		_ = p.agent.Close()
	}
	if p.server != nil {
		p.server.close()
	}
}

// machines are the ELF machines of Docker's architectures.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "386": elf.EM_386, "arm64": elf.EM_AARCH64, "arm": elf.EM_ARM,
	"ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "riscv64": elf.EM_RISCV,
}

// openAgent opens the program that becomes PID 1, and refuses one that could
// not run in the image.
func openAgent(name string, img *image) (*os.File, error) {
	if name == "" {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program's file: %w", err)
		}
		name = exe
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the agent: %w", err)
	}
	if err := checkAgent(f, img); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func checkAgent(f *os.File, img *image) error {
	program, err := elf.NewFile(f)
	if err != nil {
		return &sandbox.UsageError{
			Err:  fmt.Errorf("docker: %s is not a Linux program: %w", f.Name(), err),
			Hint: "on this system, name coalmine's Linux build as the agent",
		}
	}
	if want, ok := machines[img.arch]; ok && program.Machine != want {
		return &sandbox.UsageError{
			Err:  fmt.Errorf("docker: the image %s is for %s, coalmine for %s", img.name, img.arch, program.Machine),
			Hint: "use an image for this machine's processor: others cannot be traced",
		}
	}
	for _, s := range program.Progs {
		if s.Type == elf.PT_INTERP {
			return &sandbox.UsageError{
				Err:  fmt.Errorf("docker: %s is not statically linked and may not run in the image", f.Name()),
				Hint: "build it with CGO_ENABLED=0",
			}
		}
	}
	return nil
}

// bundle is the host's strace, complete enough to run in any image.
func bundle() ([]rootfs.File, []string, error) {
	files, prefix, err := strace.Bundle("")
	if err != nil {
		return nil, nil, &sandbox.UsageError{
			Err:  fmt.Errorf("docker: strace for the sandbox: %w", err),
			Hint: "install strace on this machine (apt install strace): an image's own is never used",
		}
	}
	return files, prefix, nil
}

// system are the trees of an image over which no empty file system may be put.
var system = []string{"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "usr", "var"}

// owned are the places that become the target's.
func (p *setup) owned() []rootfs.File {
	var out []rootfs.File
	for _, w := range p.places {
		if w.own {
			out = append(out, rootfs.File{Path: w.path, Dir: true, Mode: w.mode})
		}
	}
	return out
}

// diskBound is how many bytes may be written to each file system, the directories of the image together.
func diskBound(spec sandbox.Spec) int64 {
	if spec.Limits.Disk > 0 {
		return spec.Limits.Disk
	}
	return defaultDisk
}

// layOut finds the writable places: what every Linux gives to all users, HOME,
// the workspaces, and the server's own directory.
func layOut(spec sandbox.Spec, server *tree) []place {
	size := diskBound(spec)
	places := []place{
		{path: "/tmp", mode: 0o1777, size: size},
		{path: "/var/tmp", mode: 0o1777, size: size},
		{path: "/run/lock", mode: 0o1777, size: 5 << 20},
	}
	own := func(dir string) {
		dir = path.Clean(dir)
		first, _, _ := strings.Cut(strings.TrimPrefix(dir, "/"), "/")
		if !path.IsAbs(dir) || dir == "/" || slices.Contains(system, first) || enclosing(places, dir) != nil ||
			server != nil && shown.Within(dir, server.path) {
			return
		}
		places = append(places, place{path: dir, own: true, mode: 0o755, size: size})
	}
	own(spec.User.Home)
	for _, dir := range spec.Workspaces {
		own(dir)
	}
	if server == nil {
		return places
	}
	if server.isDir {
		return append(places, place{path: server.path, own: true, mode: 0o755, volume: true, size: size + server.size})
	}
	// A single file cannot have a file system of its own: the one around it becomes a volume.
	if around := enclosing(places, server.path); around != nil {
		around.volume = true
		around.size += server.size
	}
	return places
}

// enclosing is the innermost place that holds a path.
func enclosing(places []place, dir string) *place {
	var found *place
	for i := range places {
		if shown.Within(dir, places[i].path) && (found == nil || len(places[i].path) > len(found.path)) {
			found = &places[i]
		}
	}
	return found
}

// candidates are the files that a command may be, none where some of them may
// still be copied or planted.
func (p *setup) candidates(command string) []string {
	var files []string
	if path.IsAbs(command) {
		files = append(files, command)
	} else if !strings.Contains(command, "/") {
		for _, kv := range addPath(p.spec.Env, p.image.env) {
			if dirs, ok := strings.CutPrefix(kv, "PATH="); ok {
				files = files[:0]
				for dir := range strings.SplitSeq(dirs, ":") {
					files = append(files, path.Join(dir, command))
				}
			}
		}
	}
	for _, file := range files {
		if !path.IsAbs(file) || enclosing(p.places, file) != nil || p.server != nil && shown.Within(file, p.server.path) ||
			slices.ContainsFunc(p.spec.Files, func(f rootfs.File) bool { return f.Path == file }) {
			return nil
		}
	}
	return files
}
