package config

import (
	"fmt"
	"strings"
)

// place is where a client keeps its servers: a path of keys, "*" for any.
type place struct {
	path []string
	// list allows a list of named entries beside an object of them.
	list   bool
	format []format
}

var anyFormat = []format{formatJSON, formatTOML, formatYAML}

// places are those of the known clients.
var places = []place{
	{[]string{"mcpServers"}, true, anyFormat},                                                         // Claude, Cursor, Windsurf, Continue and most others
	{[]string{"projects", "*", "mcpServers"}, false, []format{formatJSON}},                            // Claude Code, for each directory
	{[]string{"servers"}, false, []format{formatJSON}},                                                // VS Code's mcp.json
	{[]string{"mcp", "servers"}, false, []format{formatJSON}},                                         // VS Code's settings.json
	{[]string{"mcp.servers"}, false, []format{formatJSON}},                                            // the same in one key
	{[]string{"settings", "mcp", "servers"}, false, []format{formatJSON}},                             // VS Code's workspaces
	{[]string{"customizations", "vscode", "mcp", "servers"}, false, []format{formatJSON}},             // development containers
	{[]string{"context_servers"}, false, []format{formatJSON}},                                        // Zed
	{[]string{"mcp_servers"}, false, []format{formatTOML}},                                            // Codex
	{[]string{"extensions"}, false, []format{formatYAML}},                                             // goose
	{[]string{"experimental", "modelContextProtocolServers"}, true, []format{formatJSON, formatYAML}}, // Continue, earlier
}

// leads reports whether a file's own key starts the path of a place.
func leads(key string) bool {
	for _, pl := range places {
		if pl.path[0] == key {
			return true
		}
	}
	return false
}

// extract finds the servers in a file's tree.
func (p *parser) extract(root *node, f format) {
	if root == nil {
		return
	}
	there := false
	for _, pl := range places {
		for _, allowed := range pl.format {
			if allowed == f {
				there = p.walk(root, pl, pl.path) || there
			}
		}
	}
	if !there && len(p.found) == 0 {
		p.found = append(p.found, fmt.Errorf("%s: %w", p.path, ErrNoServers))
	}
}

// walk follows a place's path and reports whether it leads anywhere.
func (p *parser) walk(n *node, pl place, path []string) (there bool) {
	switch {
	case n == nil || len(path) > 0 && n.kind != object:
		return false
	case len(path) == 0:
		return p.entries(n, pl)
	case path[0] == "*":
		for _, m := range n.members {
			there = p.walk(m.value, pl, path[1:]) || there
		}
		return there
	}
	return p.walk(n.get(path[0]), pl, path[1:])
}

// entries reads the servers at a place.
func (p *parser) entries(n *node, pl place) bool {
	name := strings.Join(pl.path, ".")
	switch {
	case n.kind == object:
		seen := map[string]bool{}
		for _, m := range n.members {
			if seen[m.key] {
				p.fault(&m.pos, "server %s stands here once more; clients take the last", quote(m.key))
			}
			seen[m.key] = true
			p.entry(m.key, m.pos, m.value, pl)
		}
	case n.kind == array && pl.list:
		for i, item := range n.items {
			name := fmt.Sprintf("#%d", i+1)
			if v := item.get("name"); v != nil && v.kind == str && v.text != "" {
				name = v.text
			}
			p.entry(name, item.pos, item, pl)
		}
	case n.kind == other:
		return true
	case pl.list || len(pl.path) > 1:
		p.fault(&n.pos, "%s holds no servers: it is not an object of named entries", name)
	default:
		// A key that other kinds of file use too, for something else.
		return false
	}
	return true
}

// entry reads one server.
func (p *parser) entry(name string, at position, n *node, pl place) {
	if n.kind != object {
		p.fault(&at, "server %s is not an object", quote(name))
		return
	}
	if pl.path[0] == "extensions" && inProcess(n) {
		return
	}
	if t := n.get("transport"); t != nil && t.kind == object {
		n = t
	}
	e := &entryReader{p: p, name: name}
	s := Server{Name: name, Env: map[string]string{}, Disabled: disabled(n)}
	s.Line, s.Column = p.place(at)
	e.command(n, &s)
	e.env(n, &s)
	s.Sandbox = sandboxed(n)
	if v, key := n.first("url", "serverUrl", "httpUrl", "uri"); v != nil {
		s.URL = e.string(v, key)
	}
	if v, _ := n.first("headers", "http_headers"); v != nil && v.kind == object {
		s.Headers = map[string]string{}
		for _, m := range v.members {
			s.Headers[m.key] = m.value.text
		}
	}
	switch {
	case e.failed:
		return
	case len(s.Command) == 0 && s.URL == "":
		p.fault(&at, "server %s has neither a command nor a URL", quote(name))
		return
	}
	s.Kind, s.Package = Recognize(s.Command)
	if len(s.Command) == 0 {
		s.Kind = KindURL
	}
	p.servers = append(p.servers, s)
}

