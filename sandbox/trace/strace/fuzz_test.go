package strace

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The result is the same however a log is cut, and every complaint is counted.
func FuzzParser(f *testing.F) {
	for _, data := range logs(f) {
		for _, line := range bytes.SplitAfter(data[:min(len(data), 32<<10)], []byte("\n")) {
			f.Add(line, uint8(7))
		}
	}
	f.Add([]byte("1 1.0 vfork( <unfinished ...>\n2 1.0 execve(\"/x\", [\"x\"], NULL <unfinished ...>\n1 2.0 +++ superseded by execve in pid 2 +++\n1 3.0 <... execve resumed>) = 257\n"), uint8(1))
	f.Fuzz(func(t *testing.T, log []byte, step uint8) {
		whole := parse(string(log))
		var o outcome
		p := o.parser(0)
		for rest := log; len(rest) > 0; {
			n := min(int(step)+1, len(rest))
			_, _ = p.Write(rest[:n])
			rest = rest[n:]
		}
		_ = p.Close()
		if diff := cmp.Diff(whole.lines, o.lines); diff != "" {
			t.Fatalf("cut into pieces of %d: -whole +cut\n%s", int(step)+1, diff)
		}
		if uint64(len(o.errs)) != p.Lost() {
			t.Fatalf("%d complaints, %d counted", len(o.errs), p.Lost())
		}
		for i, r := range o.records {
			if r.Seq != uint64(i+1) || r.Call == "" || r.Op == "" {
				t.Fatalf("record %d: %+v", i+1, r)
			}
		}
	})
}
