package config

import (
	"fmt"
	"path"
	"strings"
)

// single reports whether the place holds one server instead of named ones.
func (pl *place) single() bool { return len(pl.path) == 1 && pl.path[0] == "server" }

// rootName is the name that a file gives its one server.
func (p *parser) rootName() string {
	if v := p.root.get("name"); v != nil && v.kind == str && v.text != "" {
		return v.text
	}
	return "#1"
}

// itemName names an entry of a list: by its own name, else by its number.
func (p *parser) itemName(i int, item, list *node, pl place) string {
	if pl.read != nil {
		// A registry's entry has one name for all its packages.
		if len(list.items) == 1 && pl.path[0] == "packages" {
			return p.rootName()
		}
		return fmt.Sprintf("%s#%s%d", p.rootName(), pl.path[0][:1], i+1)
	}
	if v := item.get("name"); v != nil && v.kind == str && v.text != "" {
		return v.text
	}
	return fmt.Sprintf("#%d", i+1)
}

// readNamed reads entries below a key that has other members too.
func readNamed(e *entryReader, n *node, s *Server) bool {
	if v, _ := n.first("command", "cmd", "url", "serverUrl", "httpUrl", "uri"); v == nil {
		return false
	}
	e.usual(n, s)
	return true
}

// field is the text of a member, by the first of keys that is one.
func (n *node) field(keys ...string) string {
	if v, _ := n.first(keys...); v != nil && v.kind == str {
		return v.text
	}
	return ""
}

// readPackage reads a package of a server.json of the MCP registry:
// https://static.modelcontextprotocol.io/schemas, server.schema.json.
func readPackage(e *entryReader, n *node, s *Server) bool {
	name, version := n.field("identifier", "name"), n.field("version")
	kind := strings.ToLower(n.field("registryType", "registry_type", "registry_name"))
	if name == "" || kind == "" {
		return false
	}
	between := map[string]string{"npm": "@", "pypi": "==", "nuget": "@", "oci": ":"}[kind]
	full := name
	if version != "" && (kind != "oci" || !strings.ContainsAny(path.Base(name), ":@")) {
		full = name + between + version
	}
	runtime, rest := e.values(n.get("runtimeArguments")), e.values(n.get("packageArguments"))
	switch kind {
	case "npm":
		s.Command = append(append([]string{"npx", "-y"}, without(runtime, "-y", "--yes")...), full)
	case "pypi":
		s.Command = append(append([]string{"uvx"}, runtime...), full)
	case "nuget":
		s.Command = append(append([]string{"dnx", "--yes"}, without(runtime, "--yes")...), full)
	case "oci", "docker":
		s.Command = append(append([]string{"docker", "run", "-i", "--rm"}, without(runtime, "run", "-i", "--rm")...), full)
	default:
		e.fault(n.pos, "a package of the type %s is not run: fetch it, and probe its directory", quote(kind))
		return true
	}
	s.Command = append(s.Command, rest...)
	s.At.Command = e.p.at(n.pos)
	vars := n.get("environmentVariables")
	if vars == nil {
		return true
	}
	for _, v := range vars.items {
		if name := v.field("name"); name != "" {
			e.set(s, name, v.field("value", "default"), v.pos)
		}
	}
	return true
}

func without(words []string, drop ...string) []string {
	var out []string
next:
	for _, w := range words {
		for _, d := range drop {
			if w == d {
				continue next
			}
		}
		out = append(out, w)
	}
	return out
}

// values are the arguments of a server.json that have a value.
func (e *entryReader) values(list *node) []string {
	if list == nil {
		return nil
	}
	var out []string
	for _, a := range list.items {
		if a.kind != object {
			continue
		}
		value := a.field("value", "default")
		if name := a.field("name"); name != "" {
			out = append(out, name)
		}
		if value == "" && a.field("type") == "positional" {
			if hint := a.field("valueHint", "value_hint"); hint != "" {
				value = "{" + hint + "}"
			}
		}
		if value != "" {
			out = append(out, value)
		}
	}
	return out
}

// readRemote reads an address of a server.json.
func readRemote(e *entryReader, n *node, s *Server) bool {
	s.URL = n.field("url")
	if s.URL != "" {
		s.At.URL = e.p.at(n.get("url").pos)
	}
	return s.URL != ""
}

// readBundle reads the server of an mcpb (earlier dxt) bundle's manifest.
func readBundle(e *entryReader, n *node, s *Server) bool {
	c := n.get("mcp_config")
	if v, _ := e.p.root.first("manifest_version", "dxt_version"); v == nil || c == nil || c.kind != object {
		return false
	}
	e.usual(c, s)
	return true
}

// readCatalogue reads an entry of Docker's MCP catalogue.
func readCatalogue(e *entryReader, n *node, s *Server) bool {
	if at := n.get("remote"); at != nil && at.field("url") != "" {
		s.URL, s.At.URL = at.field("url"), e.p.at(at.get("url").pos)
		return true
	}
	v := n.get("image")
	if v == nil || v.kind != str {
		return false
	}
	s.Command, s.At.Command = []string{"docker", "run", "-i", "--rm", v.text}, e.p.at(v.pos)
	for _, list := range []string{"env", "secrets"} {
		vars := n.get(list)
		if vars == nil {
			continue
		}
		for _, item := range vars.items {
			name := item.field("env")
			if list == "env" {
				name = item.field("name")
			}
			if name != "" {
				e.set(s, name, item.field("value"), item.pos)
			}
		}
	}
	if c := n.get("command"); c != nil {
		e.args(c.items, s)
	}
	return true
}

// readService reads a service of a compose file that is an MCP server by its image or
// its name.
func readService(e *entryReader, n *node, s *Server) bool {
	image := n.field("image")
	if !isMCP(image) && !isMCP(s.Name) {
		return false
	}
	s.At.Command = e.p.at(n.pos)
	if v := n.get("image"); image != "" {
		s.Command, s.At.Command = []string{"docker", "run", "-i", "--rm", image}, e.p.at(v.pos)
	} else {
		s.Command = []string{"docker", "compose", "run", "--rm", s.Name}
	}
	switch c := n.get("command"); {
	case c == nil:
	case c.kind == str:
		s.Command = append(s.Command, strings.Fields(c.text)...)
	default:
		e.args(c.items, s)
	}
	vars := n.get("environment")
	if vars == nil {
		return true
	}
	for _, m := range vars.members {
		e.set(s, m.key, m.value.text, m.pos)
	}
	for _, item := range vars.items {
		if name, value, _ := strings.Cut(item.text, "="); name != "" {
			e.set(s, name, value, item.pos)
		}
	}
	return true
}

// isMCP reports whether "mcp" is a word of a name.
func isMCP(name string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("/-_.:@", r) }) {
		if word == "mcp" {
			return true
		}
	}
	return false
}
