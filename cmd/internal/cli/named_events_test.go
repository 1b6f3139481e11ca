package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ours runs this program and returns what it prints.
func ours(t *testing.T, status int, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if got := Main(args, strings.NewReader(""), &out, &errs); got != status {
		t.Fatalf("coalmine %v: status %d, want %d\n%s%s", args, got, status, out.String(), errs.String())
	}
	return out.Bytes()
}

// conversation is one session that fires much, as both write it.
var conversation = []string{
	`c {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}`,
	`s {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "srv", "version": "1"}}}`,
	`c {"jsonrpc": "2.0", "method": "notifications/initialized"}`,
	`c {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`,
	`s {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "echo", "inputSchema": {"type": "object", "required": ["text"]}}]}}`,
	`c {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}`,
	`s {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "é 4111111111111111"}]}}`,
	`c {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "gone", "arguments": {"u": "https://evil.example/"}}}`,
	`s {"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "no such tool"}}`,
	`s {"jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage"}`,
	`s {"jsonrpc": "2.0", "id": 77, "result": {}}`,
}

// TestNamedEvents is glassport's regression: frames that came as named events of
// a stream once made every call look fabricated.
func TestNamedEvents(t *testing.T) {
	var b strings.Builder
	for i, l := range conversation[:7] {
		dir := map[byte]string{'c': "c2s", 's': "s2c"}[l[0]]
		meta := ""
		if dir == "s2c" {
			meta = fmt.Sprintf(`, "sse_meta": {"event": "response", "id": "%d", "retry": null}`, i)
		}
		fmt.Fprintf(&b, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T10:00:00+00:00", "dir": "%s", "frame": %s, "raw": null%s}`+"\n", i+1, dir, l[2:], meta)
	}
	log := filepath.Join(t.TempDir(), "20261121T100000Z_srv_1.jsonl")
	if err := os.WriteFile(log, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var l detected
	if err := json.Unmarshal(ours(t, 1, "detect", "--json", log), &l); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range l.Annotations {
		got = append(got, l.Annotations[i].Subcategory)
	}
	if diff := cmp.Diff([]string{"schema_violation", "pii_in_result_credit_card"}, got); diff != "" {
		t.Error(diff)
	}
}
