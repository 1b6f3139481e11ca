package shown

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// A file that was once without a secret is searched again when its content changes, when it
// becomes a file of another kind, and by other rules.
func TestCleanIsByContent(t *testing.T) {
	t.Parallel()
	cache, dir := filepath.Join(t.TempDir(), "clean"), t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func() *View {
		c := OpenClean(cache)
		v, err := Look(t.Context(), Request{Dir: dir, Clean: c})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
		return v
	}
	write("server.py", "print(1)\n")
	write("notes.txt", "a note\n")
	if v := look(); len(v.Covers) != 0 {
		t.Fatalf("covered at first: %v", v.Covers)
	}
	if has := len(OpenClean(cache).has); has != 2 {
		t.Errorf("%d contents are remembered, not 2", has)
	}
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	write("server.py", "print(1)\ntoken = '"+token+"'\n")
	if v := look(); len(v.Covers) != 1 || v.Covers[0].Path != "server.py" {
		t.Errorf("a secret that was added is not covered: %v", v.Covers)
	}
	if v := look(); len(v.Covers) != 1 {
		t.Errorf("it is not covered the second time: %v", v.Covers)
	}
	if has := len(OpenClean(cache).has); has != 2 {
		t.Errorf("%d contents are remembered, not 2: a secret's digest must not be", has)
	}
}

func TestCleanKeys(t *testing.T) {
	t.Parallel()
	sum := secrets.Sum{1}
	one := secrets.Key("a.py", sum, secrets.Own)
	for name, other := range map[string]secrets.Sum{
		"settings":  secrets.Key("a.json", sum, secrets.Own),
		"installed": secrets.Key("a.py", sum, secrets.Installed),
		"content":   secrets.Key("a.py", secrets.Sum{2}, secrets.Own),
	} {
		if other == one {
			t.Errorf("%s: the same key", name)
		}
	}
	if secrets.Key("b/c.py", sum, secrets.Own) != one {
		t.Error("another name for the same kind of file is another key")
	}
}

// What others may write, and what is damaged, is forgotten.
func TestCleanBelieves(t *testing.T) {
	t.Parallel()
	key := secrets.Sum{7}
	made := func() (*Clean, string) {
		dir := t.TempDir()
		c := OpenClean(dir)
		c.add(key)
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
		return OpenClean(dir), dir
	}
	c, dir := made()
	if !c.holds(key) {
		t.Fatal("it is not remembered")
	}
	if err := os.Chmod(c.file(), 0o622); err != nil {
		t.Fatal(err)
	}
	if OpenClean(dir).holds(key) {
		t.Error("a file that others may write is believed")
	}
	c, dir = made()
	if err := os.WriteFile(c.file(), make([]byte, 17), 0o600); err != nil {
		t.Fatal(err)
	}
	if OpenClean(dir).holds(secrets.Sum{}) {
		t.Error("a damaged file is believed")
	}
	c, dir = made()
	if err := os.Remove(c.file()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "x"), c.file()); err != nil {
		t.Fatal(err)
	}
	if OpenClean(dir).holds(key) {
		t.Error("a link is followed")
	}
	var none *Clean
	none.add(key)
	if none.holds(key) {
		t.Error("nothing remembers something")
	}
}
