package javascript

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// TestOriginal leads the facts of a bundle to the sources that it was made of: esbuild
// made testdata/map/notes.js of two files with types and characters outside of ASCII.
func TestOriginal(t *testing.T) {
	src, err := os.ReadFile("testdata/map/notes.js")
	if err != nil {
		t.Fatal(err)
	}
	m, err := OpenMap(src, func(name string) ([]byte, error) { return fs.ReadFile(os.DirFS("testdata/map"), name) })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"call this.notes.set": "../shelf.ts 4:38 +129 this.",
		"string 🗒 ":           "../shelf.ts 4:53 +144 '🗒",
		"string Grüß dich":    "../main.ts 4:26 +94 'Grü",
		"call shelf.put":      "../main.ts 5:1 +109 shelf",
		"call readNote":       "../main.ts 5:21 +129 readN",
		"def readNote":        "../main.ts 7:1 +150 funct",
	}
	file := Language{}.Parse("notes.js", src)
	for _, fact := range factsOf(file, src) {
		at, what, _ := strings.Cut(fact, " ")
		var line, column int
		if _, err := fmt.Sscanf(at, "%d:%d", &line, &column); err != nil {
			t.Fatal(err)
		}
		pos := lang.At(0, line, column)
		if want[what] == "" {
			continue
		}
		o, ok := m.Original(pos)
		text := m.contents[0]
		if strings.HasSuffix(o.File, "main.ts") {
			text = m.contents[1]
		}
		got := fmt.Sprintf("%s %d:%d +%d %s", o.File, o.Pos.Line(), o.Pos.Column(), o.Pos.Offset(), text[o.Pos.Offset():o.Pos.Offset()+5])
		if !ok || got != want[what] {
			t.Errorf("%s at %s comes from %s, not %s", what, at, got, want[what])
		}
		delete(want, what)
	}
	if len(want) > 0 {
		t.Errorf("not in the bundle: %v", want)
	}
	for _, pos := range []lang.Pos{{}, lang.At(0, 1, 0), lang.At(0, 3, 1), lang.At(0, 900, 1)} {
		if o, ok := m.Original(pos); ok {
			t.Errorf("%v comes from %v", pos, o)
		}
	}
}

// small is a map of one place: line 2, column 3 comes from line 4, column 5 of a.ts.
const small = `{"version":3,"sourceRoot":"src/","sources":["a.ts"],"mappings":";EAGI"}`

func TestOpenMap(t *testing.T) {
	beside := func(name string) ([]byte, error) {
		if name != "maps/a.map" {
			return nil, errors.New("there is no such file")
		}
		return []byte(small), nil
	}
	for _, c := range []struct{ name, comment, err string }{
		{"base64", "//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(small)), ""},
		{"percent", "//# sourceMappingURL=data:application/json," + url.PathEscape(small), ""},
		{"old", "//@ sourceMappingURL=data:application/json," + url.PathEscape(small), ""},
		{"block", "/*# sourceMappingURL=./maps/a.map */", ""},
		{"escaped", "//# sourceMappingURL=maps%2Fa.map", ""},
		{"the last counts", "//# sourceMappingURL=b.map\n//# sourceMappingURL=maps/a.map", ""},
		{"none", "// sourceMappingURL", "names no source map"},
		{"missing", "//# sourceMappingURL=b.map", "no such file"},
		{"a host", "//# sourceMappingURL=https://maps.example/a.map", "beside"},
		{"a parent", "//# sourceMappingURL=../maps/a.map", "beside"},
		{"a hidden parent", "//# sourceMappingURL=maps/%2e%2e/../../maps/a.map", "beside"},
		{"a root", "//# sourceMappingURL=/maps/a.map", "beside"},
		{"cut off", "//# sourceMappingURL=data:application/json;base64", "cut off"},
		{"no base64", "//# sourceMappingURL=data:application/json;base64,=%", "in the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := OpenMap([]byte("x\ny  z\n"+c.comment), beside)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			o, ok := m.Original(lang.At(0, 2, 4))
			if want := (Original{File: "src/a.ts", Pos: lang.At(-1, 4, 5)}); !ok || o != want {
				t.Errorf("got %v", o)
			}
			if o, ok := m.Original(lang.At(0, 2, 2)); ok {
				t.Errorf("what is before the first mapping comes from %v", o)
			}
		})
	}
}

func TestReadMap(t *testing.T) {
	for _, c := range []struct{ name, data, err string }{
		{"sections", `{"version":3,"sections":[{"offset":{"line":0,"column":2},"map":` + small + `},{"offset":{"line":5,"column":0},"map":` + small + `}]}`, ""},
		{"a guard", ")]}'\n" + small, ""},
		{"no source", `{"version":3,"sources":[null],"mappings":";EAGI,E"}`, ""},
		{"no JSON", `{`, "not JSON"},
		{"a version", `{"version":2}`, "version"},
		{"a section without a map", `{"version":3,"sections":[{}]}`, "section"},
		{"a source too many", `{"version":3,"sources":["a"],"mappings":"ACAA"}`, "no source"},
		{"a line before the first", `{"version":3,"sources":["a"],"mappings":"AADA"}`, "no source"},
		{"a column before the first", `{"version":3,"sources":["a"],"mappings":"DAAA"}`, "wrong"},
		{"two fields", `{"version":3,"sources":["a"],"mappings":"AA"}`, "wrong"},
		{"six fields", `{"version":3,"sources":["a"],"mappings":"AAAAAA"}`, "VLQ"},
		{"no digits", `{"version":3,"sources":["a"],"mappings":"A!"}`, "VLQ"},
		{"a number without an end", `{"version":3,"sources":["a"],"mappings":"gggggggggggA"}`, "VLQ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadMap([]byte(c.data), []byte("x\ny"))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
