package coverage

import (
	"fmt"
	"strings"
	"testing"
)

// linesRan records that functions and lines of a file of Python ran.
func linesRan(file string, entered map[int]string, lines ...int) *Recording {
	var b strings.Builder
	fmt.Fprintf(&b, "F\t1\t%s\n", file)
	for line, name := range entered {
		fmt.Fprintf(&b, "E\t1\t%d\t%s\n", line, name)
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "L\t1\t%d\n", line)
	}
	r := &Recording{}
	r.Add([]byte(b.String()))
	return r
}

func TestAllRanOfPython(t *testing.T) {
	t.Parallel()
	const branches = "def f(a):\n    \"\"\"A doc.\"\"\"\n    if a:\n        return g(a)\n    try:\n        b = h(a)\n    except ValueError:\n        pass\n    return b\n"
	for _, c := range []struct {
		name, source string
		entered      map[int]string
		lines        []int
		want         bool
	}{
		{"all", branches, map[int]string{1: "f"}, []int{1, 3, 4, 5, 6, 9}, true},
		{"a branch is missing", branches, map[int]string{1: "f"}, []int{1, 3, 5, 6, 9}, false},
		{"what follows a return is missing", branches, map[int]string{1: "f"}, []int{1, 3, 4}, false},
		{"a function never ran", branches + "def k(a):\n    return a\n", map[int]string{1: "f"}, []int{1, 3, 4, 5, 6, 9, 10}, false},
		{"a branch in the line of its condition", "def f(a):\n    if a: g(a)\n", map[int]string{1: "f"}, []int{1, 2}, false},
		{"a call in a condition", "def f(a):\n    return a or g()\n", map[int]string{1: "f"}, []int{1, 2}, false},
		{"a value in a condition", "def f(a):\n    return a or 5\n", map[int]string{1: "f"}, []int{1, 2}, true},
		{"a condition that calls for its test alone", "def f(a):\n    return 1 if g(a) else 2\n", map[int]string{1: "f"}, []int{1, 2}, true},
		{"a condition that calls for its value", "def f(a):\n    return g(a) if a else 2\n", map[int]string{1: "f"}, []int{1, 2}, false},
		{"a lambda that takes a value", "def f(a):\n    a.sort(key=lambda x: x.n)\n", map[int]string{1: "f"}, []int{1, 2}, true},
		{"a lambda that calls", "def f(a):\n    return map(lambda x: g(x), a)\n", map[int]string{1: "f"}, []int{1, 2}, false},
		{"a sink of the module", "import os\ndef f(a):\n    return a\nif f(0):\n    os.system('x')\n", map[int]string{2: "f"}, []int{1, 2, 3, 4}, false},
	} {
		code := read(t, map[string]string{"s.py": c.source})
		if got := code.AllRan(linesRan("s.py", c.entered, c.lines...)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A file that was not loaded counts where a way leads to it, or where it could do harm.
func TestAllRanOfOtherFiles(t *testing.T) {
	t.Parallel()
	ran := linesRan("s.py", map[int]string{2: "f"}, 1, 2, 3)
	for _, c := range []struct {
		name, main, other string
		want              bool
	}{
		{"not imported", "\ndef f(a):\n    return a\n", "def g(a):\n    return a\n", true},
		{"called", "import other\ndef f(a):\n    return other.g(a)\n", "def g(a):\n    return a\n", false},
		{"not imported, and starts programs", "\ndef f(a):\n    return a\n", "import os\ndef g(a):\n    os.system(a)\n", false},
	} {
		if got := read(t, map[string]string{"s.py": c.main, "other.py": c.other}).AllRan(ran); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if read(t, map[string]string{"s.py": "\ndef f(a):\n    return a\n"}).AllRan(&Recording{}) {
		t.Error("all ran where nothing was recorded")
	}
}

func TestAllRanOfJavaScript(t *testing.T) {
	t.Parallel()
	const source = "function f(a) {\n  if (a) { return g(a); }\n  const b = a ? h(1) : h(2);\n  return b;\n}\n"
	whole := fmt.Sprintf("R\t1\t0\t%d\n", len(source))
	without := func(part string) string {
		i := strings.Index(source, part)
		return fmt.Sprintf("R\t1\t0\t%d\nR\t1\t%d\t%d\n", i, i+len(part), len(source))
	}
	for _, c := range []struct {
		name, ranges string
		want         bool
	}{
		{"all", whole, true},
		{"all but the place behind a return", without("\n}\n"), true},
		{"a branch", without("{ return g(a); }"), false},
		{"a value of a condition", without(" : h(2)"), false},
		{"translated", whole + "X\t1\n", false},
	} {
		r := &Recording{}
		r.Add([]byte("F\t1\ts.js\n" + c.ranges))
		if got := read(t, map[string]string{"s.js": source}).AllRan(r); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
