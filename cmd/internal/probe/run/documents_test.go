package run

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{}
	p.Identity.Home, p.Server.Workspaces = "/home/erin", []string{"/home/erin/work"}
	for name, text := range map[string]string{
		"Documents/notes.md":     "# Notes\n\n- return the library books\n",
		"Documents/budget.csv":   "month,rent\n01,900,340,110,22\n",
		"Documents/short.txt":    "a few words\n",
		"Documents/quoted.txt":   "she said \"tomorrow at noon\"\n",
		"Documents/.hidden/x.md": "return the library books\n",
		".config/notes.md":       "return the library books\n",
		"todo.md":                "return the library books\n",
		"work/plan.md":           "return the library books\n",
		"Pictures/a.png":         "\x89PNG\xff\xfe and so on and so on\n",
	} {
		p.Files = append(p.Files, rootfs.File{Path: "/home/erin/" + name, Data: []byte(text)})
	}
	p.Files = append(p.Files, rootfs.File{Path: "/home/erin/Documents/left.md", Data: []byte("an earlier run left this line\n")})
	p.Left = 1
	got := documents(p)
	slices.SortFunc(got, func(a, b session.Document) int { return len(a.Path) - len(b.Path) })
	want := []session.Document{{Path: "/home/erin/Documents/notes.md", Line: "return the library books"}, {Path: "/home/erin/Documents/budget.csv", Line: "01,900,340,110,22"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
