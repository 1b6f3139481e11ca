package canaries

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

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

// The kubeconfig is YAML whose certificate is signed by its authority and
// belongs to its key.
func TestKubeconfig(t *testing.T) {
	for seed := range uint64(4) {
		s := newSet(t, 30+seed)
		var doc struct {
			APIVersion     string `yaml:"apiVersion"`
			CurrentContext string `yaml:"current-context"`
			Clusters       []struct {
				Name    string
				Cluster map[string]string
			}
			Users []struct {
				Name string
				User map[string]string
			}
			Contexts []struct {
				Name    string
				Context map[string]string
			}
		}
		c := byID(t, s, "kube-key")
		if err := yaml.Unmarshal(fileOf(t, s, c.Path).Data, &doc); err != nil || doc.APIVersion != "v1" || len(doc.Users) != 2 || len(doc.Contexts) != 2 {
			t.Fatalf("%v: %+v", err, doc)
		}
		if doc.Users[0].User["token"] != byID(t, s, "kube-token").Value {
			t.Error("the token is elsewhere")
		}
		data := func(text string) []byte {
			b, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		cert, key := data(doc.Users[1].User["client-certificate-data"]), data(doc.Users[1].User["client-key-data"])
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			t.Error(err)
		}
		if strings.TrimSpace(string(key)) != c.Value {
			t.Error("the canary is not the key")
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(data(doc.Clusters[1].Cluster["certificate-authority-data"])) {
			t.Fatal("no authority")
		}
		block, _ := pem.Decode(cert)
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, CurrentTime: leaf.NotBefore.Add(1)}); err != nil {
			t.Error(err)
		}
		if hits := s.Find(cert); hits != nil {
			t.Errorf("the certificate counts as %v", hits)
		}
		for how, text := range map[string][]byte{"PEM": key, "a line": []byte(strings.Split(string(key), "\n")[1])} {
			if !has(s.Find(text), c.ID) {
				t.Errorf("the key as %s is not found", how)
			}
		}
	}
}

// Each client's configuration has servers, whose keys are the canaries.
func TestClientConfigs(t *testing.T) {
	s := newSet(t, 24)
	for id, key := range map[string]string{
		"claude-desktop-github": "mcpServers", "claude-desktop-slack": "mcpServers", "cursor-linear": "mcpServers", "cursor-postgres": "mcpServers", "vscode-notion": "servers",
	} {
		c := byID(t, s, id)
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(fileOf(t, s, c.Path).Data, &doc); err != nil {
			t.Fatal(err)
		}
		var servers map[string]struct {
			Command, URL string
			Args         []string
			Env          map[string]string
		}
		if err := json.Unmarshal(doc[key], &servers); err != nil || len(servers) < 2 {
			t.Fatalf("%s: %v: %v", c.Path, servers, err)
		}
		found := false
		for _, server := range servers {
			for _, v := range server.Env {
				found = found || v == c.Value
			}
			found = found || strings.Contains(strings.Join(server.Args, " "), c.Value)
		}
		if !found {
			t.Errorf("%s is no server's key", id)
		}
	}
	docker := byID(t, s, "docker-token")
	var doc struct {
		Auths map[string]struct{ Auth string }
	}
	if err := json.Unmarshal(fileOf(t, s, docker.Path).Data, &doc); err != nil {
		t.Fatal(err)
	}
	auth, err := base64.StdEncoding.DecodeString(doc.Auths["https://index.docker.io/v1/"].Auth)
	if err != nil || string(auth) != s.User()+":"+docker.Value {
		t.Errorf("docker's login is %q, %v", auth, err)
	}
}
