//go:build linux && e2e

package canaries

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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

func TestSSHKeygenReadsTheKeys(t *testing.T) {
	keygen := need(t, "ssh-keygen")
	s := newSet(t, 13)
	dir := t.TempDir()
	files := map[string][]byte{}
	for _, f := range s.Files() {
		files[path.Base(f.Path)] = f.Data
	}
	for _, name := range []string{"id_rsa", "id_ed25519"} {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, files[name], 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(keygen, "-y", "-P", "", "-f", at).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if !bytes.Equal(bytes.TrimSpace(out), bytes.TrimSpace(files[name+".pub"])) {
			t.Errorf("%s: ssh-keygen says\n%s\nthe .pub file says\n%s", name, out, files[name+".pub"])
		}
	}
}

// need is a program that the test cannot do without: where it is missing, the
// test is skipped, or fails if COALMINE_REQUIRE names it. The packages below
// this one have no helper for that, and the one above may not be used here.
func need(t *testing.T, program string) string {
	t.Helper()
	at, err := exec.LookPath(program)
	if err == nil {
		return at
	}
	wanted := strings.FieldsFunc(os.Getenv("COALMINE_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(wanted, program) || program == "python3" && slices.Contains(wanted, "python") {
		t.Fatal(err)
	}
	t.Skipf("needs %s: %v", program, err)
	return ""
}

// planted writes a set's HOME below a fresh directory, which it returns.
func planted(t *testing.T, s *Set) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range s.Files() {
		at := filepath.Join(root, strings.TrimPrefix(f.Path, s.Home()))
		if f.Dir {
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(at, f.Data, f.Mode.Perm()); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// says runs a program and returns what it prints.
func says(t *testing.T, home, stdin, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}, strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", program, args, err, out, stderr.Bytes())
	}
	return string(out)
}

// Python's own parsers read what they are made for.
func TestPythonReadsTheFiles(t *testing.T) {
	python := need(t, "python3")
	const script = `
import configparser, json, netrc
def ini(name):
    c = configparser.ConfigParser(interpolation=None)
    assert c.read([name]) == [name], name
    return c
out = {}
out["netrc-password"] = netrc.netrc(".netrc").authenticators("api.heroku.com")[2]
pypi = ini(".pypirc")
assert "pypi" in pypi["distutils"]["index-servers"].split()
assert pypi["pypi"]["username"] == "__token__"
out["pypi-token"] = pypi["pypi"]["password"]
aws = ini(".aws/credentials")["default"]
out["aws-key-id"], out["aws-secret"] = aws["aws_access_key_id"], aws["aws_secret_access_key"]
assert ini(".aws/config")["default"]["region"]
adc = json.load(open(".config/gcloud/application_default_credentials.json"))
assert adc["type"] == "authorized_user" and adc["client_id"].endswith(".apps.googleusercontent.com")
out["gcloud-client-secret"], out["gcloud-refresh-token"] = adc["client_secret"], adc["refresh_token"]
print(json.dumps(out))
`
	for seed := range uint64(3) {
		s := newSet(t, 20+seed)
		var got map[string]string
		if err := json.Unmarshal([]byte(says(t, planted(t, s), "", python, "-c", script)), &got); err != nil {
			t.Fatal(err)
		}
		for id, value := range got {
			if value != byID(t, s, id).Value {
				t.Errorf("%s is read as %q", id, value)
			}
		}
	}
}

func TestGitReadsItsFiles(t *testing.T) {
	git := need(t, "git")
	s := newSet(t, 21)
	home := planted(t, s)
	got := says(t, home, "protocol=https\nhost=github.com\n\n", git, "credential", "fill")
	if want := "password=" + byID(t, s, "git-credential").Value + "\n"; !strings.Contains(got, want) || !strings.Contains(got, "username="+s.User()+"\n") {
		t.Errorf("git says %q", got)
	}
	if got := says(t, home, "", git, "config", "--global", "user.email"); !strings.Contains(got, "@") {
		t.Errorf("git's user is %q", got)
	}
}

func TestSSHReadsItsFiles(t *testing.T) {
	need(t, "ssh-keygen")
	ssh := need(t, "ssh")
	s := newSet(t, 22)
	home := planted(t, s)
	if got := says(t, home, "", ssh, "-G", "-F", ".ssh/config", "bastion"); !strings.Contains(got, "hostname bastion.") || !strings.Contains(got, "user "+s.User()+"\n") {
		t.Errorf("ssh says %q", got)
	}
	hosts := strings.Count(string(fileOf(t, s, s.Home()+"/.ssh/known_hosts").Data), "\n")
	if got := says(t, home, "", "ssh-keygen", "-l", "-f", ".ssh/known_hosts"); strings.Count(got, "SHA256:") != hosts || hosts == 0 {
		t.Errorf("of %d known hosts ssh-keygen reads %q", hosts, got)
	}
}

func TestNpmReadsItsFile(t *testing.T) {
	node, npm := need(t, "node"), need(t, "npm")
	s := newSet(t, 23)
	home := planted(t, s)
	root := strings.TrimSpace(says(t, home, "", npm, "root", "-g"))
	const script = `
const at = require.resolve('ini', {paths: [process.argv[1] + '/npm', '/usr/share/nodejs']});
console.log(require(at).parse(require('fs').readFileSync('.npmrc', 'utf8'))['//registry.npmjs.org/:_authToken']);`
	if got := strings.TrimSpace(says(t, home, "", node, "-e", script, root)); got != byID(t, s, "npm-token").Value {
		t.Errorf("npm's parser reads %q", got)
	}
}

func TestShellReadsItsFiles(t *testing.T) {
	bash := need(t, "bash")
	for seed := range uint64(8) {
		s := newSet(t, seed)
		home := planted(t, s)
		for _, name := range []string{".bashrc", ".profile", ".bash_logout", ".bash_history"} {
			says(t, home, "", bash, "-n", name)
		}
		got := says(t, home, "", bash, "-c", `set -a; . ./.env; printf %s "$STRIPE_SECRET_KEY"`)
		if got != byID(t, s, "dotenv-stripe").Value {
			t.Errorf(".env says %q", got)
		}
	}
}
