package synth

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v4"
)

// Each document is of the type of its ending, and is planted where a source names that alone.
func TestFormats(t *testing.T) {
	t.Parallel()
	w := drawWork(7)
	endings, names := map[string]bool{}, map[string]bool{}
	for _, f := range slices.Concat(w.textFormats(), w.dataFormats(), w.codeFormats(), w.binaryFormats(func(string) bool { return true })) {
		if path.Ext(f.name) != f.ending || endings[f.ending] || names[f.name] || strings.TrimSpace(f.text) == "" {
			t.Errorf("%s for %s", f.name, f.ending)
		}
		endings[f.ending], names[f.name] = true, true
		planted := w.formats(func(name string) bool { return name == f.ending })
		if len(planted) != 1 || planted[0].name != f.name || string(planted[0].data) != f.text {
			t.Errorf("%s: %v", f.ending, planted)
		}
	}
}

// Each manifest has the syntax of its ending, and is planted where a source names that alone.
func TestManifests(t *testing.T) {
	t.Parallel()
	w := drawWork(7)
	syntax := map[string]func([]byte, any) error{
		".json": json.Unmarshal, ".toml": toml.Unmarshal,
		".yml": yaml.Unmarshal, ".yaml": yaml.Unmarshal,
	}
	all := w.manifests(func(string) bool { return true })
	for i, m := range all {
		if parse := syntax[path.Ext(m.name)]; parse != nil {
			var to map[string]any
			if err := parse(m.data, &to); err != nil || len(to) == 0 {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		planted := w.manifests(func(name string) bool { return name == m.name })
		if len(planted) != 1 || slices.IndexFunc(all, func(s sample) bool { return s.name == m.name }) != i {
			t.Errorf("%s is planted %d times", m.name, len(planted))
		}
	}
}
