package wiretap

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Logs with errors stay, unless they are to go too.
func TestPruneKeepsLogsWithErrors(t *testing.T) {
	t.Parallel()
	const whole = `{"schema_version": "0.1", "seq": 1, "ts": "2026-01-01T00:00:00Z", "dir": "c2s", "frame": {"jsonrpc": "2.0", "method": "x"}, "raw": null}` + "\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"20260101T000000Z_whole_1.jsonl":  whole,
		"20260101T000000Z_broken_2.jsonl": whole + "no frame\n",
		"20260101T000000Z_lacks_3.jsonl":  whole + `{"type": "glassport.metrics", "frames_seen": 3, "records_dropped": 2}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := PruneOptions{OlderThan: time.Hour, Now: time.Now().Add(2 * time.Hour)}
	kept := map[string]string{}
	o.Kept = func(name, why string) { kept[name] = why }
	gone, err := Prune(dir, o)
	if err != nil || len(gone) != 1 || gone[0].Name != "20260101T000000Z_whole_1.jsonl" || len(kept) != 2 {
		t.Errorf("%v, %v, kept %v", gone, err, kept)
	}
	o.Force, o.Delete = true, true
	if gone, err = Prune(dir, o); err != nil || len(gone) != 3 {
		t.Errorf("%v, %v", gone, err)
	}
}
