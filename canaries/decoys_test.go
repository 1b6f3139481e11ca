package canaries

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func fileOf(t *testing.T, s *Set, name string) File {
	t.Helper()
	for _, f := range s.Files() {
		if f.Path == name {
			return f
		}
	}
	t.Fatalf("no file %s", name)
	return File{}
}

func TestTokensDecode(t *testing.T) {
	s, err := New(seeded(4), Options{Workspace: []string{"/work"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"argocd-jwt", "workspace-jwt"} {
		parts := strings.Split(byID(t, s, id).Value, ".")
		if len(parts) != 3 {
			t.Fatalf("%s has %d parts", id, len(parts))
		}
		for _, part := range parts[:2] {
			b, err := base64.RawURLEncoding.DecodeString(part)
			if err != nil || !json.Valid(b) {
				t.Errorf("%s: %q, %v", id, b, err)
			}
		}
	}
}

func TestKeystoreShape(t *testing.T) {
	s := newSet(t, 6)
	c := byID(t, s, "ethereum-key")
	var k struct {
		Address, ID string
		Version     int
		Crypto      struct {
			Cipher, Ciphertext, KDF, MAC string
			CipherParams                 struct{ IV string }
			KDFParams                    struct{ N, R, P, DKLen int }
		}
	}
	if err := json.Unmarshal(fileOf(t, s, c.Path).Data, &k); err != nil {
		t.Fatal(err)
	}
	if k.Version != 3 || len(k.Address) != 40 || len(k.Crypto.MAC) != 64 || len(k.Crypto.CipherParams.IV) != 32 || k.Crypto.Ciphertext != c.Value || k.Crypto.KDFParams.N != 262144 {
		t.Errorf("got %+v", k)
	}
	if !strings.HasSuffix(c.Path, k.Address) {
		t.Errorf("%s is not named by its address", c.Path)
	}
}

// The files of a workspace come with the others, each with canaries of its own.
func TestWorkspace(t *testing.T) {
	home := "/home/kim"
	s, err := New(seeded(4), Options{User: "kim", Workspace: []string{"/srv/app", home + "/src/web/", home + "er"}})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, c := range s.Canaries() {
		if ids[c.ID] {
			t.Errorf("%s comes twice", c.ID)
		}
		ids[c.ID] = true
	}
	for i, dir := range []string{"/srv/app", home + "/src/web", home + "er"} {
		for _, name := range []string{"/.env", "/.git-credentials"} {
			f := fileOf(t, s, dir+name)
			if len(s.Find(f.Data)) == 0 || !slices.Contains(s.Watch(), f.Path) || f.Mode != 0o600 {
				t.Errorf("%s holds nothing that is watched", f.Path)
			}
		}
		if id := []string{"workspace-git", "workspace-git-2", "workspace-git-3"}[i]; byID(t, s, id).Path != dir+"/.git-credentials" {
			t.Errorf("%s is elsewhere", id)
		}
	}
	if fileOf(t, s, home+"/src/web").Mode != 0o755 || slices.ContainsFunc(s.Files(), func(f File) bool { return f.Path == "/srv" || f.Path == home+"er" }) {
		t.Error("a directory is missing, or is not ours to make")
	}
	below, err := New(seeded(4), Options{User: "kim", Workspace: []string{"src", home + "/src/"}})
	if err != nil || !slices.Equal(below.Workspaces(), []string{home + "/src"}) || byID(t, below, "workspace-git").Path != home+"/src/.git-credentials" {
		t.Errorf("below HOME: %v, %v", below.Workspaces(), err)
	}
	plain := newSet(t, 4)
	for _, c := range plain.Canaries() {
		if byID(t, s, c.ID).Kind != c.Kind {
			t.Errorf("%s is another kind", c.ID)
		}
	}
}

// Who opens the browser's store and undoes its seal is found with the password.
func TestBothFormsOfALogin(t *testing.T) {
	s := shared()
	c := byID(t, s, chromeLogin)
	for how, text := range map[string][]byte{"opened": []byte(c.Value), "sealed": chromeSeal(c.Value), "base64": []byte(base64.StdEncoding.EncodeToString(chromeSeal(c.Value)))} {
		if hits := s.Find(text); !has(hits, c.ID) {
			t.Errorf("%s: not found", how)
		}
	}
}

func TestConfigsAreYAML(t *testing.T) {
	s := newSet(t, 8)
	for id, last := range map[string]string{"kube-token": "current-context", "argocd-jwt": "users", "gh-token": "github.com"} {
		c := byID(t, s, id)
		var doc map[string]any
		if err := yaml.Unmarshal(fileOf(t, s, c.Path).Data, &doc); err != nil || doc[last] == nil {
			t.Errorf("%s: %v, %v", c.Path, doc, err)
		}
	}
}
