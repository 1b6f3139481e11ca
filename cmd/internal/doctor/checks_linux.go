package doctor

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/local"
)

// namespaces starts a program in fresh namespaces, as the local sandbox would.
func namespaces(ctx context.Context) sandbox.Support {
	program, err := exec.LookPath("true")
	if err != nil {
		return unknown("there is no program to try them with")
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	restricted := local.Sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Geteuid() != 0
	if _, err := run(ctx, cmd); err != nil {
		switch {
		case ctx.Err() != nil:
			return unknown("%v", err)
		case local.Sysctl("user/max_user_namespaces") == "0":
			return no("sysctl user.max_user_namespaces=15000, or use docker", "switched off: user.max_user_namespaces is 0")
		case local.Sysctl("kernel/unprivileged_userns_clone") == "0" && os.Geteuid() != 0:
			return no("run it with sudo, or sysctl kernel.unprivileged_userns_clone=1, or use docker", "for root only: %v", err)
		case restricted:
			return no(apparmorHint, "AppArmor keeps them from ordinary users' programs: %v", err)
		}
		return no("run it with sudo, or use docker; in a container they are forbidden", "%v", err)
	}
	if restricted {
		if label, _ := os.ReadFile("/proc/self/attr/current"); strings.TrimSpace(string(label)) == "unconfined" {
			return no(apparmorHint, "AppArmor takes their capabilities from ordinary users' programs")
		}
		return unknown("AppArmor restricts them, but this program has a profile of its own")
	}
	if os.Geteuid() == 0 {
		return yes("user, mount, pid, net, ipc and uts, as root")
	}
	return yes("user, mount, pid, net, ipc and uts, as an ordinary user")
}

const apparmorHint = "run it with sudo, or use docker (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0)"

// landlock asks the kernel for its Landlock ABI. From 6 on, signals are scoped.
func landlock(context.Context) sandbox.Support {
	const version = 1 // LANDLOCK_CREATE_RULESET_VERSION
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	switch {
	case errno == 0:
		return yes("ABI %d", abi)
	case errors.Is(errno, unix.ENOSYS):
		return no("use a kernel from 5.13 on, built with CONFIG_SECURITY_LANDLOCK", "the kernel has no Landlock")
	case errors.Is(errno, unix.EOPNOTSUPP):
		return no("add landlock to the kernel's lsm= parameter", "Landlock was left out when the kernel was started")
	}
	return unknown("landlock_create_ruleset: %v", errno)
}

// tproxy reads the kernel's configuration: trying would load modules.
func tproxy(context.Context) sandbox.Support {
	const option, module = "CONFIG_NFT_TPROXY", "nft_tproxy"
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return unknown("uname: %v", err)
	}
	release := unix.ByteSliceToString(name.Release[:])
	value, from, err := kernelOption(option, release)
	if err != nil {
		return unknown("%v", err)
	}
	hint := "the sinkhole needs a kernel with nf_tables and " + option
	switch value {
	case "y":
		return yes("built in (%s)", from)
	case "m":
		for _, list := range []string{"/proc/modules", "/lib/modules/" + release + "/modules.dep", "/lib/modules/" + release + "/modules.builtin"} {
			if b, err := os.ReadFile(list); err == nil && strings.Contains(string(b), module) {
				return yes("module %s (%s)", module, list)
			}
		}
		return no("install the modules of kernel "+release, "the module %s is not installed", module)
	}
	return no(hint, "%s is not set (%s)", option, from)
}

// kernelOption looks an option up where distributions put the configuration.
func kernelOption(option, release string) (value, from string, err error) {
	for _, from := range []string{"/proc/config.gz", "/boot/config-" + release, "/lib/modules/" + release + "/config"} {
		f, err := os.Open(from)
		if err != nil {
			continue
		}
		value, err := readOption(f, option, strings.HasSuffix(from, ".gz"))
		_ = f.Close()
		if err == nil {
			return value, from, nil
		}
	}
	return "", "", errors.New("this kernel's configuration cannot be read")
}

func readOption(r io.Reader, option string, packed bool) (string, error) {
	if packed {
		z, err := gzip.NewReader(r)
		if err != nil {
			return "", err
		}
		r = z
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), option+"="); ok {
			return v, nil
		}
	}
	return "", lines.Err()
}

// bpf loads a program that does nothing, of the kind that the tracer uses.
func bpf(context.Context) sandbox.Support {
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return no("use a kernel built with CONFIG_DEBUG_INFO_BTF, or --tracer strace", "the kernel has no BTF: %v", err)
	}
	instructions := [2]uint64{0xb7, 0x95} // r0 = 0; exit
	licence := [4]byte{'G', 'P', 'L', 0}
	var pin runtime.Pinner // the kernel gets addresses that the collector does not see
	defer pin.Unpin()
	pin.Pin(&instructions)
	pin.Pin(&licence)
	attr := struct {
		kind, count uint32
		code, gpl   uint64
		rest        [13]uint64
	}{
		kind: unix.BPF_PROG_TYPE_RAW_TRACEPOINT, count: uint32(len(instructions)),
		code: uint64(uintptr(unsafe.Pointer(&instructions))), gpl: uint64(uintptr(unsafe.Pointer(&licence))),
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_LOAD, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	switch {
	case errno == 0:
		_ = unix.Close(int(fd))
		return yes("BTF, and programs can be loaded")
	case errors.Is(errno, unix.EPERM):
		return no("run it as root, or with CAP_BPF and CAP_PERFMON, or --tracer strace", "BTF, but programs cannot be loaded: %v", errno)
	case errors.Is(errno, unix.ENOSYS):
		return no("use --tracer strace", "the kernel has no bpf call")
	}
	return unknown("load a program: %v", errno)
}

// cgroups makes a group and removes it: permission bits do not tell.
func cgroups(context.Context) sandbox.Support {
	dirs, version, err := ownGroups()
	if err != nil {
		return unknown("%v", err)
	}
	hint := "limits are kept by the agent alone; for the kernel's, run it as root or in a scope: systemd-run --user --scope -p Delegate=yes coalmine …"
	for _, dir := range dirs {
		try := filepath.Join(dir, fmt.Sprintf("doctor-%d", os.Getpid()))
		err := os.Mkdir(try, 0o700)
		if err == nil {
			err = os.Remove(try)
		}
		switch {
		case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
			return no(hint, "%s: %v", version, err)
		case err != nil:
			return unknown("%s: %v", version, err)
		}
	}
	return yes("%s, memory and pids", version)
}

// ownGroups are this process's groups for memory and pids.
func ownGroups() (dirs []string, version string, err error) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, "", err
	}
	group := map[string]string{}
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for name := range strings.SplitSeq(parts[1], ",") {
			group[name] = parts[2]
		}
	}
	const root = "/sys/fs/cgroup"
	if memory, ok := group["memory"]; ok {
		pids, ok := group["pids"]
		if !ok {
			return nil, "", errors.New("cgroup v1 without pids")
		}
		return []string{filepath.Join(root, "memory", memory), filepath.Join(root, "pids", pids)}, "cgroup v1", nil
	}
	unified, ok := group[""]
	if !ok {
		return nil, "", errors.New("this process is in no group for memory")
	}
	dir := filepath.Join(root, unified)
	controllers, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil, "", fmt.Errorf("cgroup v2: %w", err)
	}
	for _, c := range []string{"memory", "pids"} {
		if !strings.Contains(" "+strings.TrimSpace(string(controllers))+" ", " "+c+" ") {
			return nil, "", fmt.Errorf("cgroup v2 without the controller %s in %s", c, dir)
		}
	}
	return []string{dir}, "cgroup v2", nil
}
