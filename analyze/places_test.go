package analyze

import (
	"encoding/json"
	"strings"
	"testing"
)

// A place counts that a refusal names by itself, without what the call's arguments gave.
func TestPathsIn(t *testing.T) {
	for _, c := range []struct{ args, text, want string }{
		{`{}`, "ENOENT: no such file or directory, scandir '/data'", "/data"},
		{`{"project":"alpha"}`, "ENOENT: no such file or directory, stat '/data/alpha'", "/data"},
		{`{"name":"alpha"}`, "there is no /home/u/notes/alpha.md", "/home/u/notes"},
		{`{}`, "there is no coverage report in /srv/app; looked for coverage.xml, coverage/lcov.info", "/srv/app /srv/app/coverage.xml /srv/app/coverage/lcov.info"},
		{`{}`, "Error: no fonts in ~/.local/share/fonts.", "/home/u/.local/share/fonts"},
		{`{"file":"/home/u/workspace/a.pdf"}`, "/home/u/workspace/a.pdf is not below /home/u/Documents", "/home/u/Documents"},
		{`{"file":"/home/u/workspace/a.pdf"}`, "cannot open /home/u/workspace/a.pdf", ""},
		{`{"dir":"/home/u/workspace"}`, "no such file: /home/u/workspace/list.json", ""},
		{`{}`, "TypeError: x is undefined\n    at main (/home/u/server.mjs:30:5)\n    at file:///home/u/server.mjs:3:1", ""},
		{`{}`, "Traceback:\n  File \"/home/u/server.py\", line 3, in run", ""},
		{`{}`, "No such file or directory: '/etc/app.conf'", ""},
		{`{}`, "No such file or directory: '/srv/../etc/app.conf'", ""},
		{`{}`, "see https://www.example.com/docs", ""},
		{`{}`, "Unable to find package.json\nCurrent working dir: /home/u/w\nIf there is no settings file, create tool.json first.", "/home/u/w /home/u/w/package.json"},
	} {
		if got := strings.Join(pathsIn(refusal{text: c.text, args: json.RawMessage(c.args)}, "/home/u"), " "); got != c.want {
			t.Errorf("%s: %s: %q, not %q", c.args, c.text, got, c.want)
		}
	}
}

// No document stands in for a program.
func TestLacksProgram(t *testing.T) {
	if !lacksProgram("browserType.launch: Executable doesn't exist at /home/u/.cache/ms-playwright/chrome\nRun npx playwright install") || lacksProgram("no such file: /data/items") {
		t.Error("a missing program is not told from a missing file")
	}
}
