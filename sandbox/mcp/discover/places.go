package discover

import (
	"path"
	"strings"
)

// place is a name under which a client keeps a configuration.
type place struct {
	// name is a pattern of path.Match for the last elements of a path.
	name   string
	client string
	// weak says that other tools have files of that name: faults and missing servers in it
	// say nothing.
	weak bool
}

// places are matched in order; the first one names the client.
var places = []place{
	{name: ".vscode/mcp.json", client: "VS Code"},
	{name: ".vscode/settings.json", client: "VS Code", weak: true},
	{name: "*.code-workspace", client: "VS Code", weak: true},
	{name: "User/mcp.json", client: "VS Code"},
	{name: "User/settings.json", client: "VS Code", weak: true},
	{name: "devcontainer.json", client: "devcontainer", weak: true},
	{name: ".devcontainer.json", client: "devcontainer", weak: true},
	{name: ".cursor/mcp.json", client: "Cursor"},
	{name: ".cursor/hooks.json", client: "Cursor", weak: true},
	{name: ".windsurf/hooks.json", client: "Windsurf", weak: true},
	{name: "windsurf/mcp_config.json", client: "Windsurf"},
	{name: "antigravity/mcp_config.json", client: "Antigravity"},
	{name: "mcp_config.json", client: "Windsurf"},
	{name: ".kiro/settings/mcp.json", client: "Kiro"},
	{name: ".junie/mcp/mcp.json", client: "JetBrains"},
	{name: ".idea/mcp.json", client: "JetBrains"},
	{name: "intellij/mcp.json", client: "JetBrains"},
	{name: ".roo/mcp.json", client: "Roo Code"},
	{name: ".amazonq/mcp.json", client: "Amazon Q"},
	{name: ".amazonq/default.json", client: "Amazon Q"},
	{name: "amazonq/mcp.json", client: "Amazon Q"},
	{name: "amazonq/default.json", client: "Amazon Q"},
	{name: "amazonq/*agents/*.json", client: "Amazon Q", weak: true},
	{name: ".amazonq/*agents/*.json", client: "Amazon Q", weak: true},
	{name: ".continue/mcpServers/*.json", client: "Continue"},
	{name: ".continue/mcpServers/*.yaml", client: "Continue"},
	{name: ".continue/mcpServers/*.yml", client: "Continue"},
	{name: ".continue/config.yaml", client: "Continue", weak: true},
	{name: ".continue/config.json", client: "Continue", weak: true},
	{name: ".mcp.json", client: "Claude Code"},
	{name: "mcp.json", client: "any client", weak: true},
	{name: ".claude/settings.json", client: "Claude Code", weak: true},
	{name: ".claude/settings.local.json", client: "Claude Code", weak: true},
	{name: ".claude.json", client: "Claude Code", weak: true},
	{name: "managed-mcp.json", client: "Claude Code"},
	{name: "managed-settings.json", client: "Claude Code", weak: true},
	{name: ".claude-plugin/plugin.json", client: "Claude Code", weak: true},
	{name: ".claude-plugin/marketplace.json", client: "Claude Code", weak: true},
	{name: "hooks/hooks.json", client: "Claude Code", weak: true},
	{name: "claude_desktop_config.json", client: "Claude Desktop"},
	{name: ".gemini/settings.json", client: "Gemini", weak: true},
	{name: "gemini-extension.json", client: "Gemini", weak: true},
	{name: ".codex/config.toml", client: "Codex", weak: true},
	{name: "opencode.json", client: "opencode", weak: true},
	{name: "opencode.jsonc", client: "opencode", weak: true},
	{name: "crush.json", client: "Crush", weak: true},
	{name: ".crush.json", client: "Crush", weak: true},
	{name: "goose/config.yaml", client: "goose", weak: true},
	{name: ".zed/settings.json", client: "Zed", weak: true},
	{name: "zed/settings.json", client: "Zed", weak: true},
	{name: "mcp-config.json", client: "Copilot CLI"},
	{name: ".github/hooks/*.json", client: "Copilot CLI", weak: true},
	{name: ".augment/settings.json", client: "Augment", weak: true},
	{name: "cline_mcp_settings.json", client: "Cline"},
	{name: "mcp_settings.json", client: "Roo Code"},
	{name: "mcp/catalogs/*.yaml", client: "Docker"},
	{name: "*mcp*catalog*.yaml", client: "Docker", weak: true},
	{name: "docker-mcp.yaml", client: "Docker", weak: true},
	{name: "compose.yaml", client: "Docker", weak: true},
	{name: "compose.yml", client: "Docker", weak: true},
	{name: "docker-compose*.yaml", client: "Docker", weak: true},
	{name: "docker-compose*.yml", client: "Docker", weak: true},
	{name: "server.json", client: "MCP registry", weak: true},
	{name: "manifest.json", client: "mcpb", weak: true},
}

// placeOf is what a path of a tree is by its name; the second result is false for nothing.
func placeOf(name string) (place, bool) {
	for _, p := range places {
		if matches(p.name, name) {
			return p, true
		}
	}
	return place{}, false
}

// Client is the client that keeps a configuration under this path, "any client" where the
// name is no one's own.
func Client(name string) string {
	if p, ok := placeOf(name); ok {
		return p.client
	}
	return "any client"
}

// clientDirs are the names of directories in which clients look.
var clientDirs = func() map[string]bool {
	dirs := map[string]bool{}
	for _, p := range places {
		if dir, _, below := strings.Cut(p.name, "/"); below && strings.HasPrefix(dir, ".") {
			dirs[dir] = true
		}
	}
	return dirs
}()

// matches reports whether the last elements of a path match a pattern.
func matches(pattern, name string) bool {
	elements := strings.Split(name, "/")
	if n := strings.Count(pattern, "/") + 1; len(elements) > n {
		elements = elements[len(elements)-n:]
	}
	ok, _ := path.Match(pattern, strings.Join(elements, "/")) // the patterns are constants
	return ok
}

// homes are the places in a home directory, where a whole walk would take too long. What
// ends with a slash is walked.
var homes = []string{
	".claude.json", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/skills/", ".claude/plugins/",
	".config/Claude/claude_desktop_config.json", "Library/Application Support/Claude/claude_desktop_config.json", "AppData/Roaming/Claude/claude_desktop_config.json",
	".config/Claude/Claude Extensions/", "Library/Application Support/Claude/Claude Extensions/",
	".config/Code/User/", ".config/Code - Insiders/User/", ".config/VSCodium/User/", ".config/Cursor/User/", "Library/Application Support/Code/User/", "AppData/Roaming/Code/User/",
	".cursor/mcp.json", ".cursor/hooks.json", ".codeium/", ".kiro/settings/mcp.json", ".config/zed/settings.json", ".codex/config.toml", ".codex/skills/",
	".gemini/settings.json", ".gemini/extensions/", ".gemini/antigravity/mcp_config.json",
	".config/opencode/", ".config/crush/crush.json", ".config/goose/config.yaml", ".copilot/mcp-config.json", ".config/github-copilot/intellij/mcp.json",
	".aws/amazonq/", ".augment/settings.json", ".continue/config.yaml", ".continue/config.json", ".continue/mcpServers/", ".junie/mcp/mcp.json", ".roo/mcp.json",
	".docker/mcp/catalogs/", ".agents/skills/",
}

// skipped are directories that hold other people's packages or a tool's own files.
var skipped = map[string]bool{
	".git": true, ".hg": true, ".svn": true, "node_modules": true, "__pycache__": true, ".venv": true, "site-packages": true, ".tox": true,
	"workspaceStorage": true, "History": true, "CachedData": true,
}
