package since

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// A random tree is unchanged, and no random edit of it is called so.
func TestNoEditIsUnchanged(t *testing.T) {
	scale.Checks(t, 8)
	dir, _ := newRepository(t)
	rapid.Check(t, func(rt *rapid.T) { checkEdits(rt, dir) })
}

func FuzzEdits(f *testing.F) {
	dir, err := template()
	if err != nil {
		f.Skip("git is not installed")
	}
	own := f.TempDir()
	if err := os.CopyFS(own, os.DirFS(dir)); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("a tree and its edits"))
	f.Fuzz(rapid.MakeFuzz(func(rt *rapid.T) { checkEdits(rt, own) }))
}

// checkEdits commits a random tree and plays random edits, each taken back.
func checkEdits(rt *rapid.T, dir string) {
	must := func(err error) {
		rt.Helper()
		if err != nil {
			rt.Fatal(err)
		}
	}
	server := filepath.Join(dir, "server")
	must(os.RemoveAll(server))
	must(os.MkdirAll(server, 0o755))
	files := plantTree(rt, server)
	// The tree's own attributes must not convert what is committed: it would differ from the start.
	must(os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o755))
	must(os.WriteFile(filepath.Join(dir, ".git", "info", "attributes"), []byte("* -text -filter -ident\n"), 0o644))
	must(gitIn(dir, "add", "-A", "-f"))
	must(gitIn(dir, "commit", "-q", "--allow-empty", "-m", "a tree"))
	must(gitIn(dir, "branch", "-f", "main"))
	b, err := Open(context.Background(), dir, "main")
	must(err)
	defer b.Close()
	differs := func() bool {
		rt.Helper()
		changed, err := b.Changed(context.Background(), server)
		must(err)
		return changed
	}
	if differs() {
		rt.Fatal("what was not touched is changed")
	}
	for range rapid.IntRange(1, 6).Draw(rt, "edits") {
		name, undo := edit(rt, server, files)
		if !differs() {
			rt.Fatalf("after %s it is unchanged", name)
		}
		must(undo())
		if differs() {
			rt.Fatalf("%s was taken back, and it is changed", name)
		}
	}
}

// pathName draws a path of a server's, of awkward names.
var pathName = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "A", "index.js", ".gitignore", ".gitattributes", "node_modules", "*", "a b", ":(glob)x", "-x", "\"q\"", "é", "e\u0301", "new\nline", "back\\slash", ".hidden", "a~1"}), 1, 4).Draw(t, "path")
	return filepath.Join(parts...)
})

// content draws what git may convert, ignore or take for settings of its own.
var content = rapid.OneOf(
	rapid.SampledFrom([]string{"", "\n", "x\r\n", "x\n", "*\n", "* text=auto eol=crlf\n", "* -text filter=x ident\n", "$Id$\n", "version https://git-lfs.github.com/spec/v1\n", "\xff\xfex\x00"}),
	rapid.StringN(0, 40, 200),
)

