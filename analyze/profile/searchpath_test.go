package profile

import (
	"strings"
	"testing"
)

func TestSearchesHere(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"python3 -m json.tool ./a.json": true, "/usr/bin/python3.11 -u -c pass": true, "python -": true, "python3 -Bm black .": true,
		"python3 -X dev -m black": true, "python3 -I -m json.tool": false, "python3 -Pm black": false, "python3 server.py -m x": false,
		"python3 --version": false, "python3": false, "node -e 1": false, "python3 -u server.py": false,
	} {
		if got := searchesHere(strings.Fields(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}
