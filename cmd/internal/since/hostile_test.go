package since

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// trick is something that a change, or what it left in the repository, does so
// that a run of git obeys it or a difference is not seen.
type trick struct {
	name string
	// do changes server/index.js, or something else of server/, and hides it.
	// marker is a file that must not come to be, and touch a command that makes it.
	do func(r *rig)
	// refused says that Open or Changed fails rather than answers, alone that the
	// trick is played in the process's own environment.
	refused, alone bool
}

// rig is a repository in which a trick is played. Its server/ is what is asked for.
type rig struct {
	*testing.T
	dir           string
	git           func(args ...string)
	marker, touch string
	// open is the directory that Open is given, ask the path that Changed is given.
	open, ask string
}

func (r *rig) write(name, data string) { r.Helper(); write(r.T, r.dir, name, data) }

func (r *rig) edit() { r.Helper(); r.write("server/index.js", "2\n") }

// try does a thing that has to work for the trick to be one.
func (r *rig) try(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// command is a program that makes the marker, by a path without spaces.
func (r *rig) command(name, then string) string {
	r.Helper()
	file := filepath.Join(filepath.Dir(r.marker), name)
	r.try(os.WriteFile(file, []byte("#!/bin/sh\n"+r.touch+"\n"+then+"\n"), 0o755))
	return file
}

func settingOf(name, value string) trick {
	return trick{name: "setting " + name, do: func(r *rig) {
		r.write(".gitattributes", "*.js diff=x filter=x merge=x\n")
		r.git("config", name, strings.ReplaceAll(value, "TOUCH", r.touch))
		r.edit()
	}}
}

var tricks = []trick{
	// What git runs of a repository's settings.
	settingOf("diff.x.command", "TOUCH;"),
	settingOf("diff.x.textconv", "TOUCH;"),
	settingOf("diff.external", "TOUCH;"),
	settingOf("filter.x.clean", "TOUCH; printf '1\\n'; true"),
	settingOf("filter.x.smudge", "TOUCH; cat"),
	settingOf("filter.x.process", "TOUCH;"),
	settingOf("merge.x.driver", "TOUCH;"),
	settingOf("core.fsmonitor", "TOUCH;"),
	settingOf("core.pager", "TOUCH;"),
	settingOf("core.editor", "TOUCH;"),
	settingOf("core.sshCommand", "TOUCH;"),
	settingOf("core.gitProxy", "TOUCH;"),
	settingOf("core.askPass", "TOUCH;"),
	settingOf("core.alternateRefsCommand", "TOUCH;"),
	settingOf("gpg.program", "TOUCH;"),
	settingOf("credential.helper", "!TOUCH"),
	settingOf("alias.ls-tree", "!TOUCH"),
	settingOf("alias.merge-base", "!TOUCH"),
	settingOf("uploadpack.packObjectsHook", "TOUCH;"),
	settingOf("trailer.x.command", "TOUCH;"),
	{name: "included settings", do: func(r *rig) {
		r.write(".git/more", "[filter \"x\"]\n\tclean = \""+r.touch+"; printf '1\\\\n'\"\n[core]\n\tfsmonitor = \""+r.touch+";\"\n")
		r.git("config", "include.path", "more")
		r.write(".gitattributes", "* filter=x\n")
		r.edit()
	}},
	{name: "settings that wait for a pipe", do: func(r *rig) {
		r.git("config", "include.path", "pipe")
		r.try(exec.Command("mkfifo", filepath.Join(r.dir, ".git/pipe")).Run())
		r.write("server/index.js", "2\n")
	}},
	{name: "hooks", do: func(r *rig) {
		for _, h := range []string{"post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc", "query-watchman"} {
			r.write(".git/hooks/"+h, "#!/bin/sh\n"+r.touch+"\n")
			r.try(os.Chmod(filepath.Join(r.dir, ".git/hooks", h), 0o755))
		}
		r.edit()
	}},
	// CVE-2022-24765's relative: safe.bareRepository=explicit is git's answer.
	{name: "a bare repository in a directory", do: func(r *rig) {
		bare := filepath.Join(r.dir, "server")
		in := func(args ...string) {
			r.try(exec.Command("git", append([]string{"-C", bare, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...).Run())
		}
		in("init", "-q", "--bare", "-b", "main")
		in("config", "core.bare", "false")
		in("config", "core.worktree", ".")
		r.write("server/.gitattributes", "* filter=x\n")
		r.edit()
		in("add", "index.js", ".gitattributes")
		in("commit", "-qm", "x")
		in("config", "filter.x.clean", r.touch+"; cat")
		in("config", "core.fsmonitor", r.touch+";")
		later := time.Now().Add(time.Hour)
		r.try(os.Chtimes(filepath.Join(bare, "index.js"), later, later))
		r.open = bare
	}},
	// CVE-2024-32002 and its kin: the repository of a submodule is the change's own.
	{name: "a submodule's repository", refused: true, do: func(r *rig) {
		from := filepath.Join(r.TempDir(), "from")
		r.try(exec.Command("git", "init", "-q", "-b", "main", from).Run())
		write(r.T, from, "index.js", "2\n")
		r.try(exec.Command("git", "-C", from, "add", "-A").Run())
		r.try(exec.Command("git", "-C", from, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x").Run())
		r.git("rm", "-rqf", "server")
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "server")
		r.git("commit", "-qm", "a submodule")
		r.open = filepath.Join(r.dir, "server")
	}},
	{name: "a submodule", do: func(r *rig) {
		r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",server/sub")
		r.git("commit", "-qm", "a submodule")
		r.try(os.Mkdir(filepath.Join(r.dir, "server/sub"), 0o755))
	}},
	{name: "a repository in the repository", refused: true, do: func(r *rig) {
		r.try(exec.Command("cp", "-a", filepath.Join(r.dir, ".git"), filepath.Join(r.dir, "server/.git")).Run())
		r.open = filepath.Join(r.dir, "server")
	}},
	{name: "a repository in the server's directory", do: func(r *rig) {
		r.try(exec.Command("git", "init", "-q", filepath.Join(r.dir, "server")).Run())
	}},
	{name: "a .git file that points elsewhere", refused: true, do: func(r *rig) {
		r.try(os.Rename(filepath.Join(r.dir, ".git"), filepath.Join(r.dir, "records")))
		r.write(".git", "gitdir: records\n")
		r.edit()
	}},
	{name: "a linked worktree's .git file in its own tree", refused: true, do: func(r *rig) {
		r.try(os.Rename(filepath.Join(r.dir, ".git"), filepath.Join(r.dir, "records")))
		r.write("records/worktrees/x/HEAD", "ref: refs/heads/main\n")
		r.write("records/worktrees/x/commondir", "../..\n")
		r.write("records/worktrees/x/gitdir", filepath.Join(r.dir, ".git")+"\n")
		r.write(".git", "gitdir: records/worktrees/x\n")
		r.edit()
	}},
	{name: "a .git that is a link", refused: true, do: func(r *rig) {
		r.try(os.Rename(filepath.Join(r.dir, ".git"), filepath.Join(r.dir, "records")))
		r.try(os.Symlink("records", filepath.Join(r.dir, ".git")))
		r.edit()
	}},
	// CVE-2024-32004 and CVE-2024-32465: a fetch of missing objects runs what the settings say.
	{name: "a missing object of a promisor", do: func(r *rig) {
		r.git("config", "extensions.partialClone", "origin")
		r.git("config", "core.repositoryFormatVersion", "1")
		r.git("config", "remote.origin.promisor", "true")
		r.git("config", "remote.origin.url", "ext::"+r.command("fetch", ""))
		r.git("config", "protocol.ext.allow", "always")
		out, err := exec.Command("git", "-C", r.dir, "rev-parse", "HEAD:server/index.js").Output()
		r.try(err)
		hash := strings.TrimSpace(string(out))
		r.edit()
		r.try(os.Remove(filepath.Join(r.dir, ".git/objects", hash[:2], hash[2:])))
	}},
	{name: "alternates", refused: true, do: func(r *rig) {
		r.write(".git/objects/info/alternates", "../../elsewhere\n")
		r.edit()
	}},
	{name: "replaced objects", do: func(r *rig) {
		r.edit()
		r.git("commit", "-qam", "two")
		r.git("replace", "main^{tree}", "HEAD^{tree}")
		r.git("replace", "main:server", "HEAD:server")
	}},
	{name: "packed replaced objects", do: func(r *rig) {
		r.edit()
		r.git("commit", "-qam", "two")
		r.git("replace", "main:server", "HEAD:server")
		r.git("pack-refs", "--all")
	}},
	{name: "another working tree in the settings", do: func(r *rig) {
		away := r.TempDir()
		r.try(exec.Command("cp", "-a", filepath.Join(r.dir, "server"), away).Run())
		r.git("config", "core.worktree", away)
		r.edit()
	}},
	// What makes git's index say that nothing differs.
	{name: "assume-unchanged", do: func(r *rig) { r.git("update-index", "--assume-unchanged", "server/index.js"); r.edit() }},
	{name: "skip-worktree", do: func(r *rig) { r.git("update-index", "--skip-worktree", "server/index.js"); r.edit() }},
	{name: "sparse checkout", do: func(r *rig) {
		r.git("sparse-checkout", "set", "other")
		r.try(os.RemoveAll(filepath.Join(r.dir, "server")))
		r.edit()
	}},
	{name: "fsmonitor's bits", do: func(r *rig) { r.git("update-index", "--fsmonitor-valid", "server/index.js"); r.edit() }},
	{name: "a racy index", do: func(r *rig) {
		r.git("config", "core.trustctime", "false")
		r.git("config", "core.checkStat", "minimal")
		name := filepath.Join(r.dir, "server/index.js")
		long := time.Now().Add(-time.Hour)
		r.try(os.Chtimes(name, long, long))
		r.git("update-index", "--refresh")
		r.edit()
		r.try(os.Chtimes(name, long, long))
	}},
	{name: "intent to add", do: func(r *rig) { r.write("server/new.js", "x"); r.git("add", "-N", "server/new.js") }},
	{name: "an index of the change's own", do: func(r *rig) { r.edit(); r.git("add", "-A"); r.try(os.Remove(filepath.Join(r.dir, ".git/index"))) }},
	// What git does not look at.
	{name: ".gitignore", do: func(r *rig) { r.write(".gitignore", "*.node\n"); r.write("server/index.node", "x") }},
	{name: ".gitignore in the directory", do: func(r *rig) { r.write("other/.gitignore", "*\n"); r.write("server/.gitignore", "*\n") }},
	{name: "info/exclude", do: func(r *rig) { r.write(".git/info/exclude", "*\n"); r.write("server/new.js", "x") }},
	{name: "an excludes file", do: func(r *rig) {
		r.write(".git/all", "*\n")
		r.git("config", "core.excludesFile", filepath.Join(r.dir, ".git/all"))
		r.write("server/node_modules/x/index.js", "x")
	}},
	{name: "an empty directory", do: func(r *rig) { r.try(os.Mkdir(filepath.Join(r.dir, "server/new"), 0o755)) }},
	{name: "the permission to execute", do: func(r *rig) {
		r.git("config", "core.fileMode", "false")
		r.try(os.Chmod(filepath.Join(r.dir, "server/index.js"), 0o755))
	}},
	{name: "set-user-id", do: func(r *rig) {
		r.try(os.Chmod(filepath.Join(r.dir, "server/index.js"), 0o644|os.ModeSetuid))
	}},
	{name: "a pipe in place of a file", do: func(r *rig) {
		r.try(os.Remove(filepath.Join(r.dir, "server/index.js")))
		r.try(exec.Command("mkfifo", filepath.Join(r.dir, "server/index.js")).Run())
	}},
	// What git takes for the same content.
	{name: "line endings", do: func(r *rig) { r.git("config", "core.autocrlf", "true"); r.write("server/index.js", "1\r\n") }},
	{name: "line endings by attributes", do: func(r *rig) { r.write(".gitattributes", "* text eol=crlf\n"); r.write("server/index.js", "1\r\n") }},
	{name: "an encoding by info/attributes", do: func(r *rig) {
		r.write(".git/info/attributes", "* text working-tree-encoding=UTF-16LE\n")
		r.write("server/index.js", "1\x00\n\x00")
	}},
	{name: "names in another case", do: func(r *rig) {
		r.git("config", "core.ignoreCase", "true")
		r.try(os.Rename(filepath.Join(r.dir, "server/index.js"), filepath.Join(r.dir, "server/INDEX.js")))
	}},
	{name: "a file that says where a link led", do: func(r *rig) {
		r.git("config", "core.symlinks", "false")
		r.git("checkout", "-q", "main")
		r.try(os.Symlink("index.js", filepath.Join(r.dir, "server/main.js")))
		r.git("-c", "core.symlinks=true", "add", "-A")
		r.git("commit", "-qm", "link")
		r.git("checkout", "-qB", "change")
		r.try(os.Remove(filepath.Join(r.dir, "server/main.js")))
		r.write("server/main.js", "index.js")
	}},
	// Links and other places.
	{name: "a link to another directory", do: func(r *rig) {
		r.try(os.RemoveAll(filepath.Join(r.dir, "server")))
		r.try(os.Symlink("other", filepath.Join(r.dir, "server")))
	}},
	{name: "a directory above that is a link", do: func(r *rig) {
		r.write("copy/index.js", "1\n")
		r.try(os.RemoveAll(filepath.Join(r.dir, "server")))
		r.try(os.Symlink("copy", filepath.Join(r.dir, "server")))
		r.ask = filepath.Join(r.dir, "server/index.js")
	}},
	{name: "a link that was there, to what is changed", do: func(r *rig) {
		r.git("checkout", "-q", "main")
		r.try(os.Symlink("../other", filepath.Join(r.dir, "server/lib")))
		r.git("add", "-A")
		r.git("commit", "-qm", "link")
		r.git("checkout", "-qB", "change")
		r.write("other/index.js", "2\n")
	}},
	{name: "a path with two dots after a link", refused: true, do: func(r *rig) { r.ask = r.dir + "/link/../server" }},
	{name: "a link from outside", refused: true, do: func(r *rig) {
		r.ask = filepath.Join(r.TempDir(), "link")
		r.try(os.Symlink(filepath.Join(r.dir, "server"), r.ask))
	}},
	{name: "a path outside", refused: true, do: func(r *rig) { r.ask = r.TempDir() }},
	// Which commit is the merge base.
	{name: "a tag of the branch's name", refused: true, do: func(r *rig) {
		r.edit()
		r.git("commit", "-qam", "two")
		r.git("tag", "main")
	}},
	{name: "grafts", do: func(r *rig) {
		r.edit()
		r.git("commit", "-qam", "two")
		out, err := exec.Command("git", "-C", r.dir, "rev-parse", "main", "HEAD").Output()
		r.try(err)
		commits := strings.Fields(string(out))
		r.write(".git/info/grafts", commits[0]+" "+commits[1]+"\n"+commits[1]+"\n")
	}},
	{name: "several merge bases", refused: true, do: func(r *rig) {
		r.edit()
		r.git("commit", "-qam", "two")
		r.git("tag", "mine")
		r.git("checkout", "-q", "main")
		r.write("more", "x")
		r.git("add", "-A")
		r.git("commit", "-qm", "three")
		r.git("tag", "theirs")
		r.git("merge", "-q", "-m", "merge", "mine")
		r.git("checkout", "-q", "change")
		r.git("merge", "-q", "-m", "merge", "theirs")
	}},
	// Settings and programs by the environment.
	{name: "the environment", alone: true, do: func(r *rig) {
		away := filepath.Join(r.TempDir(), "away")
		r.try(exec.Command("cp", "-a", r.dir, away).Run())
		r.edit()
		for name, value := range map[string]string{
			"GIT_DIR": filepath.Join(away, ".git"), "GIT_WORK_TREE": away, "GIT_INDEX_FILE": filepath.Join(away, ".git/index"),
			"GIT_EXTERNAL_DIFF": r.command("diff", ""), "GIT_PAGER": r.touch, "GIT_SSH_COMMAND": r.touch, "GIT_ASKPASS": r.command("ask", ""),
			"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": r.touch + ";",
			"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=" + r.touch + ";'", "GIT_TRACE": r.marker, "GIT_TRACE2": r.marker, "GIT_TRACE2_EVENT": r.marker,
		} {
			r.Setenv(name, value)
		}
	}},
	{name: "a user's settings", alone: true, do: func(r *rig) {
		home := r.TempDir()
		write(r.T, home, ".gitconfig", "[core]\n\tfsmonitor = \""+r.touch+";\"\n[trace2]\n\teventTarget = "+r.marker+"\n[filter \"x\"]\n\tclean = \""+r.touch+"; printf '1\\\\n'\"\n")
		r.write(".gitattributes", "* filter=x\n")
		r.edit()
		r.Setenv("HOME", home)
		r.Setenv("XDG_CONFIG_HOME", home)
	}},
	{name: "a git of the change's own", alone: true, do: func(r *rig) {
		r.write("node_modules/.bin/git", "#!/bin/sh\n"+r.touch+"\nexec /usr/bin/git \"$@\"\n")
		r.try(os.Chmod(filepath.Join(r.dir, "node_modules/.bin/git"), 0o755))
		r.edit()
		r.Setenv("PATH", "node_modules/.bin:"+filepath.Join(r.dir, "node_modules/.bin")+":"+os.Getenv("PATH"))
	}},
}

// Nothing of the repository runs, and no difference is hidden.
func TestTricks(t *testing.T) {
	for _, c := range tricks {
		t.Run(c.name, func(t *testing.T) {
			if !c.alone {
				t.Parallel()
			}
			dir, git := newRepository(t)
			marker := filepath.Join(t.TempDir(), "ran")
			r := &rig{T: t, dir: dir, git: git, marker: marker, touch: "touch " + marker, open: dir, ask: filepath.Join(dir, "server")}
			if b := base(t, dir); !unchanged(t, b, r.ask) {
				t.Fatal("what was not touched is changed")
			}
			c.do(r)
			if err := os.Remove(marker); err != nil && !os.IsNotExist(err) {
				t.Fatal(err) // git ran it when the trick was laid
			}
			b, err := Open(context.Background(), r.open, "main")
			changed := true
			if err == nil {
				defer b.Close()
				changed, err = b.Changed(context.Background(), r.ask)
			}
			if !changed || err != nil != c.refused {
				t.Errorf("changed: %t, %v", changed, err)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("something of the repository ran")
			}
		})
	}
}

func unchanged(t *testing.T, b *Base, name string) bool {
	t.Helper()
	changed, err := b.Changed(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return !changed
}

// A name of a commit is no option, and what is none is refused.
func TestRefs(t *testing.T) {
	dir, git := newRepository(t)
	git("commit", "-q", "--allow-empty", "-m", "two")
	git("fetch", "-q", ".", "main")
	for _, ref := range []string{"main", "refs/heads/main", "HEAD~1", "FETCH_HEAD", "main^{commit}"} {
		b, err := Open(context.Background(), dir, ref)
		if err != nil {
			t.Errorf("%q: %v", ref, err)
			continue
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, ref := range []string{"--output=x", "nothing", "", "-h", "main:server", "main^{tree}", "ext::sh", "main..HEAD"} {
		if b, err := Open(context.Background(), dir, ref); err == nil || strings.Contains(err.Error(), "usage") {
			t.Errorf("%q: %v, %v", ref, b, err)
		}
	}
	if _, err := Open(context.Background(), t.TempDir(), "main"); err == nil {
		t.Error("no repository is one")
	}
}

// What people do is read: packed refs and objects, a linked worktree, SHA-256, a
// clone without blobs or with a short history, and links above the repository.
func TestOrdinaryRepositories(t *testing.T) {
	run := func(t *testing.T, args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for name, make := range map[string]func(t *testing.T, dir string, git func(...string)) string{
		"as it is": func(_ *testing.T, dir string, _ func(...string)) string { return dir },
		"packed": func(_ *testing.T, dir string, git func(...string)) string {
			git("gc", "-q")
			git("commit-graph", "write", "--reachable")
			git("multi-pack-index", "write")
			return dir
		},
		"a linked worktree": func(t *testing.T, _ string, git func(...string)) string {
			at := filepath.Join(t.TempDir(), "linked")
			git("worktree", "add", "-q", at, "-b", "linked")
			return at
		},
		"a clone": func(t *testing.T, dir string, _ func(...string)) string {
			at := filepath.Join(t.TempDir(), "clone")
			run(t, "clone", "-q", "--no-local", dir, at)
			run(t, "-C", at, "branch", "main", "origin/main")
			return at
		},
		"a short clone": func(t *testing.T, dir string, git func(...string)) string {
			git("commit", "-q", "--allow-empty", "-m", "two")
			at := filepath.Join(t.TempDir(), "clone")
			run(t, "clone", "-q", "--depth=2", "--no-single-branch", "--branch=change", "file://"+dir, at)
			run(t, "-C", at, "branch", "main", "origin/main")
			return at
		},
		"a clone without blobs": func(t *testing.T, dir string, git func(...string)) string {
			git("config", "uploadpack.allowFilter", "true")
			at := filepath.Join(t.TempDir(), "clone")
			run(t, "clone", "-q", "--filter=blob:none", "file://"+dir, at)
			run(t, "-C", at, "branch", "main", "origin/main")
			return at
		},
		"SHA-256": func(t *testing.T, _ string, _ func(...string)) string {
			at := t.TempDir()
			run(t, "init", "-q", "-b", "main", "--object-format=sha256", at)
			write(t, at, "server/index.js", "1\n")
			run(t, "-C", at, "add", "-A")
			run(t, "-C", at, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
			return at
		},
		"by a link above": func(t *testing.T, dir string, _ func(...string)) string {
			at := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, at); err != nil {
				t.Fatal(err)
			}
			return at
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, git := newRepository(t)
			at := make(t, dir, git)
			b := base(t, at)
			for _, what := range []string{"server", "server/index.js", "."} {
				if !unchanged(t, b, filepath.Join(at, what)) {
					t.Errorf("%s is changed", what)
				}
			}
			write(t, at, "server/index.js", "2\n")
			for _, what := range []string{"server", "server/index.js", "."} {
				if unchanged(t, b, filepath.Join(at, what)) {
					t.Errorf("%s is unchanged", what)
				}
			}
		})
	}
}

// Nothing is left, and nothing is written to the repository.
func TestNothingIsLeft(t *testing.T) {
	dir, git := newRepository(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	git("pack-refs", "--all")
	before := listing(t, dir)
	b := base(t, dir)
	if !unchanged(t, b, filepath.Join(dir, "server")) {
		t.Error("what was not touched is changed")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, ref := range []string{"nothing", "-x"} {
		if _, err := Open(context.Background(), dir, ref); err == nil {
			t.Errorf("%q is a commit", ref)
		}
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
	if left := listing(t, temp); len(left) > 1 {
		t.Errorf("left: %q", left)
	}
}

// listing names all below a directory, with size and time.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out = append(out, name+" "+info.ModTime().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A killed process leaves its directory, and Clean takes it; those of living ones stay.
func TestClean(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(temp, dirPrefix+strconv.Itoa(dead.Process.Pid)+"-1")
	for _, dir := range []string{gone, filepath.Join(temp, dirPrefix+strconv.Itoa(os.Getpid())+"-1"), filepath.Join(temp, dirPrefix+"x"), filepath.Join(temp, dirPrefix+"-1-1")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := Clean()
	if err != nil || !slices.Equal(removed, []string{gone}) {
		t.Errorf("%q, %v", removed, err)
	}
	if left := listing(t, temp); len(left) != 4 {
		t.Errorf("left: %q", left)
	}
}
