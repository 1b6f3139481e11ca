package audit

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// declared is a server that a package declares itself, and where in the file.
type declared struct {
	Server
	at int
}

// maxDeclared bounds the bytes of a file that declares servers, and how many of them count.
const (
	maxDeclared = 1 << 20
	maxServers  = 50
)

// declaredServers are those of a bundle's manifest.json and of a registry's server.json; none for
// any other file. What is no JSON object declares none.
func declaredServers(p, src string) []declared {
	if len(src) > maxDeclared {
		return nil
	}
	switch path.Base(p) {
	case "manifest.json":
		return bundled(src)
	case "server.json":
		return registered(src)
	}
	return nil
}

// launch is how a bundle is started: https://github.com/modelcontextprotocol/mcpb, MANIFEST.md.
type launch struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// bundled is the server that a bundle's manifest starts, on each platform.
func bundled(src string) []declared {
	var m struct {
		Name   string `json:"name"`
		Server struct {
			Config struct {
				launch
				Platforms map[string]launch `json:"platform_overrides"`
			} `json:"mcp_config"`
		} `json:"server"`
	}
	if !strings.Contains(src, `"mcp_config"`) || json.Unmarshal([]byte(src), &m) != nil {
		return nil
	}
	at := strings.Index(src, `"mcp_config"`)
	all := []launch{m.Server.Config.launch}
	for _, name := range sortedNames(m.Server.Config.Platforms) {
		all = append(all, m.Server.Config.Platforms[name])
	}
	var out []declared
	for _, l := range all[:min(len(all), maxServers)] {
		s := Server{Name: m.Name, Env: l.Env}
		if l.Command != "" {
			s.Command = append([]string{l.Command}, l.Args...)
		}
		out = append(out, declared{s, at})
	}
	return out
}

// runners are the programs that run a package of a registry.
var runners = map[string]string{"npm": "npx", "pypi": "uvx"}

// registryInput is a value that a server.json names: of a variable, a header or an argument. What the
// user is asked for has none.
type registryInput struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// valuesOf are the inputs with a value, by name.
func valuesOf(list []registryInput) map[string]string {
	out := map[string]string{}
	for _, in := range list[:min(len(list), maxArguments)] {
		if in.Value != "" {
			out[in.Name] = in.Value
		}
	}
	return out
}

// wordsIn are the inputs as words of a command.
func wordsIn(list []registryInput) (out []string) {
	for _, in := range list[:min(len(list), maxArguments)] {
		out = append(out, slices.DeleteFunc([]string{in.Name, in.Value}, func(w string) bool { return w == "" })...)
	}
	return out
}

// registeredRemote is an address of a server.json, with the headers that are sent to it.
type registeredRemote struct {
	URL     string          `json:"url"`
	Headers []registryInput `json:"headers"`
}

// registeredPackage is a package of a server.json.
type registeredPackage struct {
	Type       string           `json:"registryType"`
	OldType    string           `json:"registry_type"`
	Identifier string           `json:"identifier"`
	Version    string           `json:"version"`
	Runtime    []registryInput  `json:"runtimeArguments"`
	Arguments  []registryInput  `json:"packageArguments"`
	Variables  []registryInput  `json:"environmentVariables"`
	Transport  registeredRemote `json:"transport"`
}

// server is the package as it is started.
func (p *registeredPackage) server() Server {
	kind, name := p.Type+p.OldType, p.Identifier
	if p.Version != "" && p.Version != "latest" {
		name += "@" + p.Version
	}
	s := Server{URL: p.Transport.URL, Headers: valuesOf(p.Transport.Headers), Env: valuesOf(p.Variables)}
	switch {
	case runners[kind] != "":
		s.Command = append([]string{runners[kind], name}, wordsIn(p.Arguments)...)
	case kind == "oci":
		s.Command = append([]string{"docker", "run"}, wordsIn(p.Runtime)...)
	}
	return s
}

// registered are the packages and the addresses of a server.json of the MCP registry:
// https://github.com/modelcontextprotocol/registry, docs/reference/server-json.
func registered(src string) []declared {
	var m struct {
		Name     string              `json:"name"`
		Packages []registeredPackage `json:"packages"`
		Remotes  []registeredRemote  `json:"remotes"`
	}
	if json.Unmarshal([]byte(src), &m) != nil {
		return nil
	}
	var out []declared
	add := func(s Server, near string) {
		s.Name = m.Name
		if len(out) < maxServers {
			out = append(out, declared{s, max(strings.Index(src, near), 0)})
		}
	}
	for i := range m.Packages {
		if p := &m.Packages[i]; p.Identifier != "" {
			add(p.server(), p.Identifier)
		}
	}
	for _, r := range m.Remotes {
		add(Server{URL: r.URL, Headers: valuesOf(r.Headers)}, r.URL)
	}
	return out
}

func sortedNames[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
