package scope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v4"
)

// ManifestFiles are the files beside a server that say something of it: the MCP
// registry's, the bundle's, Docker's catalogue's, ToolHive's permissions, and the packages'.
var ManifestFiles = []string{"server.json", "manifest.json", "server.yaml", "toolhive.json", "permission-profile.json", "package.json", "pyproject.toml"}

// SandboxManifest is the name of a client's own sandbox of the server, as its
// configuration has it.
const SandboxManifest = "sandbox of the configuration"

// MaxManifest bounds a manifest, in bytes.
const MaxManifest = 64 << 10

// Variable is a variable of the environment that a manifest says the server reads.
type Variable struct {
	Name string `json:"name"`
	// Where is the file that says so.
	Where    string `json:"where"`
	Required bool   `json:"required,omitempty"`
	Secret   bool   `json:"secret,omitempty"`
}

// manifest is what all formats come to.
type manifest struct {
	texts     []string // descriptions and keywords
	hosts     []string // what it says it reaches
	paths     []string // settings that are files or directories
	variables []Variable
	tools     map[string]string // descriptions by name
	only      []string          // all that it may reach, where a list of permissions says so
	noNetwork bool
}

// AddManifest adds what a file beside the server says, by its name. Of a file that
// does not parse, or is something else of that name, nothing is taken.
func (s *Server) AddManifest(file string, data []byte) {
	if len(data) > MaxManifest {
		return
	}
	name := path.Base(file)
	read := map[string]func([]byte) (manifest, error){
		"server.json": readRegistry, "manifest.json": readBundle, "server.yaml": readDocker, "toolhive.json": readToolHive, "permission-profile.json": readToolHive, SandboxManifest: readSandbox,
		"package.json": readNPM, "pyproject.toml": readPyproject,
	}[name]
	if read == nil {
		return
	}
	m, err := read(data)
	if err != nil {
		return
	}
	// That it is a server says nothing of a network.
	text := serverWord.ReplaceAllString(strings.Join(m.texts, ". "), " ")
	s.Purpose.merge(ofText("", name, text))
	for _, h := range m.hosts {
		s.Purpose.Network = append(s.Purpose.Network, Claim{name, h})
	}
	for _, h := range m.only {
		s.Hosts = append(s.Hosts, Claim{name, h})
		s.Purpose.Network = append(s.Purpose.Network, Claim{name, h})
	}
	if m.noNetwork {
		s.Offline = append(s.Offline, Claim{name, "no network"})
		s.Purpose.Local = append(s.Purpose.Local, Claim{name, "no network"})
	}
	s.Purpose.Paths = append(s.Purpose.Paths, m.paths...)
	for _, v := range m.variables {
		v.Where = name
		s.Variables = append(s.Variables, v)
	}
	for i := range s.Tools {
		if d := m.tools[s.Tools[i].Name]; d != "" {
			s.Tools[i].merge(ofText("", name, d))
		}
	}
}

// merge adds the claims and words of a text that no client shows.
func (t *Tool) merge(o Tool) {
	t.Local = append(t.Local, o.Local...)
	t.Network = append(t.Network, o.Network...)
	t.Exec = append(t.Exec, o.Exec...)
	t.Environment = append(t.Environment, o.Environment...)
	t.Write = append(t.Write, o.Write...)
	t.Delete = append(t.Delete, o.Delete...)
	t.Outward = append(t.Outward, o.Outward...)
	t.Shell = append(t.Shell, o.Shell...)
	t.Code = append(t.Code, o.Code...)
	if t.words == nil {
		t.words = map[string]bool{}
	}
	for w := range o.words {
		t.words[w] = true
	}
}

