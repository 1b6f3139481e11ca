package main

import (
	"io"
	"strings"
	"testing"
)

func TestTheTableIsRead(t *testing.T) {
	runs, err := parse(table)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range runs {
		for _, b := range r.bounds {
			if name := b.name + " " + b.metric; seen[name] {
				t.Errorf("%s is bound twice", name)
			} else {
				seen[name] = true
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d bounds", len(seen))
	}
	for _, bad := range []string{"A x <= 1 s", "run a", "run a ( 1s", "run a . 1s\nA x < 1 s", "run a . 1s\nA x <= much s"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is no table", bad)
		}
	}
}

func TestBoundsAreHeld(t *testing.T) {
	runs, err := parse("run ./a . 1s\n A/* s <= 2 s\n A/x MB/s >= 10 MB/s fast\n A/y MB/s >= 10 MB/s\n B s <= 9 s\n C s <= 9 s\n")
	if err != nil {
		t.Fatal(err)
	}
	f := figures{}
	const out = "goos: linux\nBenchmarkA/x-2   \t     100\t  12.5 ns/op\t 10.00 MB/s\t 1.5 s\nBenchmarkA/y-2 \t 3\t 2.5 s\t 9.9 MB/s\nBenchmarkB-16 1 9 s\nBenchmarkC is said\nPASS\n"
	if err := f.read(strings.NewReader(out), io.Discard); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	met, all := report(&b, runs, []figures{f})
	if met != 2 || all != 5 || !strings.HasSuffix(b.String(), "\nbench: 2/5\n") {
		t.Errorf("%d of %d\n%s", met, all, b.String())
	}
	for _, want := range []string{"A/* s      2.5       <= 2   s     NOT MET", "C s        -         <= 9   s     NOT MEASURED"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestParts(t *testing.T) {
	runs, err := parse(table)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		some, err := part(runs, shard)
		if err != nil || len(some) == 0 {
			t.Errorf("%s: %v", shard, err)
		}
		n += len(some)
	}
	if n != len(runs) {
		t.Errorf("the parts have %d of %d runs", n, len(runs))
	}
	for _, bad := range []string{"0/3", "4/3", "1", "a/b"} {
		if _, err := part(runs, bad); err == nil {
			t.Errorf("%s is not a part", bad)
		}
	}
}
