package coverage

import "testing"

func TestLeavesReading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"a session that is loaded", "import subprocess\ndef load(p):\n    eval(open(p).read())\nload('a')\n", true},
		{"code that takes in nothing", "import subprocess\ndef end():\n    subprocess.run(['true'])\nend()\n", false},
		{"nothing that weighs", "def add(a, b):\n    return a + b\nadd(1, 2)\n", false},
	} {
		code := codeOf(t, "server.py", c.source)
		r := &Recording{}
		r.Add([]byte("F\t1\tserver.py\nL\t1\n"))
		if got := code.Compare(r, "").LeavesReading(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
