package profile

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/canaries"
)

// A word of an argument that a decoy holds too leaves with the decoy, and a text of the source the server has from itself, so
// they prove nothing about the argument.
func TestArgumentWords(t *testing.T) {
	t.Parallel()
	key := base64.StdEncoding.EncodeToString([]byte("key of mkowalski@northwind.example"))
	b := NewBuilder(Context{Home: "/home/mkowalski", Canaries: []canaries.Canary{{ID: "key", Value: key, Path: "/home/mkowalski/.ssh/id_rsa_workshop"}}, Literals: []string{"the unstable branch", "unstable"}})
	for _, c := range []struct {
		name string
		args any
		want []string
	}{
		{"the longest word", map[string]any{"text": "remember the lighthouse by Saturday"}, []string{"lighthouse"}},
		{"a short text", "meet at 5", nil},
		{"the user's name", "/home/mkowalski/a.md", nil},
		{"the company in the key's comment", "mail to northwind", nil},
		{"a word beside the user's name", "/home/mkowalski/lighthouse.md", []string{"lighthouse"}},
		{"a shorter word beside a path of decoys", "/workshop/evenings/workshop", []string{"evenings"}},
		{"a text of the source", "unstable", nil},
		{"a word of a text of the source", "the unstable shed", []string{"unstable"}},
		{"nested", []any{"aaaaaaaa", map[string]any{"b": "bbbbbbbb", "a": "cccccccc"}}, []string{"aaaaaaaa", "cccccccc", "bbbbbbbb"}},
	} {
		if diff := cmp.Diff(c.want, b.argumentWords(c.args, nil)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
