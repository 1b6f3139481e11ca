package shown

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// Homes are the home directories of this user and of all people with an account here.
var Homes = sync.OnceValue(func() []string {
	var out []string
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, filepath.Clean(home))
	}
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return out
	}
	defer func() { _ = f.Close() }()
	return append(out, homesOf(f)...)
})

// The accounts of people, by the usual numbers.
const (
	firstPerson = 1000
	lastPerson  = 65533
	maxPasswd   = 1 << 20
)

// homesOf reads /etc/passwd: root's home and those of people.
func homesOf(passwd io.Reader) []string {
	var out []string
	lines := bufio.NewScanner(io.LimitReader(passwd, maxPasswd))
	for lines.Scan() {
		f := strings.Split(lines.Text(), ":")
		if len(f) < 6 || !filepath.IsAbs(f[5]) {
			continue
		}
		uid, err := strconv.Atoi(f[2])
		if err == nil && (uid == 0 || uid >= firstPerson && uid <= lastPerson) {
			out = append(out, filepath.Clean(f[5]))
		}
	}
	return out
}

// private are trees of the system that hold nothing of a server.
var private = []string{"/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/var/backups", "/var/log", "/var/mail", "/var/run", "/var/spool"}

// shared are directories that, like those right in them, hold many programs' things,
// and topLevel those right in "/" that do.
var (
	shared   = []string{"/usr", "/usr/local", "/var", "/nix"}
	topLevel = []string{
		"/bin", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/lost+found", "/media", "/mnt", "/opt", "/root", "/sbin", "/snap", "/srv", "/tmp", "/Users",
		"/work", "/workspace", "/workspaces",
	}
)

// ofHome are directories of a home that hold many programs' things.
var ofHome = []string{".local/bin", ".local/lib", ".local/share", ".local/state", "bin", "Desktop", "Documents", "Downloads", "Library", "Library/Application Support"}

// projects are what the top directory of one project has in it.
var projects = []string{"package.json", "pyproject.toml", "setup.py", "go.mod", "requirements.txt", "Cargo.toml", "pyvenv.cfg"}

// TooWide reports whether a directory may hold what is no part of one program: a
// home or what is above one, what a whole system shares, or somebody's credentials.
// No sandbox shows such a one. dir is absolute and clean.
func TooWide(dir string, homes []string) bool {
	if dir == "/" || slices.ContainsFunc(private, func(t string) bool { return Within(dir, t) }) || filepath.Dir(dir) == "/home" {
		return true
	}
	parent := filepath.Dir(dir)
	for _, home := range homes {
		if home == "/" {
			continue
		}
		rel, err := filepath.Rel(home, dir)
		if Within(home, dir) || err == nil && slices.Contains(ofHome, rel) {
			return true
		}
		if parent == home && strings.HasPrefix(filepath.Base(dir), ".") && !isProject(dir) {
			return true // a program's settings and state
		}
	}
	if (slices.Contains(topLevel, dir) || slices.Contains(shared, dir) || slices.Contains(shared, parent)) && (isSticky(dir) || !isProject(dir)) {
		return true
	}
	return InCredentials(dir) || isHome(dir)
}

// InCredentials reports whether a directory is made for credentials, or lies in such a one.
func InCredentials(dir string) bool {
	for d := dir; d != "/" && d != "."; d = filepath.Dir(d) {
		if secrets.Directory(d) {
			return true
		}
	}
	return false
}

// isHome reports whether a directory is somebody's home by what it holds.
func isHome(dir string) bool {
	return slices.ContainsFunc([]string{".ssh", ".gnupg"}, func(name string) bool {
		st, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && st.IsDir()
	})
}

func isProject(dir string) bool {
	return slices.ContainsFunc(projects, func(name string) bool {
		st, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && st.Mode().IsRegular()
	})
}

// isSticky says that everybody may put files there, as into /tmp.
func isSticky(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && st.Mode()&os.ModeSticky != 0
}