// plantTree writes files and links, and returns the files by path.
func plantTree(t *rapid.T, server string) []string {
	var files []string
	for range rapid.IntRange(1, 8).Draw(t, "files") {
		name := filepath.Join(server, pathName.Draw(t, "name"))
		if _, err := os.Lstat(name); err == nil || os.MkdirAll(filepath.Dir(name), 0o755) != nil {
			continue // a file lies where a directory would
		}
		mode := rapid.SampledFrom([]os.FileMode{0o644, 0o755}).Draw(t, "mode")
		if err := os.WriteFile(name, []byte(content.Draw(t, "content")), mode); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	if len(files) == 0 {
		t.Skip("no file")
	}
	if rapid.Bool().Draw(t, "link") {
		link := filepath.Join(server, "link")
		if err := os.Symlink(strings.TrimPrefix(files[0], server+"/"), link); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	return files
}

// edit makes one difference, and returns its name and how to take it back. Times
// are put back too: nothing but the difference may tell.
func edit(t *rapid.T, server string, files []string) (name string, undo func() error) {
	file := rapid.SampledFrom(files).Draw(t, "file")
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) error {
		return errors.Join(os.WriteFile(file, data, info.Mode()), os.Chtimes(file, info.ModTime(), info.ModTime()))
	}
	back := func() error { return put(was) }
	// again makes the file anew, which may be gone or something else.
	again := func() error { return errors.Join(os.RemoveAll(file), back()) }
	free := filepath.Join(server, "free")
	removeFree := func() error { return os.RemoveAll(free) }
	switch name = rapid.SampledFrom([]string{"another byte", "one byte more", "line endings", "no content", "the mode", "a removal", "a move", "a new file", "a new directory", "a new link", "a link in its place", "a directory in its place"}).Draw(t, "edit"); name {
	case "another byte":
		if len(was) == 0 {
			return "one byte more", errorsFirst(t, put([]byte{0}), back)
		}
		now := append([]byte(nil), was...)
		now[rapid.IntRange(0, len(now)-1).Draw(t, "at")] ^= 1
		return name, errorsFirst(t, put(now), back)
	case "one byte more":
		return name, errorsFirst(t, put(append(append([]byte(nil), was...), rapid.Byte().Draw(t, "byte"))), back)
	case "line endings":
		now := strings.ReplaceAll(string(was), "\n", "\r\n")
		if now == string(was) {
			now += "\r\n"
		}
		return name, errorsFirst(t, put([]byte(now)), back)
	case "no content":
		if len(was) == 0 {
			return "a removal", errorsFirst(t, os.Remove(file), again)
		}
		return name, errorsFirst(t, put(nil), back)
	case "the mode":
		return name, errorsFirst(t, os.Chmod(file, info.Mode()^0o111), func() error { return os.Chmod(file, info.Mode()) })
	case "a removal":
		return name, errorsFirst(t, os.Remove(file), again)
	case "a move":
		return name, errorsFirst(t, os.Rename(file, free), func() error { return os.Rename(free, file) })
	case "a new file":
		return name, errorsFirst(t, os.WriteFile(free, was, 0o644), removeFree)
	case "a new directory":
		return name, errorsFirst(t, os.Mkdir(free, 0o755), removeFree)
	case "a new link":
		return name, errorsFirst(t, os.Symlink(filepath.Base(server), free), removeFree)
	case "a link in its place":
		return name, errorsFirst(t, errors.Join(os.Rename(file, free), os.Symlink(free, file)), func() error { return errors.Join(os.Remove(file), os.Rename(free, file)) })
	default:
		return name, errorsFirst(t, errors.Join(os.Remove(file), os.Mkdir(file, 0o755)), again)
	}
}

// errorsFirst fails where the edit failed, and returns how to take it back.
func errorsFirst(t *rapid.T, err error, undo func() error) func() error {
	if err != nil {
		t.Fatal(err)
	}
	return undo
}

// FuzzMirror reads hostile records: what is copied is refs and hashes alone.
func FuzzMirror(f *testing.F) {
	hash := strings.Repeat("1", 40)
	f.Add("ref: refs/heads/main\n", hash+" refs/heads/main\n^"+hash+"\n", hash+"\t\tbranch\n", hash+"\n")
	f.Add(hash+"\n", "# pack-refs with: peeled \n", "", "")
	f.Add("ref: ../../etc/passwd", "x", strings.Repeat("1", 64)+"\t", "\x00")
	f.Fuzz(func(t *testing.T, head, packed, fetched, loose string) {
		top, to := t.TempDir(), t.TempDir()
		for name, data := range map[string]string{"HEAD": head, "packed-refs": packed, "FETCH_HEAD": fetched, "refs/heads/x": loose, "objects/pack/x": ""} {
			write(t, top, ".git/"+name, data)
		}
		at := filepath.Join(top, ".git")
		if mirror(&repository{top: top, own: at, common: at}, to) != nil {
			return
		}
		for _, name := range []string{"HEAD", "refs/heads/x"} {
			data, err := os.ReadFile(filepath.Join(to, name))
			value := strings.TrimSuffix(string(data), "\n")
			if err != nil || !isHash(value) && !strings.HasPrefix(value, "ref:") || strings.Contains(value, "\n") {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
		if data, err := os.ReadFile(filepath.Join(to, "config")); err != nil || !strings.HasPrefix(string(data), settings) {
			t.Errorf("%q, %v", data, err)
		}
	})
}

// BenchmarkChanged opens a repository of 20,000 files and compares them all.
func BenchmarkChanged(b *testing.B) {
	dir := b.TempDir()
	for i := range 20_000 {
		name := filepath.Join(dir, "server", string(rune('a'+i%26)), string(rune('a'+i/26%26)), "package", "lib", string(rune('a'+i/676%26))+strings.Repeat("x", i%7)+".js")
		name += string(rune('a' + i/17576))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(strings.Repeat(name+"\n", 60)), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "one"}} {
		if err := gitIn(dir, args...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		base, err := Open(context.Background(), dir, "main")
		if err != nil {
			b.Fatal(err)
		}
		changed, err := base.Changed(context.Background(), filepath.Join(dir, "server"))
		if changed || err != nil {
			b.Fatal(changed, err)
		}
		if err := base.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
