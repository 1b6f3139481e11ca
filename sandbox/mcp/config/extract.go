package config

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// place is where a client keeps its servers: a path of keys, "*" for any.
type place struct {
	path []string
	// list allows a list of named entries beside an object of them.
	list   bool
	format []format
	// files are the names of the files that keep servers here, none for any file.
	files []string
	// read reads an entry that is written in another way, nil for the usual one. It
	// returns false for what is no server.
	read func(e *entryReader, n *node, s *Server) bool
}

// in reports whether a file of this name keeps servers at the place.
func (pl *place) in(name string) bool {
	return len(pl.files) == 0 || slices.ContainsFunc(pl.files, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // the patterns are constants
		return ok
	})
}

var anyFormat = []format{formatJSON, formatTOML, formatYAML}

// places are those of the known clients.
var places = []place{
	{path: []string{"mcpServers"}, list: true, format: anyFormat},                                                         // Claude, Cursor, Windsurf, Continue and most others
	{path: []string{"projects", "*", "mcpServers"}, format: onlyJSON},                                                     // Claude Code, for each directory
	{path: []string{"plugins", "*", "mcpServers"}, format: onlyJSON, files: []string{"marketplace.json"}},                 // Claude Code's marketplaces
	{path: []string{"servers"}, format: onlyJSON},                                                                         // VS Code's mcp.json
	{path: []string{"mcp", "servers"}, format: onlyJSON},                                                                  // VS Code's settings.json
	{path: []string{"mcp.servers"}, format: onlyJSON},                                                                     // the same in one key
	{path: []string{"settings", "mcp", "servers"}, format: onlyJSON},                                                      // VS Code's workspaces
	{path: []string{"customizations", "vscode", "mcp", "servers"}, format: onlyJSON},                                      // development containers
	{path: []string{"context_servers"}, format: onlyJSON},                                                                 // Zed
	{path: []string{"amp.mcpServers"}, format: onlyJSON},                                                                  // Amp
	{path: []string{"augment.advanced", "mcpServers"}, list: true, format: onlyJSON},                                      // Augment in VS Code
	{path: []string{"mcp_servers"}, format: []format{formatTOML}},                                                         // Codex
	{path: []string{"extensions"}, list: true, format: []format{formatYAML}},                                              // goose, and its recipes
	{path: []string{"experimental", "modelContextProtocolServers"}, list: true, format: []format{formatJSON, formatYAML}}, // Continue, earlier
	{path: []string{"mcp"}, format: onlyJSON, files: []string{"opencode.json", "opencode.jsonc", "crush.json", ".crush.json"}, read: readNamed},
	{path: []string{"packages"}, list: true, format: onlyJSON, files: []string{"server.json"}, read: readPackage},
	{path: []string{"remotes"}, list: true, format: onlyJSON, files: []string{"server.json"}, read: readRemote},
	{path: []string{"server"}, format: onlyJSON, files: []string{"manifest.json"}, read: readBundle},
	{path: []string{"registry"}, format: []format{formatYAML}, read: readCatalogue}, // Docker's MCP catalogue
	{path: []string{"services"}, format: []format{formatYAML}, files: []string{"*compose*.yaml", "*compose*.yml"}, read: readService},
	{path: nil, format: onlyJSON, files: []string{".mcp.json"}, read: readNamed}, // a plugin's, without a key around
}

var onlyJSON = []format{formatJSON}

