package drift

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of probes the servers are compared: neither what coalmine called nor the hosts in its
// inputs are drift, and what a server newly did is. Logs are found on all levels.
func TestWatchComparesProbes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	frame := func(day, seq int, dir, message string) string {
		return fmt.Sprintf(`{"seq": %d, "ts": "2026-01-%02dT00:00:00.000000+00:00", "dir": %q, "frame": %s}`+"\n", seq, day, dir, message)
	}
	probe := func(day int, called, observed string) {
		at := fmt.Sprintf("nightly/%d/notes/", day)
		put(at+"session.jsonl", frame(day, 1, "c2s", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)+
			frame(day, 2, "s2c", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"notes","version":"1"}}}`)+
			frame(day, 3, "c2s", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)+
			frame(day, 4, "s2c", `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"note","inputSchema":{"type":"object"}}]}}`)+
			frame(day, 5, "c2s", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"`+called+`","arguments":{"url":"http://`+called+`.example/"}}}`))
		put(at+"trace.jsonl", "{}\n")
		put(at+"index.json", "{}")
		put(at+"report.json", `{"observed":[`+observed+`]}`)
		put(at+"vary/ci-2/session.jsonl", frame(day, 1, "c2s", `{}`))
	}
	const git = `{"effect":"exec","target":"/usr/bin/git"}`
	probe(1, "note", git)
	probe(2, "admin", git)
	probe(3, "exec", git+`,{"effect":"net.connect","target":"93.184.216.34:443"},{"effect":"net.connect","target":"198.51.100.7:80","explained":{"class":"argument"}}`)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	h, err := Watch(root)
	if err != nil || len(h.Unread) > 0 || len(h.Servers["notes"]) != 3 {
		t.Fatalf("%v, %q, %d sessions", err, h.Unread, len(h.Servers["notes"]))
	}
	for i, want := range []string{"", "", "the server connects to 93.184.216.34 for the first time"} {
		var got []string
		for _, d := range h.Servers["notes"][i].Findings {
			got = append(got, d.Explanation)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("day %d: %q, want %q", i+1, got, want)
		}
	}
}