// readRegistry reads the MCP registry's server.json.
func readRegistry(data []byte) (manifest, error) {
	var f struct {
		Name, Title, Description string
		Packages                 []struct {
			EnvironmentVariables []struct {
				Name                 string
				IsRequired, IsSecret bool
			}
		}
		Remotes []struct{ URL string }
		Meta    struct {
			Publisher struct {
				Stacklok map[string]struct{ Permissions *permissions } `json:"io.github.stacklok"`
			} `json:"io.modelcontextprotocol.registry/publisher-provided"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return manifest{}, err
	}
	m := manifest{texts: []string{f.Title, f.Description}}
	for _, p := range f.Packages {
		for _, v := range p.EnvironmentVariables {
			m.variables = append(m.variables, Variable{Name: v.Name, Required: v.IsRequired, Secret: v.IsSecret})
		}
	}
	for _, r := range f.Remotes {
		m.hosts = append(m.hosts, r.URL)
	}
	for _, image := range slices.Sorted(maps.Keys(f.Meta.Publisher.Stacklok)) {
		m.permit(f.Meta.Publisher.Stacklok[image].Permissions)
	}
	return m, nil
}

// readBundle reads an MCP bundle's manifest.json.
func readBundle(data []byte) (manifest, error) {
	var f struct {
		ManifestVersion string `json:"manifest_version"`
		DXTVersion      string `json:"dxt_version"`
		DisplayName     string `json:"display_name"`
		Description     string
		LongDescription string `json:"long_description"`
		Keywords        []string
		Tools           []struct{ Name, Description string }
		UserConfig      map[string]struct {
			Type, Title, Description string
			Required, Sensitive      bool
		} `json:"user_config"`
		Server struct {
			MCPConfig struct{ Env map[string]string } `json:"mcp_config"`
		}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return manifest{}, err
	}
	if f.ManifestVersion == "" && f.DXTVersion == "" {
		return manifest{}, fmt.Errorf("no MCP bundle's manifest")
	}
	m := manifest{texts: append([]string{f.DisplayName, f.Description, f.LongDescription}, f.Keywords...), tools: map[string]string{}}
	for _, t := range f.Tools {
		m.tools[t.Name] = t.Description
	}
	for name, value := range f.Server.MCPConfig.Env {
		v := Variable{Name: name}
		for key, c := range f.UserConfig {
			if strings.Contains(value, "${user_config."+key+"}") {
				v.Required, v.Secret = v.Required || c.Required, v.Secret || c.Sensitive
			}
		}
		m.variables = append(m.variables, v)
	}
	for key, c := range f.UserConfig {
		if c.Type == "directory" || c.Type == "file" {
			m.paths = append(m.paths, key)
		}
	}
	slices.SortFunc(m.variables, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(m.paths)
	return m, nil
}

// readDocker reads the server.yaml of Docker's MCP catalogue.
func readDocker(data []byte) (manifest, error) {
	var f struct {
		Type  string
		About struct{ Title, Description string }
		Meta  struct{ Tags []string }
		Run   struct {
			AllowHosts     []string `yaml:"allowHosts"`
			DisableNetwork bool     `yaml:"disableNetwork"`
			Volumes        []string
		}
		Config struct {
			Secrets []struct {
				Env      string
				Required bool
			}
			Env []struct{ Name string }
		}
	}
	if err := yaml.Unmarshal(data, &f); err != nil {
		return manifest{}, err
	}
	m := manifest{texts: append([]string{f.About.Title, f.About.Description}, f.Meta.Tags...), only: f.Run.AllowHosts, noNetwork: f.Run.DisableNetwork, paths: mounted(f.Run.Volumes)}
	for _, s := range f.Config.Secrets {
		m.variables = append(m.variables, Variable{Name: s.Env, Required: s.Required, Secret: true})
	}
	for _, e := range f.Config.Env {
		m.variables = append(m.variables, Variable{Name: e.Name})
	}
	return m, nil
}

// readNPM reads the purpose in package.json.
func readNPM(data []byte) (manifest, error) {
	var f struct {
		Description string
		Keywords    []string
	}
	err := json.Unmarshal(data, &f)
	return manifest{texts: append([]string{f.Description}, f.Keywords...)}, err
}

// readPyproject reads the purpose in pyproject.toml, of either table.
func readPyproject(data []byte) (manifest, error) {
	type about struct {
		Description string
		Keywords    []string
	}
	var f struct {
		Project about
		Tool    struct{ Poetry about }
	}
	err := toml.NewDecoder(bytes.NewReader(data)).Decode(&f)
	texts := append([]string{f.Project.Description, f.Tool.Poetry.Description}, f.Project.Keywords...)
	return manifest{texts: append(texts, f.Tool.Poetry.Keywords...)}, err
}
