package oracle

import "testing"

// The field begins with a name that the tool's value or its words have, and never with a piece of JSON.
func TestFormatString(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ base, said, want string }{
		{"", "", "{0.__class__.__mro__}"},
		{"Dear {event.guest}, welcome", "", "{event.__class__.__mro__}"},
		{"plain", "A template such as 'Dear {who}!'", "{who.__class__.__mro__}"},
		{"{0}", "{who}", "{0.__class__.__mro__}"},
		{"{row[name]}", "", "{row.__class__.__mro__}"},
		{"plain", `{"type":"object","properties":{"a":{}}}`, "{0.__class__.__mro__}"},
		{"{{ jinja }}", "", "{0.__class__.__mro__}"},
	} {
		if got := formatString(x.base, x.said, "T"); got != "T"+x.want {
			t.Errorf("%q, %q: %s", x.base, x.said, got)
		}
	}
}

// A path of names goes where one stood, or where an argument is named for one, and only where there is a value to set.
func TestPrototypeAlongAPath(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ args, want, at string }{
		{`{"path":"/home/a/b.md","value":"x"}`, `{"path":"__proto__.title","value":"T"}`, "/path"},
		{`{"where":"view.theme","to":"dark"}`, `{"to":"T","where":"__proto__.title"}`, "/where"},
		{`{"path":"a.b"}`, "", ""},
		{`{"who":"Ana","text":"hello there"}`, "", ""},
	} {
		got, in, ok := Prototype([]byte(x.args), 2, "T")
		if ok != (x.want != "") || ok && (string(got) != x.want || in.At != x.at || in.Undeclared) {
			t.Errorf("%s: %s %+v %t", x.args, got, in, ok)
		}
	}
}

func TestInherited(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ args, want, control string }{
		{`{"path":"view.theme"}`, `{"path":"view.title"}`, `{"path":"view.qqq"}`},
		{`{"deep":true,"key":"theme"}`, `{"deep":true,"key":"toString.title"}`, `{"deep":true,"key":"toString.qqq"}`},
		{`{"path":"a.b","value":"x"}`, "", ""},
		{`{"who":"Ana"}`, "", ""},
		{`[1]`, "", ""},
	} {
		got, control, in, ok := Inherited([]byte(x.args), "T")
		if ok != (x.want != "") || ok && (string(got) != x.want || string(control) != x.control || in.Value != "T" || in.Token != "") {
			t.Errorf("%s: %s %s %+v %t", x.args, got, control, in, ok)
		}
	}
}
