package audit

import (
	"fmt"
	"strings"
	"testing"
)

// times is a line for each of n packages.
func times(n int, line string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}

// Direct dependencies count in each manifest's own form: what runs with the server, each package once.
func TestDependenciesOfEachManifest(t *testing.T) {
	for _, c := range []struct {
		name, want string
		count      int
		files      map[string]string
	}{
		{"npm", "low", 21, map[string]string{"package.json": manifestOf(21)}},
		{"PyPI", "low", 21, map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\n" + times(21, `"a%d>=1 ; python_version > '3'",`) + "]\n"}},
		{"Poetry", "low", 21, map[string]string{"pyproject.toml": "[tool.poetry]\nname = \"x\"\n[tool.poetry.dependencies]\npython = \"^3.11\"\n" + times(20, `a%d = "^1"`) + "b = { version = \"1\", extras = [\"x\"] }\n[tool.poetry.group.dev.dependencies]\n" + times(40, `d%d = "1"`)}},
		{"Go", "medium", 51, map[string]string{"go.mod": "module x\n\nrequire (\n" + times(51, "\ta.example/m%d v1.0.0") + times(60, "\tb.example/m%d v1.0.0 // indirect") + ")\n"}},
		{"Rust", "low", 22, map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n[dependencies]\n" + times(20, `a%d = "1"`) + "[dependencies.b]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\nc = \"1\"\na1 = \"1\"\n[dev-dependencies]\n" + times(40, `d%d = "1"`)}},
		{"requirements", "low", 22, map[string]string{"requirements.txt": "# all\n--index-url https://pypi.org/simple\n-r other.txt\n" + times(21, "a%d[x]==1.0 \\\n    --hash=sha256:00"), "requirements-prod.txt": "A1==1\nb\n", "requirements-dev.txt": times(40, "d%d")}},
		{"requirements that a tool wrote", "", 2, map[string]string{"requirements.txt": "a==1\n    # via -r requirements.in\nb==1  # via a\nc==1\n    # via\n    #   a\n    #   -r requirements.in\n" + times(40, "d%d==1\n    # via c")}},
		{"two that name the same", "", 2, map[string]string{"pyproject.toml": "[project]\ndependencies = [\"a.b\", \"c\"]\n", "requirements.txt": "A_b==1\nc\n"}},
		{"of two languages", "low", 22, map[string]string{"package.json": manifestOf(11), "requirements.txt": times(11, "d%d")}},
		{"one that does not parse", "", -1, map[string]string{"go.mod": "require (", "Cargo.toml": "[[["}},
		{"none", "", -1, map[string]string{"a.py": ""}},
	} {
		c.files["a.py"] = ""
		r, err := Dir(t.Context(), write(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range r.Findings {
			if f.Rule == DependencyCount {
				got = string(f.Severity)
			}
		}
		if n := r.Profile.DependencyCount; got != c.want || n != c.count {
			t.Errorf("%s: %d dependencies, %q; want %d, %q", c.name, n, got, c.count, c.want)
		}
	}
}
