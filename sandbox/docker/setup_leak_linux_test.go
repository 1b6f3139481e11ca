package docker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// A setup that comes to nothing holds nothing open.
func TestAFailedPlanIsClosed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &setup{spec: sandbox.Spec{ServerDir: dir, AgentPath: filepath.Join(dir, "missing")}, image: &image{}}
	if err := p.gather(t.Context()); err == nil {
		t.Fatal("an agent that is not there was opened")
	}
	p.close()
	if _, err := p.server.root.Stat("."); err == nil {
		t.Error("the server's directory is still open")
	}
}
