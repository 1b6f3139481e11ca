package bpf

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// BenchmarkDecoder takes in the opening and the reading of one file, as the kernel's side tells it.
func BenchmarkDecoder(b *testing.B) {
	abis, err := tables("amd64", Core)
	if err != nil {
		b.Fatal(err)
	}
	nr := uint32(slices.IndexFunc(abis[0].calls[:], func(c *trace.Call) bool { return c != nil && c.Name == "openat" }))
	h := head{Time: 1, Ret: 3, Kind: eventCall, NR: nr, TID: 2, TGID: 12, PID: 12, Own: 2, NS: 9}
	h.Args[0] = uint64(1<<32 - 100)
	raw := sample(h, blob{what: 1, data: []byte("/usr/lib/x86_64-linux-gnu/libc.so.6\x00")}, blob{what: blobResult, data: walked("usr", "lib", "x86_64-linux-gnu", "libc.so.6")})
	var last string
	d := newDecoder(abis, 9, 2, func(r *trace.Record) { last = r.Path }, func(uint64, string) {})
	d.started = true
	d.adopt(12, theirs)
	e := event{known: newKnown()}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.read(raw); err != nil {
			b.Fatal(err)
		}
		d.take(&e)
	}
	if last != "/usr/lib/x86_64-linux-gnu/libc.so.6" {
		b.Errorf("%q", last)
	}
}
