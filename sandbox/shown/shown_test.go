package shown

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const token = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"

// visible is what a View shows of a tree, by path: the files that are there, with what
// takes their place.
func visible(t testing.TB, v *View) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(v.Real, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(v.Real, path)
		if err != nil {
			return err
		}
		if slices.Contains(v.Hidden, rel) {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() {
			return nil
		}
		if i := slices.IndexFunc(v.Covers, func(c Cover) bool { return c.Path == rel }); i >= 0 {
			out[rel] = string(v.Covers[i].Data)
			return nil
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// No secret is readable in what is shown, at whatever depth, under whatever directory,
// by name or by content; what is beside it is.
func TestNoSecretIsShown(t *testing.T) {
	dirs := []string{"src", "a", "node_modules", ".venv", "lib", "site-packages", "deep", "dist", "config", "x y", "__pycache__", ".git", ".aws"}
	names := []string{".env", ".env.local", "gha-creds-1f.json", "terraform.tfstate", "release.jks", "x.p12", "y.pfx", ".netrc", ".npmrc", ".pypirc", "id_rsa", "kubeconfig", "app-service-account.json", "k.kdbx"}
	contents := []string{
		"const t = '" + token + "'\n", "AWS=AKIAQ3EGRPK4XTBBMZ2L\n", "x\n-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("SECRETb0dy/of+a+key\n", 10) + "-----END RSA PRIVATE KEY-----\n",
		"{\"key\": \"sk-ant-api03-" + strings.Repeat("Qw3rT", 18) + "\"}",
	}
	secrets := []string{token, "AKIAQ3EGRPK4XTBBMZ2L", "SECRETb0dy", "Qw3rTQw3rT", "by-name-alone"}
	rapid.Check(t, func(r *rapid.T) {
		root, err := os.MkdirTemp("", "shown")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(root) }()
		plain := 0
		for range rapid.IntRange(1, 12).Draw(r, "files") {
			dir := filepath.Join(root, filepath.Join(rapid.SliceOfN(rapid.SampledFrom(dirs), 0, 25).Draw(r, "dir")...))
			if rapid.Bool().Draw(r, "environment") {
				write(t, filepath.Join(dir, "pyvenv.cfg"), "home = /usr/bin\n")
			}
			if rapid.Bool().Draw(r, "named") {
				write(t, filepath.Join(dir, rapid.SampledFrom(names).Draw(r, "name")), "by-name-alone")
				continue
			}
			write(t, filepath.Join(dir, "file.ts"), rapid.SampledFrom(contents).Draw(r, "content"))
			if !strings.Contains(dir, "/.git") && !strings.Contains(dir, "/.aws") {
				write(t, filepath.Join(dir, "plain.ts"), "export const plain = 1\n")
				plain++
			}
		}
		v, err := Look(t.Context(), Request{Dir: root})
		if err != nil {
			r.Fatal(err)
		}
		for name, text := range visible(t, v) {
			for _, s := range secrets {
				if strings.Contains(text, s) {
					r.Fatalf("%s shows %s", name, s)
				}
			}
			if strings.HasSuffix(name, "plain.ts") && text != "export const plain = 1\n" {
				r.Fatalf("%s is %q", name, text)
			}
		}
	})
}

func repository(t *testing.T, files ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, top, "init", "-q")
	for _, name := range files {
		write(t, filepath.Join(top, name), "#!/bin/sh\n")
	}
	return top
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
}

func TestOnlyWhatGitTracksIsShown(t *testing.T) {
	top := repository(t, "package.json", "src/a.js", "dist/index.js", "node_modules/x/index.js", "node_modules/x/.npmrc", ".venv/pyvenv.cfg", ".venv/bin/x",
		"notes/private.txt", "src/new.js", "data/one.csv", "tool", "out/statement.pdf", "lib/notes.txt", "packages/a/lib/index.js", "packages/a/package.json",
		"packages/b/build/run.js", "packages/b/build/part.js", "packages/b/out/diary.txt")
	write(t, filepath.Join(top, "package.json"), `{"scripts": {"start": "node --enable-source-maps ./dist/index.js"}, "description": "out/ and lib/ are ours"}`)
	write(t, filepath.Join(top, "packages/a/package.json"), `{"exports": {".": {"import": "./lib/index.js"}}}`)
	run(t, top, "add", "package.json", "src/a.js", "packages/a/package.json")
	index, err := ReadIndex(t.Context(), top)
	if err != nil {
		t.Fatal(err)
	}
	look := func(show ...string) []string {
		code := filepath.Join(top, "packages/b/build/run.js")
		v, err := Look(t.Context(), Request{Dir: top, Index: index, Show: append(show, code), Code: code})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range visible(t, v) {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	want := []string{".venv/bin/x", ".venv/pyvenv.cfg", "dist/index.js", "node_modules/x/.npmrc", "node_modules/x/index.js", "package.json",
		"packages/a/lib/index.js", "packages/a/package.json", "packages/b/build/part.js", "packages/b/build/run.js", "src/a.js"}
	if got := look(); !slices.Equal(got, want) {
		t.Errorf("shown: %q\n want: %q", got, want)
	}
	want = append(want, "data/one.csv", "tool")
	slices.Sort(want)
	if got := look(filepath.Join(top, "data"), filepath.Join(top, "tool")); !slices.Equal(got, want) {
		t.Errorf("with flags: %q\n      want: %q", got, want)
	}
}

// A repository's own settings have nothing run, and a bare one within is none.
func TestGitRunsNothingOfTheRepository(t *testing.T) {
	top := repository(t, "a.txt")
	marker := filepath.Join(t.TempDir(), "ran")
	for name, value := range map[string]string{
		"core.fsmonitor": "touch " + marker, "filter.x.clean": "touch " + marker, "core.pager": "touch " + marker, "diff.external": "touch " + marker, "core.sshCommand": "touch " + marker,
	} {
		run(t, top, "config", name, value)
	}
	write(t, filepath.Join(top, ".gitattributes"), "* filter=x\n")
	run(t, top, "-c", "core.fsmonitor=false", "-c", "filter.x.clean=cat", "add", "a.txt")
	_ = os.Remove(marker)
	write(t, filepath.Join(top, "a.txt"), "changed\n")
	bin := filepath.Join(top, "node_modules/.bin")
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\ntouch "+marker+"\nexec /usr/bin/git \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if _, err := ReadIndex(t.Context(), top); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a program of the repository's settings ran")
	}
	bare := filepath.Join(top, "sub")
	run(t, top, "init", "-q", "--bare", bare)
	if got := Repository(filepath.Join(bare, "config")); got != top {
		t.Errorf("the repository around a bare one is %q, want %q", got, top)
	}
}

// A search that does not come to its end shows nothing.
func TestLookIsWholeOrAnError(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a/b.txt"), "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := Look(ctx, Request{Dir: dir}); err == nil {
		t.Errorf("a search that was ended shows %v", v)
	}
	f, err := os.Create(filepath.Join(dir, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxBytes + 1); err != nil {
		t.Skip("the file system has no holes")
	}
	_ = f.Close()
	if _, err := Look(t.Context(), Request{Dir: dir}); err == nil || !strings.Contains(err.Error(), "MiB to be searched") {
		t.Errorf("a directory beyond the bound: %v", err)
	}
}

func TestTooWide(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "u")
	for _, name := range []string{".ssh/id", ".kube/config", ".nvm/package.json", ".cursor/mcp.json", "proj/package.json", ".config/gh/hosts.yml"} {
		write(t, filepath.Join(home, name), "")
	}
	write(t, filepath.Join(root, "other/.gnupg/x"), "")
	for dir, want := range map[string]bool{
		"/": true, "/etc": true, "/etc/ssl": true, "/var": true, "/var/lib": true, "/run/user/1000": true, "/proc/1": true, "/usr/local/bin": true, "/tmp": true, "/home/somebody": true, "/nix/store": true,
		root: true, home: true, home + "/.ssh": true, home + "/.kube": true, home + "/.kube/cache/x": true, home + "/.cursor": true, home + "/.config/gh": true, home + "/.local/share": true, home + "/Documents": true,
		root + "/other": true,
		home + "/proj":  false, home + "/.nvm": false, home + "/.cache/uv/archive/x": false, "/opt/app": false, "/usr/src/app": false, "/var/www/site": false, "/app": false,
	} {
		if got := TooWide(dir, []string{home}); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

func TestHomesOf(t *testing.T) {
	got := homesOf(strings.NewReader("root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/x\ndana:x:1000:1000::/home/dana/:/x\nnobody:x:65534:65534::/nonexistent:/x\nbad\n"))
	if want := []string{"/root", "/home/dana"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
