package agent

import "testing"

func TestDetachedSharedMemory(t *testing.T) {
	const head = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap\n"
	const attached = "         0          1   600              8388608     7     7      1  1000  1000  1000  1000 1779446000          0 1779446000               8388608                     0\n"
	const left = "         0          2   600              8388608     7     7      0  1000  1000  1000  1000 1779446000 1779446000 1779446000               4096000                  4096\n"
	for _, c := range []struct {
		table string
		want  int64
	}{{"", 0}, {head, 0}, {head + attached, 0}, {head + attached + left + left, 2 * 4100096}, {"nonsense\n0 0 0 0 0 0 0\n", 0}} {
		if got := detached([]byte(c.table)); got != c.want {
			t.Errorf("%q: %d, want %d", c.table, got, c.want)
		}
	}
}

func FuzzDetachedSharedMemory(f *testing.F) {
	f.Add([]byte("a b c d e f 0 h i j k l m n 12 13\n"))
	f.Fuzz(func(t *testing.T, table []byte) {
		if n := detached(table); n < 0 && len(table) < 1<<10 {
			t.Errorf("%d", n)
		}
	})
}
