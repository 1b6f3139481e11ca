package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
)

func TestTableAnswersEverything(t *testing.T) {
	rows := Table(t.Context())
	if len(rows) != len(checks()) {
		t.Fatalf("%d rows for %d checks", len(rows), len(checks()))
	}
	var out strings.Builder
	if err := Print(&out, rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out.String())
	for _, r := range rows {
		switch r.OK {
		case sandbox.Yes, sandbox.Unknown:
		case sandbox.No:
			if r.Hint == "" {
				t.Errorf("%s: no, but no hint (%s)", r.What, r.Reason)
			}
		default:
			t.Errorf("%s: answer %q", r.What, r.OK)
		}
		if r.Reason == "" {
			t.Errorf("%s: no reason", r.What)
		}
	}
}

func TestTableDoesNotWait(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	rows := table(t.Context(), []check{
		{"slow", func(context.Context) sandbox.Support { <-never; return yes("late") }},
		{"quick", func(context.Context) sandbox.Support { return yes("in time") }},
	}, 20*time.Millisecond)
	if rows[0].OK != sandbox.Unknown || rows[1].OK != sandbox.Yes {
		t.Errorf("got %+v", rows)
	}
}

func TestPrintIsHarmless(t *testing.T) {
	var out strings.Builder
	rows := []Row{{What: "a", OK: sandbox.No, Reason: "x\x1b[31m\n::set-output\u202e", Hint: "do\tthis"}, {What: "longer", OK: sandbox.Yes, Reason: "fine"}}
	if err := Print(&out, rows); err != nil {
		t.Fatal(err)
	}
	want := "a       no       x [31m ::set-output\n                 hint: do this\nlonger  yes      fine\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}
