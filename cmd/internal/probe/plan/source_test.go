package plan

import (
	"os"
	"path/filepath"
	"testing"
)

// tree makes files below a fresh directory; a name that ends in a slash is a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAuditRoot(t *testing.T) {
	dir := tree(t, map[string]string{
		"package.json": "{}", "node_modules/@a/b/package.json": "{}", "node_modules/@a/b/dist/index.js": "",
		"venv/pyvenv.cfg": "", "venv/bin/python": "\x7fELF", "venv/lib/python3.11/site-packages/mcp_time/__init__.py": "",
		"venv/bin/mcp-time": "#!/venv/bin/python\nimport sys\nfrom mcp_time import main\n",
		"plain/server.py":   "",
		"project/setup.py":  "", "project/src/app/main.py": "",
		"compiled/go.mod": "", "compiled/bin/server": "\x7fELF",
	})
	at := func(p string) string { return filepath.Join(dir, p) }
	for _, c := range []struct {
		name      string
		command   []string
		serverDir string
		want      string
	}{
		{"npm package", []string{"node", at("node_modules/@a/b/dist/index.js"), "/data"}, dir, at("node_modules/@a/b")},
		{"module of an environment", []string{at("venv/bin/python"), "-m", "mcp_time"}, at("venv"), at("venv/lib/python3.11/site-packages/mcp_time")},
		{"console script", []string{at("venv/bin/mcp-time")}, at("venv"), at("venv/lib/python3.11/site-packages/mcp_time")},
		{"plain script", []string{"python3", at("plain/server.py")}, at("plain"), at("plain")},
		{"project", []string{"python3", at("project/src/app/main.py")}, at("project"), at("project")},
		{"compiled", []string{at("compiled/bin/server")}, at("compiled/bin"), ""},
		{"no directory", []string{"python3", "-m", "mcp_time"}, "", ""},
		{"a hostile module name", []string{at("venv/bin/python"), "-m", "../../.."}, at("venv"), ""},
	} {
		if got := sourceRoot("", c.command, c.serverDir); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestShortName(t *testing.T) {
	for in, want := range map[string]string{
		"/a/node_modules/@s/p/dist/index.js": "@s/p", "/a/node_modules/p/cli.js": "p", "/x/honest/server.py": "honest/server.py",
		"/usr/bin/node": "node", "-m": "-m", "/data": "data",
	} {
		if got := shortName(in); got != want {
			t.Errorf("%s is called %s, want %s", in, got, want)
		}
	}
}

func TestDecoyKeepsTheShape(t *testing.T) {
	for name, value := range map[string]string{"API_KEY": "sk-Abc123", "DB_PASSWORD": "p4ss", "OTHER": "abcdefgh12345678IJ"} {
		got := decoyValue(name, value)
		if got == value || len(got) != len(value) {
			t.Errorf("%s=%s becomes %s", name, value, got)
		}
	}
	for name, value := range map[string]string{"LOG_LEVEL": "debug", "PORT": "8080", "NODE_ENV": "production"} {
		if got := decoyValue(name, value); got != value {
			t.Errorf("the setting %s=%s becomes %s", name, value, got)
		}
	}
	if got := decoyValue("SERVICE_URL", "https://corp.example.org/x"); got != "https://service.internal/" {
		t.Errorf("a real host stays: %s", got)
	}
}
