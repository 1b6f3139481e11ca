package rootfs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// deviceSize bounds /dev and /dev/shm's share of memory.
const (
	deviceSize = 1 << 20
	shmSize    = 256 << 20
)

// devices prepares /dev: the few harmless nodes, taken from the host since a
// user namespace may not make any. They are bound read-only: that does not keep
// anyone from writing to the device, only from changing the host's node.
func (b *builder) devices() error {
	dev, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, tmpfsOptions(deviceSize, 0o755)...)
	if err != nil {
		return err
	}
	b.add(preparedMount{target: "/dev", fd: dev, dir: true})
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		p, err := clone("/dev/"+name, "/dev/"+name, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return err
		}
		b.add(p)
	}
	shm, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC, tmpfsOptions(shmSize, 0o1777)...)
	if err != nil {
		return err
	}
	b.add(preparedMount{target: "/dev/shm", fd: shm, dir: true})
	pts, err := newFS("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "mode", "620", "ptmxmode", "666")
	if err != nil {
		return err
	}
	b.add(preparedMount{target: "/dev/pts", fd: pts, dir: true})
	return nil
}

// finishDev makes the links of an ordinary /dev.
func finishDev() error {
	for name, target := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd",
		"stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return fmt.Errorf("link /dev/%s: %w", name, err)
		}
	}
	return nil
}
