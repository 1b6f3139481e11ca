package notebook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// calls are the calls of a notebook with the lines of the notebook where they stand.
func calls(f *lang.File) string {
	var out []string
	for _, c := range lang.CalculateFacts(f).Calls {
		out = append(out, fmt.Sprintf("%s %d", strings.Join(c.Names, ","), f.Lines[c.Call.Start.Line()-1]))
	}
	return strings.Join(out, "; ")
}

func TestParse(t *testing.T) {
	const src = `{
 "cells": [
  {"cell_type": "markdown", "source": ["print(1)"]},
  {
   "cell_type": "code",
   "outputs": [{"text": ["eval(2)"]}],
   "source": [
    "import os\n",
    "%matplotlib inline\n",
    "!pip install x\n",
    "os.system('a')"
   ]
  },
  {"cell_type": "code", "source": ["%%bash\n", "rm x"]},
  {"source": "eval(x)\nexec(y)\n", "cell_type": "code"}
 ],
 "nbformat": 4
}`
	f := Language{}.Parse("a.ipynb", []byte(src))
	if got, want := calls(f), "get_ipython 10; get_ipython().system 10; os.system 11; eval 15; exec 15"; got != want && got != "get_ipython().system 10; get_ipython 10; os.system 11; eval 15; exec 15" {
		t.Errorf("%s\nwant %s", got, want)
	}
	if len(f.Unread) != 1 || f.Unread[0].Start.Line() != 14 || f.Language != "Python" {
		t.Errorf("unread: %+v", f.Unread)
	}
}

func TestNoNotebook(t *testing.T) {
	for _, src := range []string{"", "{", "[]]", `{"cells": [{"cell_type": "code", "source": ["x`, strings.Repeat("[", 5000), strings.Repeat(`{"a":`, 5000)} {
		if f := (Language{}).Parse("a.ipynb", []byte(src)); len(f.Unread) == 0 && src != "[]]" {
			t.Errorf("%.20q was read whole", src)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"cells":[{"cell_type":"code","source":["a\n","b"]}]}`))
	f.Add([]byte(`{"worksheets":[{"cells":[{"cell_type":"code","input":"!x"}]}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		tree := Language{}.Parse("a.ipynb", src)
		lang.Walk(tree, func(n lang.Node, _ *lang.Scope) bool {
			if line := n.Place().Start.Line(); line > len(tree.Lines)+1 {
				t.Fatalf("line %d of %d", line, len(tree.Lines))
			}
			return true
		})
	})
}
