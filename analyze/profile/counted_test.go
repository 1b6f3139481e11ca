package profile

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A text in the numbers of a call's notifications is a payload to be compared between runs, and
// a count is none.
func TestNumbersOfProgressArePayloads(t *testing.T) {
	t.Parallel()
	told := func(text string) (list []int) {
		for i, c := range text {
			list = append(list, (i+1)*1000+int(c))
		}
		return list
	}
	var steady, chunks []int
	for i := range 40 {
		steady = append(steady, i+1)
		chunks = append(chunks, min(i*4096, 120_001))
	}
	const key = "sk-ant-Qm3x81LpZt7RbVn05YwEa2Kd"
	for _, c := range []struct {
		name    string
		numbers []int
		want    int
	}{
		{"a text", told(key), 1}, {"a short text", told(key[:12]), 0}, {"a count", steady, 0}, {"bytes in chunks", chunks, 0}, {"nothing", nil, 0},
	} {
		b := builder()
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "plan", Time: time.Second})
		for i, n := range c.numbers {
			seq := uint64(i + 1)
			b.out.FrameCall[seq] = 1
			b.Frame(seq, time.Second, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":%d,"total":90}}`, n))
		}
		got := b.Profile().Payloads
		if len(got) != c.want || c.want > 0 && (got[0].Tool != "plan" || got[0].Call != 1 || got[0].Length != len(c.numbers)) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	sums := func(text string) (out []uint64) {
		b := builder()
		for _, n := range told(text) {
			b.counts[1] = append(b.counts[1], float64(n))
		}
		for _, p := range b.Profile().Payloads {
			out = append(out, p.Sum)
		}
		return out
	}
	if slices.Equal(sums(key), sums("sk-ant-Zn5x81LpZt7RbVn05YwEa2Kd")) || !slices.Equal(sums(key), sums(key)) {
		t.Error("the sums do not tell the texts")
	}
}
