package session

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestClosedByProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	log, err := (Output{Root: root}).Create(Header{})
	if err != nil {
		t.Fatal(err)
	}
	log.Frame(C2S, time.Second, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := ReadFile(root, FramesFile, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(data)
	quoted := strings.Replace(whole[strings.LastIndex(strings.TrimSpace(whole), "\n")+1:], "glassport.metrics", "other", 1)
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"a probe's": {whole, true}, "cut": {whole[:len(whole)-20], false}, "empty": {"", false},
		"a tap's": {strings.Replace(whole, `, "client": "coalmine probe"`, "", 1), false}, "another line": {quoted, false},
	} {
		r := strings.NewReader(c.log)
		if got := ClosedByProbe(r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if rest, err := io.ReadAll(r); err != nil || string(rest) != c.log {
			t.Errorf("%s: the reading position moved", name)
		}
	}
}
