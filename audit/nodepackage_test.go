package audit

import "testing"

func TestNodePackage(t *testing.T) {
	for path, want := range map[string]string{
		"node_modules/a": "a", "node_modules/a/i.js": "a", "node_modules/@s/p/i.js": "@s/p", "../node_modules/a/i.js": "a", "/n/node_modules/a": "a",
		"node_modules/a/node_modules/@s/b/i.js": "@s/b", "webpack:///./node_modules/a/i.js": "a",
		"": "", "src/i.js": "", "node_modules/": "", "node_modules/@s": "", "node_modules/..": "", "node_modules/./x": "", "my_node_modules/a": "", "node_modules": "",
	} {
		if got := NodePackage(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
