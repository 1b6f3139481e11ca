package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

const (
	// coverDepth, coverEntries and coverFiles bound the search for credentials.
	coverDepth   = 8
	coverEntries = 200_000
	coverFiles   = 4096
	// maxGitConfig bounds the configuration of a repository that is rewritten; a longer one is emptied.
	maxGitConfig = 256 << 10
)

// credentialFiles hold what a user authenticates with, wherever they lie.
var credentialFiles = []string{
	".git-credentials", ".npmrc", ".netrc", "_netrc", ".pypirc", ".yarnrc", ".yarnrc.yml", ".pgpass", ".my.cnf",
	".htpasswd", ".dockercfg", ".vault-token", ".terraformrc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
}

// credentialDirs hold nothing else.
var credentialDirs = []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud"}

// installedDirs hold what was published by others; the search leaves them out.
var installedDirs = []string{"node_modules", "site-packages", "dist-packages", "__pycache__"}

// CoverSecrets finds the user's own credentials in a host directory, from, that a
// sandbox will show as dir, and returns what to plant in their place: nothing for
// those that planted has a decoy for, an empty file for the rest, and a
// repository's configuration without what authenticates. An error means that the directory
// could not be searched to its end, and must not be shown.
func CoverSecrets(dir, from string, planted []rootfs.File) ([]rootfs.File, error) {
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return nil, err
	}
	c := &coverer{shown: dir, real: real}
	for _, f := range planted {
		if !f.Dir {
			c.done = append(c.done, f.Path)
		}
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	c.root = root
	if err := fs.WalkDir(root.FS(), ".", c.visit); err != nil {
		return nil, err
	}
	return c.files, nil
}

// coverer walks one tree.
type coverer struct {
	// shown is the tree's place in the sandbox, real on the host.
	shown, real string
	root        *os.Root
	entries     int
	done        []string
	files       []rootfs.File
}

func (c *coverer) visit(path string, e fs.DirEntry, err error) error {
	if err != nil {
		// What this user may not read is shown to nobody as this user.
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if c.entries++; c.entries > coverEntries || len(c.files) > coverFiles {
		return errors.New("too many files to search for credentials")
	}
	name := e.Name()
	switch {
	case e.IsDir() && (slices.Contains(installedDirs, name) || isVenv(c.root, path)):
		return fs.SkipDir
	case e.IsDir() && path != "." && slices.Contains(credentialDirs, name):
		return c.coverAll(path)
	case e.IsDir() && name == "objects" && isGit(path), e.IsDir() && strings.Count(path, "/") >= coverDepth:
		return fs.SkipDir
	case e.IsDir():
	case name == "config" && isGit(path):
		c.cover(path, c.gitConfig(path))
	case isCredential(name) || name == "credentials" && isGit(path):
		c.cover(path, nil)
		c.coverTarget(path, e)
	}
	return nil
}

func isCredential(name string) bool {
	return strings.HasPrefix(name, ".env") || strings.HasSuffix(name, ".env") || slices.Contains(credentialFiles, name)
}

// isGit says that a path is in a repository's administrative directory.
func isGit(path string) bool {
	return strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/")
}

// isVenv: a Python environment is installed, even one that is called ".env".
func isVenv(root *os.Root, path string) bool {
	_, err := root.Lstat(filepath.Join(path, "pyvenv.cfg"))
	return err == nil && path != "."
}

// coverAll covers every file below a directory of credentials.
func (c *coverer) coverAll(dir string) error {
	err := fs.WalkDir(c.root.FS(), dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if c.entries++; c.entries > coverEntries {
			return errors.New("too many files to search for credentials")
		}
		c.cover(path, nil)
		return nil
	})
	if err != nil {
		return err
	}
	return fs.SkipDir
}

func (c *coverer) cover(path string, data []byte) {
	shown := filepath.Join(c.shown, path)
	if slices.Contains(c.done, shown) {
		return
	}
	c.done = append(c.done, shown)
	c.files = append(c.files, rootfs.File{Path: shown, Mode: 0o600, Data: data})
}

// coverTarget covers what a link of a credential's name leads to, under whatever name it lies in the tree.
func (c *coverer) coverTarget(path string, e fs.DirEntry) {
	if e.Type() != fs.ModeSymlink {
		return
	}
	target, err := filepath.EvalSymlinks(filepath.Join(c.real, path))
	if err != nil {
		return
	}
	if rel, err := filepath.Rel(c.real, target); err == nil && filepath.IsLocal(rel) && isFile(target) {
		c.cover(rel, nil)
	}
}

var (
	gitSection  = regexp.MustCompile(`^\s*\[\s*([A-Za-z0-9.-]+)`)
	gitUserinfo = regexp.MustCompile(`(://)[^/\s"]*@`)
	gitSecret   = regexp.MustCompile(`(?i)extraheader|token|password|helper|cookie|sslkey|sslcert|askpass|sshcommand`)
	gitPublic   = []string{"core", "remote", "branch", "extensions", "submodule", "user", "init", "pull", "lfs"}
)

// gitConfig is a repository's configuration without credentials: the sections
// that say how it is laid out, and no address' user.
func (c *coverer) gitConfig(path string) []byte {
	f, err := c.root.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxGitConfig+1))
	if err != nil || len(data) > maxGitConfig {
		return nil
	}
	return publicGitConfig(data)
}

func publicGitConfig(data []byte) []byte {
	var out bytes.Buffer
	keep, continued := false, false
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxGitConfig+1)
	for lines.Scan() {
		line := lines.Text()
		wasContinued := continued
		continued = strings.HasSuffix(line, `\`)
		if m := gitSection.FindStringSubmatch(line); m != nil && !wasContinued {
			keep = slices.Contains(gitPublic, strings.ToLower(strings.SplitN(m[1], ".", 2)[0]))
		}
		// A value over several lines is dropped whole: nothing of the house's needs one.
		if !keep || wasContinued || continued || gitSecret.MatchString(line) {
			continue
		}
		out.WriteString(gitUserinfo.ReplaceAllString(line, "$1"))
		out.WriteByte('\n')
	}
	return out.Bytes()
}
