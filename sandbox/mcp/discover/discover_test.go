package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// tree writes the files of an archive and opens their directory.
func tree(t *testing.T, archive string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// shown is one line for everything that was found.
func shown(f *Found) string {
	var b strings.Builder
	for _, file := range f.Files {
		for _, s := range file.Servers {
			fmt.Fprintf(&b, "%s:%d %s: %s\n", file.Path, s.Line, file.Client, s.Name)
		}
		for _, h := range file.Hooks {
			fmt.Fprintf(&b, "%s:%d %s: hook %s\n", file.Path, h.Line, file.Client, h.Event)
		}
	}
	for _, o := range f.Others {
		fmt.Fprintf(&b, "%s %s\n", o.Kind, o.Path)
	}
	for _, s := range f.Skipped {
		fmt.Fprintf(&b, "skipped %s\n", s)
	}
	for _, err := range f.Faults {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

const server = `{"mcpServers":{"a":{"command":"x"}}}`

// Every client's file in a repository is found, and no other tool's file is taken for one.
func TestTree(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	jsons := map[string]string{"opencode.json": `{"mcp":{"a":{"command":["x"]}}}`, ".vscode/settings.json": `{"mcp":{"servers":{"a":{"command":"x"}}}}`, ".vscode/mcp.json": `{"servers":{"a":{"command":"x"}}}`,
		"x.code-workspace": `{"settings":{"mcp":{"servers":{"a":{"command":"x"}}}}}`, ".devcontainer/devcontainer.json": `{"customizations":{"vscode":{"mcp":{"servers":{"a":{"command":"x"}}}}}}`,
		".zed/settings.json": `{"context_servers":{"a":{"command":"x"}}}`, "server.json": `{"name":"a","packages":[{"registryType":"npm","identifier":"x"}]}`,
		"bundle/manifest.json": `{"manifest_version":"0.3","name":"a","server":{"mcp_config":{"command":"x"}}}`,
		".codex/config.toml":   "[mcp_servers.a]\ncommand='x'\n", ".config/goose/config.yaml": "extensions:\n  a: {type: stdio, cmd: x}\n",
		"compose.yaml": "services:\n  a:\n    image: mcp/a\n", ".docker/mcp/catalogs/docker-mcp.yaml": "registry:\n  a: {image: mcp/a}\n", ".continue/mcpServers/a.yaml": "mcpServers:\n  - {name: a, command: x}\n"}
	for _, name := range []string{".mcp.json", "sub/.mcp.json", ".cursor/mcp.json", ".kiro/settings/mcp.json", ".junie/mcp/mcp.json", ".roo/mcp.json", ".amazonq/mcp.json", ".gemini/settings.json", ".augment/settings.json",
		"managed-mcp.json", "claude_desktop_config.json", ".copilot/mcp-config.json", "cline_mcp_settings.json", "windsurf/mcp_config.json", ".gemini/antigravity/mcp_config.json", "gemini-extension.json"} {
		jsons[name] = server
	}
	for name, text := range jsons {
		fmt.Fprintf(&b, "-- %s --\n%s\n", name, text)
	}
	b.WriteString("-- package.json --\n{\"name\":\"x\"}\n-- web/manifest.json --\n{\"manifest_version\":3,\"name\":\"x\"}\n-- docker-compose.yml --\nservices:\n  db: {image: postgres}\n-- node_modules/p/.mcp.json --\n" + server +
		"\n-- other/settings.json --\n{not json\n-- .claude/settings.json --\n{\"permissions\":{}}\n")
	got := Tree(tree(t, b.String()))
	if len(got.Faults) > 0 || len(got.Skipped) != 1 {
		t.Errorf("%s", shown(got))
	}
	for _, f := range got.Files {
		if len(f.Servers) != 1 || f.Servers[0].Name != "a" || f.Client == "" {
			t.Errorf("%s: %+v", f.Path, f.Servers)
		}
		delete(jsons, f.Path)
	}
	for name := range jsons {
		t.Errorf("%s was not found", name)
	}
}

func TestPlugins(t *testing.T) {
	t.Parallel()
	got := Tree(tree(t, `
-- p/.claude-plugin/plugin.json --
{"name": "p", "mcpServers": "./config/servers.json", "hooks": "${CLAUDE_PLUGIN_ROOT}/config/hooks.json"}
-- p/config/servers.json --
{"mcpServers": {"named": {"command": "x"}}}
-- p/config/hooks.json --
{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "y"}]}]}}
-- p/hooks/hooks.json --
{"hooks": {"Start": [{"hooks": [{"type": "command", "command": "z"}]}]}}
-- p/skills/s/SKILL.md --
---
-- q/.claude-plugin/plugin.json --
{"name": "q", "mcpServers": "../../etc/servers.json", "hooks": "missing.json"}
`))
	const want = `p/config/hooks.json:1 Claude Code: hook Stop
p/config/servers.json:1 Claude Code: named
p/hooks/hooks.json:1 Claude Code: hook Start
plugin p
skill p/skills/s
plugin q
error: q/.claude-plugin/plugin.json:1:64: names a file that cannot be read
error: q/.claude-plugin/plugin.json:1:29: names a file out of the tree, which is not read
`
	if diff := cmp.Diff(want, shown(got)); diff != "" {
		t.Error(diff)
	}
}

// What cannot be read is told of at its place, and hides nothing else.
func TestHostileTrees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		says []string
		// found are the servers' files.
		found int
	}{
		"a link out of the tree": {func(t *testing.T, dir string) { link(t, "/etc/hosts", dir, ".mcp.json") }, []string{"error: .mcp.json: is a link to nothing, or out of the tree"}, 0},
		"a link to nothing":      {func(t *testing.T, dir string) { link(t, "nothing", dir, ".mcp.json") }, []string{"error: .mcp.json: is a link to nothing"}, 0},
		"a link within": {func(t *testing.T, dir string) {
			write(t, dir, "shared/servers", server)
			link(t, "shared/servers", dir, ".mcp.json")
		}, nil, 1},
		"a client's directory by a link": {func(t *testing.T, dir string) {
			write(t, dir, "shared/mcp.json", server)
			link(t, "shared", dir, ".cursor")
		}, nil, 2},
		"a directory of the name": {func(t *testing.T, dir string) { write(t, dir, ".mcp.json/x", "") }, nil, 0},
		"a link in a circle":      {func(t *testing.T, dir string) { write(t, dir, "a", ""); link(t, ".", dir, ".cursor") }, []string{"directories deep; coalmine does not look into it"}, 0},
		"deep":                    {func(t *testing.T, dir string) { write(t, dir, strings.Repeat("d/", maxDepth+2)+".mcp.json", server) }, []string{"directories deep; coalmine does not look into it"}, 0},
		"too large":               {func(t *testing.T, dir string) { write(t, dir, ".mcp.json", strings.Repeat(" ", MaxFile+1)) }, []string{"error: .mcp.json: is larger than"}, 0},
		"ten megabytes":           {func(t *testing.T, dir string) { write(t, dir, ".mcp.json", strings.Repeat(" ", 10<<20)+server) }, nil, 1},
		"broken": {func(t *testing.T, dir string) {
			write(t, dir, ".mcp.json", "{\n \"mcpServers\": {]}")
			write(t, dir, ".cursor/mcp.json", server)
		}, []string{"error: .mcp.json:2:17: "}, 1},
		"broken, with servers": {func(t *testing.T, dir string) { write(t, dir, ".gemini/settings.json", "{\"mcpServers\": {") }, []string{"error: .gemini/settings.json:"}, 0},
		"broken, of another":   {func(t *testing.T, dir string) { write(t, dir, "manifest.json", "{") }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.make(t, dir)
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			got := Tree(root)
			if len(got.Files) != c.found || len(got.Faults) > 0 != (c.says != nil) {
				t.Errorf("found %s", shown(got))
			}
			for _, say := range c.says {
				if !strings.Contains(shown(got), say) {
					t.Errorf("%q is not in %s", say, shown(got))
				}
			}
		})
	}
}

