package oracle

import (
	"encoding/xml"
	"strings"
	"testing"
)

func TestEntities(t *testing.T) {
	w := &World{Outside: File{Stem: "/home/a/lease", Value: "words"}}
	for value, want := range map[string]string{
		`<order id='7'><item>pen</item></order>`:             `<!DOCTYPE order [<!ENTITY ext SYSTEM "file:///home/a/lease.txt">]><order id='7'>&ext;<item>pen</item></order>`,
		"<?xml version=\"1.0\"?>\n<!DOCTYPE html>\n<a>b</a>": `<!DOCTYPE a [<!ENTITY ext SYSTEM "file:///home/a/lease.txt">]><a>&ext;b</a>`,
		"no document": `<!DOCTYPE doc [<!ENTITY ext SYSTEM "file:///home/a/lease.txt">]><doc>&ext;<item>a</item></doc>`,
	} {
		in := Entities(w, value, "token")
		if in[0].Text != want || in[0].Path != "/home/a/lease" || !strings.Contains(in[1].Text, "http://token.example.net/token") {
			t.Errorf("%s: %+v", value, in)
		}
		d := xml.NewDecoder(strings.NewReader(in[0].Text))
		d.Entity = map[string]string{"ext": ""}
		for {
			if _, err := d.Token(); err != nil {
				if err.Error() != "EOF" {
					t.Errorf("%s: %v", in[0].Text, err)
				}
				break
			}
		}
	}
}

func TestTakesXML(t *testing.T) {
	for _, c := range []struct {
		p    Place
		said string
		want bool
	}{
		{Place{Name: "text", Value: "<a>b</a>"}, "", true},
		{Place{Name: "xml", Value: "x"}, "", true},
		{Place{Name: "document", Value: "x"}, "an SVG picture", true},
		{Place{Name: "xml_path", Value: "/w/a.xml"}, "", false},
		{Place{Name: "text", Value: "a < b"}, "", false},
	} {
		if got := TakesXML(c.p, c.said); got != c.want {
			t.Errorf("%+v %q: %t", c.p, c.said, got)
		}
	}
}
