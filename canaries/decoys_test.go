package canaries

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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

// Python's SQLite opens the browser's password store, finds nothing wrong with
// it, and adds a login to it.
func TestLoginDataIsSQLite(t *testing.T) {
	python := need(t, "python3")
	for seed := range uint64(4) {
		s := newSet(t, seed)
		c := byID(t, s, chromeLogin)
		at := filepath.Join(t.TempDir(), "Login Data")
		if err := os.WriteFile(at, fileOf(t, s, c.Path).Data, 0o600); err != nil {
			t.Fatal(err)
		}
		const script = `
import sqlite3, sys, json
db = sqlite3.connect(sys.argv[1])
assert db.execute("pragma integrity_check").fetchall() == [("ok",)], db.execute("pragma integrity_check").fetchall()
rows = db.execute("select origin_url, username_value, hex(password_value), times_used, date_created from logins where signon_realm = origin_url").fetchall()
assert db.execute("select value from meta where key = 'version'").fetchone() == ("33",)
assert db.execute("select id from logins indexed by logins_signon where signon_realm > ''").fetchall() == [(1,)]
db.execute("insert into logins (origin_url, signon_realm, date_created, blacklisted_by_user, scheme) values ('a', 'b', 1, 0, 0)")
db.commit()
assert db.execute("select max(id) from logins").fetchone() == (2,)
assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
print(json.dumps(rows))
`
		out, err := exec.Command(python, "-c", script, at).CombinedOutput()
		if err != nil {
			t.Fatalf("python: %v\n%s", err, out)
		}
		var rows [][]any
		if err := json.Unmarshal(out, &rows); err != nil || len(rows) != 1 || !strings.HasPrefix(rows[0][0].(string), "https://app.") || rows[0][3] != 14.0 {
			t.Errorf("rows %s, %v", out, err)
		}
		if hits := s.Find(out); !has(hits, c.ID) {
			t.Errorf("the sealed password in hex is not found in %s", out)
		}
	}
}

// The key that everyone knows opens what the password store holds.
func TestChromeSeal(t *testing.T) {
	openssl := need(t, "openssl")
	sealed := chromeSeal("correct horse")
	// PBKDF2 of "peanuts" with "saltysalt", one round of HMAC-SHA-1, sixteen bytes.
	cmd := exec.Command(openssl, "enc", "-d", "-aes-128-cbc", "-K", "fd621fe5a2b402539dfa147ca9272778", "-iv", strings.Repeat("20", 16))
	cmd.Stdin = bytes.NewReader(sealed[3:])
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "correct horse" || string(sealed[:3]) != "v10" {
		t.Errorf("openssl reads %q, %v", out, err)
	}
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
