package agent

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// maxAccounts bounds a list of users that an image brings along.
const maxAccounts = 1 << 20

// account writes the target's user into the image's lists, so that who looks
// his name or his HOME up finds what the environment says. Another of his id,
// whom images have, goes: it is he who would be found.
func account(u User) error {
	name := u.Name
	if name == "" || strings.ContainsAny(name+u.Home, ":\n\x00") {
		return nil
	}
	for _, list := range []struct{ path, id, line, least string }{
		{"/etc/passwd", fmt.Sprint(u.UID), fmt.Sprintf("%s:x:%d:%d:%s,,,:%s:/bin/bash", name, u.UID, u.GID, name, u.Home), "root:x:0:0:root:/root:/bin/sh\n"},
		{"/etc/group", fmt.Sprint(u.GID), fmt.Sprintf("%s:x:%d:", name, u.GID), "root:x:0:\n"},
	} {
		old, err := readList(list.path)
		if err != nil {
			return fmt.Errorf("read %s: %w", list.path, err)
		}
		if old == "" {
			old = list.least
		}
		text := listed(old, name, list.id, list.line)
		if err := rootfs.Plant([]rootfs.File{{Path: list.path, Mode: 0o644, Data: []byte(text), Root: true}}, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// readList reads a file of an image, "" where there is none; a link or a pipe
// of that name is none.
func readList(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil //nolint:nilerr // what cannot be opened is replaced
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxAccounts))
	return string(b), err
}

// listed is a list of users or groups with one more, and without those of the
// same name or id.
func listed(old, name, id, line string) string {
	var b strings.Builder
	for l := range strings.Lines(old) {
		fields := strings.Split(strings.TrimRight(l, "\n"), ":")
		if len(fields) > 2 && fields[0] != name && fields[2] != id {
			b.WriteString(strings.Join(fields, ":") + "\n")
		}
	}
	return b.String() + line + "\n"
}
