package scope

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

func withManifest(file, data string) Server {
	s := Of(&wire.Surface{Tools: []wire.Tool{{Name: "get"}}})
	s.AddManifest(file, []byte(data))
	return s
}

func TestManifests(t *testing.T) {
	registry := withManifest("server.json", `{"name":"io.example/x","description":"Fetches web pages","packages":[{"environmentVariables":[{"name":"API_KEY","isRequired":true,"isSecret":true}]}],"remotes":[{"url":"https://mcp.example.org/"}]}`)
	if !slices.Contains(registry.Purpose.Network, Claim{"server.json", "https://mcp.example.org/"}) || registry.Variables[0] != (Variable{"API_KEY", "server.json", true, true}) {
		t.Errorf("server.json: %+v", registry)
	}
	bundle := withManifest("manifest.json", `{"manifest_version":"0.3","description":"Runs a shell","tools":[{"name":"get","description":"Downloads a page"}],
		"server":{"mcp_config":{"env":{"TOKEN":"${user_config.token}","ROOT":"${user_config.root}"}}},
		"user_config":{"token":{"type":"string","required":true,"sensitive":true},"root":{"type":"directory"}}}`)
	if len(bundle.Purpose.Exec) == 0 || len(bundle.Tools[0].Network) == 0 || bundle.Tools[0].Network[0].Where != "manifest.json" ||
		!slices.Equal(bundle.Purpose.Paths, []string{"root"}) || !slices.Equal(bundle.Variables, []Variable{{"ROOT", "manifest.json", false, false}, {"TOKEN", "manifest.json", true, true}}) {
		t.Errorf("manifest.json: %+v", bundle)
	}
	docker := withManifest("server.yaml", "name: x\nabout: {description: Looks things up}\nrun: {allowHosts: ['api.example.org:443']}\nconfig: {secrets: [{name: x.key, env: X_KEY}]}\n")
	if !slices.Contains(docker.Purpose.Network, Claim{"server.yaml", "api.example.org:443"}) || docker.Variables[0].Name != "X_KEY" {
		t.Errorf("server.yaml: %+v", docker)
	}
	if offline := withManifest("server.yaml", "run: {disableNetwork: true}"); !offline.Purpose.ClaimsLocal() {
		t.Errorf("disableNetwork: %+v", offline.Purpose)
	}
	if volumes := withManifest("server.yaml", "run: {volumes: ['{{x.path}}:/data', '/srv/notes:/notes:ro']}"); !slices.Equal(volumes.Purpose.Paths, []string{"/data", "/notes"}) {
		t.Errorf("volumes: %+v", volumes.Purpose.Paths)
	}
	npm := withManifest("package.json", `{"name":"x","description":"MCP server for Kubernetes","keywords":["k8s"]}`)
	if !npm.Purpose.Says("kubernetes") || !npm.Purpose.Says("k8s") || len(npm.Purpose.Network) > 0 {
		t.Errorf("package.json: that it is a server says nothing of a network: %+v", npm.Purpose)
	}
	py := withManifest("pyproject.toml", "[project]\ndescription = \"Reads environment variables\"\n[tool.poetry]\ndescription = \"Executes a command\"\n")
	if len(py.Purpose.Environment) == 0 || len(py.Purpose.Exec) == 0 {
		t.Errorf("pyproject.toml: %+v", py.Purpose)
	}
}

func TestListsOfPermissions(t *testing.T) {
	hosts := []Claim{{"toolhive.json", "api.example.org"}}
	for _, c := range []struct {
		name, file, data string
		hosts            []Claim
		offline          bool
		paths            []string
	}{
		{"a profile", "toolhive.json", `{"read":["/etc/app"],"write":["/srv/x:/x"],"network":{"outbound":{"insecure_allow_all":false,"allow_host":["api.example.org"],"allow_port":[443]}}}`, hosts, false, []string{"/etc/app", "/x"}},
		{"an entry", "toolhive.json", `{"image":"x","permissions":{"network":{"outbound":{"allow_host":["api.example.org"]}}}}`, hosts, false, nil},
		{"nothing outbound", "permission-profile.json", `{"network":{"outbound":{}}}`, nil, true, nil},
		{"everything outbound", "permission-profile.json", `{"network":{"outbound":{"insecure_allow_all":true}}}`, nil, false, nil},
		{"nothing said", "permission-profile.json", `{"read":["/x"]}`, nil, false, []string{"/x"}},
		{"the registry's", "server.json", `{"_meta":{"io.modelcontextprotocol.registry/publisher-provided":{"io.github.stacklok":{"ghcr.io/x":{"permissions":{"network":{"outbound":{}}}}}}}}`, nil, true, nil},
		{"VS Code", SandboxManifest, `{"allowWrite":["${workspaceFolder}"],"allowedDomains":["api.example.org"]}`, []Claim{{SandboxManifest, "api.example.org"}}, false, []string{"${workspaceFolder}"}},
		{"VS Code, none", SandboxManifest, `{"allowedDomains":[]}`, nil, true, nil},
		{"VS Code, not given", SandboxManifest, `{"allowedDomains":null}`, nil, false, nil},
		{"Docker", "server.yaml", "run: {allowHosts: ['a.example:443']}", []Claim{{"server.yaml", "a.example:443"}}, false, nil},
		{"something else", "permission-profile.json", `{"name":"x"}`, nil, false, nil},
	} {
		s := withManifest(c.file, c.data)
		if !slices.Equal(s.Hosts, c.hosts) || (len(s.Offline) > 0) != c.offline || !slices.Equal(s.Purpose.Paths, c.paths) {
			t.Errorf("%s: hosts %v, offline %v, paths %v", c.name, s.Hosts, s.Offline, s.Purpose.Paths)
		}
		if any := len(c.hosts) > 0 || c.name == "everything outbound"; (len(s.Purpose.Network) > 0) != any {
			t.Errorf("%s: network %v", c.name, s.Purpose.Network)
		}
	}
}

// What is no manifest, or a web page's of the same name, declares nothing.
func TestWhatIsNoManifestSaysNothing(t *testing.T) {
	for file, data := range map[string]string{
		"manifest.json": `{"name":"A web app","description":"online","start_url":"/"}`, "server.json": `[`, "package.json": `{"description":7}`,
		"server.yaml": "a: [", "pyproject.toml": "=", "README.md": "uses the network",
	} {
		if s := withManifest(file, data); len(s.Purpose.Network)+len(s.Variables)+len(s.Purpose.Exec) > 0 {
			t.Errorf("%s: %+v", file, s)
		}
	}
}

func FuzzAddManifest(f *testing.F) {
	for _, name := range ManifestFiles {
		f.Add(name, `{"description":"x","tools":[{"name":"get"}]}`)
	}
	f.Add("server.yaml", "a: &a [*a]")
	f.Fuzz(func(_ *testing.T, file, data string) { withManifest(file, data) })
}
