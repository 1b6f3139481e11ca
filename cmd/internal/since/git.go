package since

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

const (
	// patience bounds each question to git.
	patience = 30 * time.Second
	// maxAnswer bounds its answers but files, in bytes.
	maxAnswer = 256 << 20
)

// git asks the user's git about objects of a repository. It works in a git
// directory of our own (mirror.go), so that it reads no setting, hook, attribute,
// alternate or index of the repository.
type git struct {
	program string
	dir     string
}

func newGit(r *repository) (*git, error) {
	program, err := shown.Git(r.top)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", dirPrefix+strconv.Itoa(os.Getpid())+"-*")
	if err != nil {
		return nil, err
	}
	g := &git{program: program, dir: dir}
	if err := mirror(r, dir); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *git) close() error { return os.RemoveAll(g.dir) }

// dirPrefix begins the names of our git directories; the process's id follows.
const dirPrefix = "coalmine-git-"

// Clean removes what processes of this user left that were killed before Close,
// and names it.
func Clean() (removed []string, err error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	if err != nil {
		return nil, err
	}
	for _, dir := range left {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dirPrefix), "-")
		pid, err := strconv.Atoi(id)
		if err != nil || pid <= 0 || !gone(pid) {
			continue
		}
		if owner, err := uid(dir); err != nil || owner != os.Geteuid() {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return removed, err
		}
		removed = append(removed, dir)
	}
	return removed, nil
}

// environment is all that git is given. Nothing of the user's is passed on: each
// GIT_ variable is a setting.
func (g *git) environment() []string {
	return []string{
		"PATH=" + filepath.Dir(g.program) + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C",
		"HOME=" + g.dir, "XDG_CONFIG_HOME=" + g.dir,
		"GIT_DIR=" + g.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_ADVICE=0", "GIT_ALLOW_PROTOCOL=none",
	}
}

// settings are all that git reads as configuration. The caches that it would
// believe unread (commit graph, index of packs) are off.
const settings = `[core]
	repositoryFormatVersion = 1
	bare = true
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	fsmonitor = false
	commitGraph = false
	multiPackIndex = false
	warnAmbiguousRefs = true
[safe]
	bareRepository = explicit
[protocol]
	allow = never
`

// output asks one question and returns an answer of at most limit bytes. A warning is
// an error.
func (g *git) output(ctx context.Context, limit int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.program, append([]string{"--no-pager", "--literal-pathspecs", "-c", "safe.bareRepository=explicit"}, args...)...)
	cmd.Dir, cmd.Env = g.dir, g.environment()
	cmd.WaitDelay = time.Second
	said := &bounded{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	data, readErr := io.ReadAll(io.LimitReader(out, limit+1))
	if int64(len(data)) > limit {
		cancel()
		_ = cmd.Wait()
		return nil, fmt.Errorf("git's answer is longer than %d bytes", limit)
	}
	err = errors.Join(readErr, cmd.Wait())
	if line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n"); err != nil || line != "" {
		return nil, errors.Join(fmt.Errorf("git %s: %q", args[0], line), err)
	}
	return data, nil
}

// bounded keeps the first bytes that are written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := 400 - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// mergeBase is the hash of the one merge base of a ref and HEAD.
func (g *git) mergeBase(ctx context.Context, ref string) (string, error) {
	tip, err := g.output(ctx, maxSmall, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("the repository knows no one commit %q: %w", ref, err)
	}
	answer, err := g.output(ctx, maxAnswer, "merge-base", "--all", strings.TrimSpace(string(tip)), "HEAD")
	if err != nil {
		return "", fmt.Errorf("%q and HEAD have no merge base here (a shallow clone?): %w", ref, err)
	}
	bases := strings.Fields(string(answer))
	switch {
	case len(bases) > 1:
		return "", fmt.Errorf("%q and HEAD have %d merge bases: rebase the change, or compare with one of them, such as %.12s", ref, len(bases), bases[0])
	case len(bases) == 0 || !isHash(bases[0]):
		return "", fmt.Errorf("git names no merge base of %q and HEAD", ref)
	}
	return bases[0], nil
}

// The modes of git's trees.
const (
	modeTree    = "040000"
	modeFile    = "100644"
	modeProgram = "100755"
	modeLink    = "120000"
)

// entry is one line of a tree: its mode, and its object's hash in hex.
type entry struct{ mode, hash string }

// tree lists paths of a commit and all below them, by path.
func (g *git) tree(ctx context.Context, commit string, rels ...string) (map[string]entry, error) {
	args := []string{"ls-tree", "-r", "-t", "-z", "--full-tree", commit}
	rel := rels[0]
	if rel != "." {
		args = append(append(args, "--"), rels...)
	}
	answer, err := g.output(ctx, maxAnswer, args...)
	if err != nil {
		return nil, fmt.Errorf("list %s of %s: %w", rel, commit, err)
	}
	out := map[string]entry{}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(answer, []byte{0}), []byte{0}) {
		if len(line) == 0 {
			continue
		}
		head, path, ok := strings.Cut(string(line), "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 || !isHash(fields[2]) {
			return nil, fmt.Errorf("git lists %s of %s in a form that is not known", rel, commit)
		}
		out[path] = entry{mode: fields[0], hash: fields[2]}
	}
	return out, nil
}
