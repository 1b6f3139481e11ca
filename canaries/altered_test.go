package canaries

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
)

func TestAlteredDiffersInValuesAlone(t *testing.T) {
	s, err := New(rand.Reader, Options{Workspace: []string{"work"}})
	if err != nil {
		t.Fatal(err)
	}
	a, change, err := s.Altered(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range s.list {
		d := a.list[i]
		if d.Value == c.Value || len(d.Value) != len(c.Value) {
			t.Errorf("%s: the value has %d bytes and had %d, and is it the same: %v", c.ID, len(d.Value), len(c.Value), d.Value == c.Value)
		}
		if d.Value = c.Value; d.ID != c.ID || d.Path != c.Path || d.Env != c.Env {
			t.Errorf("%s became another canary: %s", c.ID, d.ID)
		}
		if change.Replace("x "+c.Value+" y") != "x "+a.list[i].Value+" y" {
			t.Errorf("%s: a text that holds it does not change with it", c.ID)
		}
	}
	changed := 0
	for i, f := range s.files {
		g := a.files[i]
		if f.Path != g.Path || f.Mode != g.Mode || !f.ModTime.Equal(g.ModTime) || len(f.Data) != len(g.Data) {
			t.Errorf("%s: more than the contents changed", f.Path)
		}
		if !bytes.Equal(f.Data, g.Data) {
			changed++
		}
	}
	if changed < 10 {
		t.Errorf("only %d files changed", changed)
	}
	old := strings.Join(s.env, "\n")
	if hits := a.Find([]byte(old)); len(hits) > 0 {
		t.Errorf("the old environment holds a new value: %v", hits)
	}
	if hits := s.Find([]byte(strings.Join(a.env, "\n"))); len(hits) > 0 {
		t.Errorf("the new environment holds an old value: %v", hits)
	}
}
