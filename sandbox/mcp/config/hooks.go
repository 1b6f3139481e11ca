package config

import (
	"path"
	"path/filepath"
)

// Hook is a command that a client itself runs at an event, without a server.
type Hook struct {
	// Event is the client's name of it, such as "PreToolUse".
	Event string
	// Command is a shell's command line, as it is written.
	Command string
	Position
}

// maxHooks bounds the hooks of one file.
const maxHooks = 1000

// commands finds the hooks of a file, and the other commands of a client's settings.
func (p *parser) commands(root *node) {
	hooks := root.get("hooks")
	if hooks != nil && hooks.kind == str && p.isPlugin() {
		p.includes = append(p.includes, Include{Path: hooks.text, Position: p.at(hooks.pos)})
	}
	if hooks == nil || hooks.kind != object {
		hooks = &node{}
	}
	for _, m := range hooks.members {
		p.hooksIn(m.key, m.value, 0)
	}
	for _, key := range []string{"statusLine", "fileSuggestion"} {
		p.hooksIn(key, root.get(key), 0)
	}
	for _, key := range []string{"apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper"} {
		p.hook(key, root.get(key))
	}
}

// hooksIn finds the commands below an event: clients group them in lists by what they match.
func (p *parser) hooksIn(event string, n *node, depth int) {
	if n == nil || depth > 5 {
		return
	}
	for _, m := range n.members {
		switch m.key {
		case "command", "bash", "powershell":
			p.hook(event, m.value)
		default:
			p.hooksIn(event, m.value, depth+1)
		}
	}
	for _, item := range n.items {
		p.hooksIn(event, item, depth+1)
	}
}

func (p *parser) hook(event string, v *node) {
	if v == nil || v.kind != str || v.text == "" || len(p.hooks) >= maxHooks {
		return
	}
	p.hooks = append(p.hooks, Hook{Event: event, Command: v.text, Position: p.at(v.pos)})
}

// isPlugin reports whether the file is a plugin's or a marketplace's manifest, which may
// name other files.
func (p *parser) isPlugin() bool {
	name := path.Base(filepath.ToSlash(p.path))
	return name == "plugin.json" || name == "marketplace.json"
}