// leads reports whether a file's own key starts the path of a place.
func leads(key string) bool {
	for _, pl := range places {
		if len(pl.path) > 0 && pl.path[0] == key {
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
	name := path.Base(filepath.ToSlash(p.path))
	for _, pl := range places {
		if slices.Contains(pl.format, f) && pl.in(name) && (len(pl.path) > 0 || !there) {
			there = p.walk(root, pl, pl.path) || there
		}
	}
	if !there && len(p.found) == 0 {
		p.found = append(p.found, fmt.Errorf("%s: %w", p.path, ErrNoServers))
	}
}

// walk follows a place's path and reports whether it leads anywhere.
func (p *parser) walk(n *node, pl place, keys []string) (there bool) {
	switch {
	case n == nil || len(keys) > 0 && n.kind != object && (keys[0] != "*" || n.kind != array):
		return false
	case len(keys) == 0:
		return p.entries(n, pl)
	case keys[0] == "*":
		for _, m := range n.members {
			there = p.walk(m.value, pl, keys[1:]) || there
		}
		for _, item := range n.items {
			there = p.walk(item, pl, keys[1:]) || there
		}
		return there
	}
	if next := n.get(keys[0]); next != nil {
		p.repeated(n, keys[0])
		return p.walk(next, pl, keys[1:])
	}
	return false
}

// entries reads the servers at a place.
func (p *parser) entries(n *node, pl place) bool {
	name := strings.Join(pl.path, ".")
	before := len(p.servers)
	switch {
	case pl.single():
		p.entry(p.rootName(), n.pos, n, pl)
		return len(p.servers) > before
	case n.kind == object:
		seen := map[string]bool{}
		for _, m := range n.members {
			if seen[m.key] {
				p.fault(&m.pos, "server %s appears here again; clients use the last one", quote(m.key))
			}
			seen[m.key] = true
			p.entry(m.key, m.pos, m.value, pl)
		}
		if len(pl.files) > 0 {
			return len(p.servers) > before // other tools have keys of that name
		}
	case n.kind == array && pl.list:
		for i, item := range n.items {
			p.entry(p.itemName(i, item, n, pl), item.pos, item, pl)
		}
	case n.kind == other:
		return true
	case n.kind == str && p.isPlugin():
		p.includes = append(p.includes, Include{Path: n.text, Position: p.at(n.pos)})
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
	if len(p.servers) >= maxServers {
		if !p.tooMany {
			p.fault(&at, "lists more than %d servers: those from here on are not read", maxServers)
		}
		p.tooMany = true
		return
	}
	if n.kind != object {
		if pl.path != nil {
			p.fault(&at, "server %s is not an object", quote(name))
		}
		return
	}
	if len(pl.path) > 0 && pl.path[0] == "extensions" && inProcess(n) {
		return
	}
	e := &entryReader{p: p, name: name}
	s := Server{Name: name, Env: map[string]string{}, Disabled: disabled(n)}
	s.Line, s.Column = p.place(at)
	switch {
	case pl.read == nil:
		e.usual(n, &s)
	case !pl.read(e, n, &s):
		return
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
	s.Inputs = p.asked(&s)
	p.servers = append(p.servers, s)
}

// usual reads an entry as most clients write it.
func (e *entryReader) usual(n *node, s *Server) {
	if t := n.get("transport"); t != nil && t.kind == object {
		n = t
	}
	for _, key := range []string{"command", "cmd", "args", "env", "url", "cwd"} {
		e.p.repeated(n, key)
	}
	e.command(n, s)
	e.env(n, s)
	if v, key := n.first("cwd", "workingDirectory", "working_directory"); v != nil {
		s.Dir, s.At.Dir = e.string(v, key), e.p.at(v.pos)
	}
	s.Sandbox = sandboxed(n)
	if v, key := n.first("url", "serverUrl", "httpUrl", "uri"); v != nil {
		s.URL, s.At.URL = e.string(v, key), e.p.at(v.pos)
	}
}

// repeated records a key that an object has more than once: readers differ in which they take.
func (p *parser) repeated(n *node, key string) {
	seen := false
	for _, m := range n.members {
		if m.key != key {
			continue
		}
		if seen {
			p.fault(&m.pos, "the key %s appears here again; clients use the last one", quote(key))
		}
		seen = true
	}
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
	words := []*node{v}
	if v.kind == array {
		words = v.items
	}
	if len(words) == 0 || words[0].kind == str && words[0].text == "" {
		e.fault(v.pos, "the command is empty")
		return
	}
	s.Command = []string{e.string(words[0], key)}
	s.At.Command = e.p.at(words[0].pos)
	e.args(words[1:], s)
	args := n.get("args")
	if args == nil || args.kind == other {
		return
	}
	if args.kind != array {
		e.fault(args.pos, "args is not a list")
		return
	}
	e.args(args.items, s)
}

// args adds arguments to a command.
func (e *entryReader) args(items []*node, s *Server) {
	for _, a := range items {
		s.Command = append(s.Command, e.string(a, "an argument"))
		s.At.Args = append(s.At.Args, e.p.at(a.pos))
	}
}

// env reads the variables. goose has names whose values it keeps elsewhere.
func (e *entryReader) env(n *node, s *Server) {
	if v, key := n.first("env", "envs", "environment"); v != nil {
		if v.kind != object {
			e.p.fault(&v.pos, "server %s: %s is not an object of variables", quote(e.name), key)
		}
		for _, m := range v.members {
			e.set(s, m.key, m.value.text, m.pos)
		}
	}
	keys := n.get("env_keys")
	if keys == nil || keys.kind != array {
		return
	}
	for _, k := range keys.items {
		if _, set := s.Env[k.text]; !set && k.kind == str {
			e.set(s, k.text, "", k.pos)
		}
	}
}

// set gives the server a variable.
func (e *entryReader) set(s *Server, name, value string, at position) {
	if s.At.Env == nil {
		s.At.Env = map[string]Position{}
	}
	s.Env[name], s.At.Env[name] = value, e.p.at(at)
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
