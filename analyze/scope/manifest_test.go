package scope

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/wire"
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
	npm := withManifest("package.json", `{"name":"x","description":"MCP server for Kubernetes","keywords":["k8s"]}`)
	if !npm.Purpose.Says("kubernetes") || !npm.Purpose.Says("k8s") || len(npm.Purpose.Network) > 0 {
		t.Errorf("package.json: that it is a server says nothing of a network: %+v", npm.Purpose)
	}
	py := withManifest("pyproject.toml", "[project]\ndescription = \"Reads environment variables\"\n[tool.poetry]\ndescription = \"Executes a command\"\n")
	if len(py.Purpose.Environment) == 0 || len(py.Purpose.Exec) == 0 {
		t.Errorf("pyproject.toml: %+v", py.Purpose)
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
