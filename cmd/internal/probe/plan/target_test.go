package plan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The name of a module is no path, though a directory of that name is there; the server
// finds it from where it is.
func TestPythonModuleOfACheckout(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("greet", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"greet/__main__.py", "data.txt"} {
		if err := os.WriteFile(name, []byte("pass\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := sourceRoot("", []string{"python3", "-m", "greet"}, here); got != filepath.Join(here, "greet") {
		t.Errorf("the source is %q", got)
	}
	data := filepath.Join(here, "data.txt")
	for _, c := range []struct {
		command, want []string
		path          string
	}{
		{[]string{"python3", "-m", "greet", "data.txt"}, []string{"python3", "-m", "greet", data}, here},
		{[]string{"python3.12", "-u", "-m", "greet"}, []string{"python3.12", "-u", "-m", "greet"}, here},
		{[]string{"python3", "-m", "json.tool"}, []string{"python3", "-m", "json.tool"}, ""},
		{[]string{"python3", "data.txt", "-m", "greet"}, []string{"python3", data, "-m", filepath.Join(here, "greet")}, ""},
		{[]string{"node", "-m", "greet"}, []string{"node", "-m", filepath.Join(here, "greet")}, ""},
	} {
		if got := absoluteFrom("", c.command); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.command, got, c.want)
		}
		if got := modulePath(c.command); got != c.path {
			t.Errorf("%q is found from %q, want %q", c.command, got, c.path)
		}
	}
}
