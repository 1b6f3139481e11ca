package sandbox

import (
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func TestStartFilter(t *testing.T) {
	type step struct {
		rec  trace.Record
		kept bool
	}
	exec := func(tid int, err string) trace.Record { return trace.Record{Tid: tid, Op: trace.OpExec, Err: err} }
	fork := func(tid, child int) trace.Record {
		return trace.Record{Tid: tid, Op: trace.OpFork, Child: child, Ret: int64(child)}
	}
	exit := func(tid int) trace.Record { return trace.Record{Tid: tid, Op: trace.OpExit} }
	open := func(tid int) trace.Record { return trace.Record{Tid: tid, Op: trace.OpOpen} }
	for name, steps := range map[string][]step{
		"plain": {
			{exec(8, ""), false}, {open(8), false}, {fork(8, 9), false}, {open(9), false},
			{exec(8, ""), true}, {open(8), true}, {exec(8, ""), true},
		},
		"a thread's end comes late": {
			{exec(8, ""), false}, {fork(8, 9), false}, {open(9), false}, {exec(8, ""), true}, {exit(9), false}, {open(9), true},
		},
		"a failed exec does not count": {
			{exec(8, ""), false}, {exec(8, "ENOENT"), false}, {exec(8, ""), true},
		},
		"an inner namespace": {
			{exec(5, ""), false}, {fork(5, 8), false}, {exec(8, ""), false}, {open(5), false},
			{exec(8, ""), true}, {exit(5), false}, {open(8), true},
		},
		"another task's execs do not count": {
			{exec(5, ""), false}, {exec(5, ""), false}, {exec(5, ""), false}, {exec(8, ""), false}, {exec(8, ""), true},
		},
		"a number given anew is the target's": {
			{exec(8, ""), false}, {open(9), false}, {exec(8, ""), true}, {fork(8, 9), true}, {open(9), true},
		},
	} {
		f := startFilter{tid: 8}
		var seq uint64
		for i, s := range steps {
			got := f.keep(&s.rec)
			if got != s.kept {
				t.Errorf("%s: step %d: kept %t", name, i, got)
			}
			if got {
				seq++
				if s.rec.Seq != seq {
					t.Errorf("%s: step %d: number %d, want %d", name, i, s.rec.Seq, seq)
				}
			}
		}
	}
}