// sandboxed reads VS Code's sandbox of a server, where it is switched on.
func sandboxed(n *node) *Sandbox {
	if on := n.get("sandboxEnabled"); on == nil || on.kind != scalar || !strings.EqualFold(on.text, "true") {
		return nil
	}
	s := n.get("sandbox")
	return &Sandbox{AllowWrite: texts(s.get("filesystem").get("allowWrite")), AllowedDomains: texts(s.get("network").get("allowedDomains"))}
}

// texts are the texts of a list, nil where it is none.
func texts(n *node) []string {
	if n == nil || n.kind != array {
		return nil
	}
	out := []string{}
	for _, v := range n.items {
		if v.kind == str {
			out = append(out, v.text)
		}
	}
	return out
}

// inProcess tells goose's own extensions from servers.
func inProcess(n *node) bool {
	v := n.get("type")
	if v == nil {
		return false
	}
	switch v.text {
	case "stdio", "sse", "streamable_http":
		return false
	}
	return true
}

func disabled(n *node) bool {
	if v := n.get("disabled"); v != nil && v.kind == scalar && strings.EqualFold(v.text, "true") {
		return true
	}
	v := n.get("enabled")
	return v != nil && v.kind == scalar && strings.EqualFold(v.text, "false")
}

// entryReader reads the members of one entry and names the entry in errors.
// It has failed if what it read is not what the client would run.
type entryReader struct {
	p      *parser
	name   string
	failed bool
}

func (e *entryReader) fault(at position, format string, args ...any) {
	e.failed = true
	e.p.fault(&at, "server %s: %s", quote(e.name), fmt.Sprintf(format, args...))
}

// command reads the executable and its arguments; Zed once kept both, and the
// environment, in an object of that name.
func (e *entryReader) command(n *node, s *Server) {
	v, key := n.first("command", "cmd")
	if v == nil {
		return
	}
	if v.kind == object {
		e.env(v, s)
		n = v
		if v, key = v.first("path", "command"); v == nil {
			e.fault(n.pos, "the command has no path")
			return
		}
	}
	executable := e.string(v, key)
	if executable == "" {
		if !e.failed {
			e.fault(v.pos, "the command is empty")
		}
		return
	}
	s.Command = []string{executable}
	args := n.get("args")
	if args == nil || args.kind == other {
		return
	}
	if args.kind != array {
		e.fault(args.pos, "args is not a list")
		return
	}
	for _, a := range args.items {
		s.Command = append(s.Command, e.string(a, "an argument"))
	}
}

// env reads the variables. goose has names whose values it keeps elsewhere.
func (e *entryReader) env(n *node, s *Server) {
	if v, key := n.first("env", "envs"); v != nil {
		if v.kind != object {
			e.p.fault(&v.pos, "server %s: %s is not an object of variables", quote(e.name), key)
		}
		for _, m := range v.members {
			s.Env[m.key] = m.value.text
		}
	}
	keys := n.get("env_keys")
	if keys == nil || keys.kind != array {
		return
	}
	for _, k := range keys.items {
		if _, set := s.Env[k.text]; !set && k.kind == str {
			s.Env[k.text] = ""
		}
	}
}

// string reads a text. A number or a boolean is taken as it is written, and
// reported, since clients differ in that.
func (e *entryReader) string(v *node, what string) string {
	switch v.kind {
	case str:
		if strings.ContainsRune(v.text, 0) {
			e.fault(v.pos, "%s has a NUL character", what)
			return ""
		}
	case scalar:
		e.p.fault(&v.pos, "server %s: %s is not a string", quote(e.name), what)
	default:
		e.fault(v.pos, "%s is not a string", what)
	}
	return v.text
}

// quote makes a name fit for an error.
func quote(name string) string {
	if len(name) > 128 {
		return fmt.Sprintf("with a name of %d bytes", len(name))
	}
	return fmt.Sprintf("%q", name)
}
