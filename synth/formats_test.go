package synth

import (
	"path"
	"slices"
	"strings"
	"testing"
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
