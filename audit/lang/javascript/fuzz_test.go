package javascript

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// FuzzParse parses any bytes in each dialect. Whatever they are, each node lies in its
// place, and the tree is not deep.
func FuzzParse(f *testing.F) {
	samples, err := filepath.Glob("testdata/sample/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range samples {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Ext(name), src)
	}
	for _, c := range hostile {
		f.Add(filepath.Ext(c.file), []byte(c.make(40)))
	}
	f.Fuzz(func(t *testing.T, ext string, src []byte) {
		if _, known := dialects[ext]; !known {
			ext = ".tsx"
		}
		file := Language{}.Parse("a"+ext, src)
		c := checker{t: t, src: src, starts: lineStarts(src)}
		c.walk(reflect.ValueOf(file.Body))
		for _, u := range file.Unread {
			c.span(u.Span)
		}
		if d := depth(reflect.ValueOf(file.Body)); d > 2*maxDepth {
			t.Errorf("the tree is %d deep", d)
		}
	})
}

// checker holds each node of a tree to its place.
type checker struct {
	t      *testing.T
	src    []byte
	starts []int
}

func (c checker) span(s lang.Span) {
	c.pos(s.Start)
	c.pos(s.End)
	if s.Start.Offset() > s.End.Offset() {
		c.t.Errorf("a node ends before it begins: %v", s)
	}
}

func (c checker) pos(p lang.Pos) {
	if p.Offset() < 0 || p.Offset() > len(c.src) || p.Line() < 1 || p.Line() > len(c.starts) || c.starts[p.Line()-1]+p.Column()-1 != p.Offset() {
		c.t.Errorf("no place in %d bytes: %v", len(c.src), p)
	}
}

func (c checker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			c.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if e := v.Index(i); e.Kind() == reflect.Interface && e.IsNil() {
				c.t.Errorf("a list has nothing at %d", i)
			}
			c.walk(v.Index(i))
		}
	case reflect.Struct:
		if s, ok := v.Interface().(lang.Span); ok {
			c.span(s)
			return
		}
		for i := range v.NumField() {
			c.walk(v.Field(i))
		}
	}
}

// FuzzMap reads any bytes as a source map.
func FuzzMap(f *testing.F) {
	data, err := os.ReadFile("testdata/map/notes.js.map")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, 1, 70)
	f.Add([]byte(small), 2, 4)
	f.Fuzz(func(t *testing.T, data []byte, line, column int) {
		m, err := ReadMap(data, []byte("var a;\nvar 🗒;\n"))
		if err != nil {
			return
		}
		if o, ok := m.Original(lang.At(0, line, column)); ok && (o.Pos.Line() < 1 || o.Pos.Column() < 1 || o.Pos.Offset() < -1) {
			t.Errorf("%d:%d comes from %v", line, column, o)
		}
	})
}