func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it makes a pipe as Linux does")
	}
	dir := t.TempDir()
	pipe(t, filepath.Join(dir, ".mcp.json"))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if got := shown(Tree(root)); got != "error: .mcp.json: is not a regular file\n" {
		t.Error(got)
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	got := Home(tree(t, `
-- .claude.json --
{"projects": {"/p": {"mcpServers": {"of-project": {"command": "x"}}}}, "mcpServers": {"of-user": {"command": "y"}}}
-- .config/Code/User/profiles/1/mcp.json --
{"servers": {"of-profile": {"command": "z"}}}
-- .claude/plugins/cache/p/.mcp.json --
{"of-plugin": {"command": "z"}}
-- .codeium/windsurf/mcp_config.json --
{"mcpServers": {"w": {"serverUrl": "https://example.com"}}}
-- code/project/.mcp.json --
{"mcpServers": {"elsewhere": {"command": "z"}}}
`))
	const want = `.claude.json:1 Claude Code: of-user
.claude.json:1 Claude Code: of-project
.claude/plugins/cache/p/.mcp.json:1 Claude Code: of-plugin
.codeium/windsurf/mcp_config.json:1 Windsurf: w
.config/Code/User/profiles/1/mcp.json:1 any client: of-profile
`
	if diff := cmp.Diff(want, shown(got)); diff != "" {
		t.Error(diff)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, dir, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// FuzzTree reads one file under every name that a client looks for.
func FuzzTree(f *testing.F) {
	f.Add(uint8(0), []byte(server))
	f.Add(uint8(30), []byte(`{"hooks":{"a":[{"command":"x"}]},"mcpServers":"./x.json"}`))
	f.Add(uint8(50), []byte("registry:\n  a: {image: x}\n"))
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := strings.NewReplacer("*", "x").Replace(places[int(which)%len(places)].name)
		dir := t.TempDir()
		write(t, dir, name, string(data))
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		got := Tree(root)
		if len(got.Faults) > maxFaults+1 {
			t.Errorf("%d faults", len(got.Faults))
		}
		for _, f := range got.Files {
			for _, s := range f.Servers {
				if s.Line < 1 || s.Column < 1 {
					t.Errorf("%q stands nowhere", s.Name)
				}
				for _, r := range s.References(config.Context{Workspace: dir}) {
					if r.Text == "" || r.Value != "" && r.Missing != "" {
						t.Errorf("%+v", r)
					}
				}
			}
		}
	})
}
