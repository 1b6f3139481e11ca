package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

func TestCoverSecrets(t *testing.T) {
	const secret = "s3cr3t-of-the-user"
	dir := t.TempDir()
	covered := []string{
		".env", ".env.local", "prod.env", "a/b/.env.production", ".npmrc", "a/.netrc", ".git-credentials", ".envrc",
		".aws/credentials", ".aws/sso/cache/x.json", "deploy/id_rsa", ".git/config", ".git/modules/sub/config", ".git/credentials", "target/of-link",
	}
	for _, name := range append(slices.Clone(covered), "main.js", "node_modules/pkg/.env", ".env-venv/pyvenv.cfg", ".env-venv/.env", "config", "decoyed/.env") {
		write(t, filepath.Join(dir, name), "[core]\n\tbare = false\n[http]\n\tx = "+secret+"\n[remote \"o\"]\n\turl = https://me:"+secret+"@host/x\n")
	}
	if err := os.Symlink("target/of-link", filepath.Join(dir, ".env.link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "out.env")); err != nil {
		t.Fatal(err)
	}
	planted := []rootfs.File{{Path: filepath.Join(dir, "decoyed/.env"), Data: []byte("decoy")}}
	files, err := CoverSecrets(dir, dir, planted)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		rel, _ := filepath.Rel(dir, f.Path)
		got = append(got, rel)
		if strings.Contains(string(f.Data), secret) {
			t.Errorf("%s still holds the secret:\n%s", rel, f.Data)
		}
	}
	want := slices.Concat(covered, []string{".env.link", "out.env"})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("covered %q\n   want %q", got, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPublicGitConfig(t *testing.T) {
	in := `[core]
	repositoryformatversion = 0
	askPass = /x
[remote "origin"]
	url = https://user:pa55@github.com/a/b.git
	url = git@github.com:a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
	url = https://pa55@h/\
pa55
[http "https://github.com/"]
	extraheader = AUTHORIZATION: basic pa55
[HTTP]
	proxy = pa55
[credential]
	helper = store pa55
[url "https://pa55@github.com/"]
	insteadOf = x
[branch "main"]
	remote = origin
`
	want := `[core]
	repositoryformatversion = 0
[remote "origin"]
	url = https://github.com/a/b.git
	url = git@github.com:a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
`
	if got := string(publicGitConfig([]byte(in))); got != want {
		t.Errorf("got %s", got)
	}
}

func FuzzPublicGitConfig(f *testing.F) {
	f.Add([]byte("[core]\n[remote \"x\"]\nurl=https://a:b@c/d"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out := publicGitConfig(data)
		if len(out) > len(data)+1 {
			t.Fatalf("%d bytes of %d", len(out), len(data))
		}
		if gitUserinfo.Match(out) {
			t.Fatalf("an address keeps its user: %q", out)
		}
	})
}
