package synth

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

func TestSettersAreToldByTheirNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"set_root": true, "add_directory": true, "allow_host": true, "configureWorkspace": true, "register-project": true, "add_allowed_path": true,
		"set_title": false, "address_book": false, "list_directory": false, "read_root": false, "add": false, "settings": false,
	} {
		if isSetter(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestWhatWasAllowedIsLeftAgain checks that a tool which refuses everything before a directory is
// set gets inputs that lead out of it afterwards.
func TestWhatWasAllowedIsLeftAgain(t *testing.T) {
	t.Parallel()
	const byDirectory = `{"type":"object","properties":{"directory":{"type":"string"}},"required":["directory"]}`
	const byPath = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
	f := newFake(tool("read_doc", byPath), tool("set_root", byDirectory))
	root := ""
	f.tool = func(name string, args json.RawMessage) (client.Result, error) {
		var given struct{ Directory, Path string }
		if err := json.Unmarshal(args, &given); err != nil {
			return refusal("bad"), nil
		}
		switch {
		case name == "set_root" && strings.HasPrefix(given.Directory, "/w"):
			root = given.Directory
		case name == "set_root":
			return refusal("no such directory"), nil
		case root != "/w/docs":
			return refusal("no root is set"), nil
		}
		return success("ok"), nil
	}
	w := &oracle.World{
		Root: "/w", Link: "/w/docs/invoice", LinkDir: "/w/archive", Outside: oracle.File{Stem: "/home/dana/Documents/lease", Value: "ref x"},
		Linked: oracle.File{Stem: "/home/dana/Documents/invoice", Value: "ref y"}, Beside: oracle.File{Stem: "/w-old/ledger", Value: "ref z"},
	}
	drive(t, f, Config{World: w, Calls: 2})
	allowed := slices.Index(f.log, `set_root {"directory":"/w/docs"}`)
	if allowed < 0 {
		t.Fatalf("nothing was allowed: %q", f.log)
	}
	after := f.log[allowed:]
	for _, want := range []string{`read_doc {"path":"invoice.txt"}`, `read_doc {"path":"/w/docs/invoice.txt"}`} {
		if !slices.Contains(after, want) {
			t.Errorf("%s is not among %q", want, after)
		}
	}
}
