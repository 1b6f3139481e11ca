package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// A sweep is a trace, each job is one, linked with the sweep's, and a job that fails is marked
// without a word of what it said.
func TestTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recorder := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)).Tracer("test")
	f := &fake{}
	o := Options{Source: list(t, dir, "npm:honest@1.0.0", "npm:broken@1.0.0"), Dir: dir, Rules: "r", Settings: "s", Tracer: tracer}
	if got, err := sweepOnce(t.Context(), t, f, o); err != nil || !strings.HasPrefix(got, "2 jobs: 1 run") {
		t.Fatalf("%s, %v", got, err)
	}
	var names []string
	byID := map[string]sdk.ReadOnlySpan{}
	for _, s := range recorder.Ended() {
		byID[s.SpanContext().SpanID().String()] = s
	}
	for _, s := range recorder.Ended() {
		name := s.Name()
		if parent := byID[s.Parent().SpanID().String()]; parent != nil {
			name = parent.Name() + " > " + name
		}
		if s.Status().Code == codes.Error {
			name += " failed"
		}
		names = append(names, name)
		if text := fmt.Sprint(s.Attributes(), s.Status(), s.Events()); strings.Contains(text, "the package is broken") {
			t.Errorf("%s has the words of an error: %s", name, text)
		}
	}
	slices.Sort(names)
	want := []string{"job", "job > answer", "job > answer", "job > keep run", "job > probe", "job > probe failed", "job failed",
		"sweep", "sweep > list", "sweep > skip and judge again", "sweep > wait for runs"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for _, s := range recorder.Ended() {
		if s.Name() != spanJob {
			continue
		}
		links := s.Links()
		if len(links) != 1 || byID[links[0].SpanContext.SpanID().String()].Name() != spanRuns || links[0].SpanContext.TraceID() == s.SpanContext().TraceID() {
			t.Errorf("a job is linked with %+v", links)
		}
		attributes := fmt.Sprint(s.Attributes())
		if !strings.Contains(attributes, attrTarget) || !strings.Contains(attributes, attrTry) {
			t.Error(attributes)
		}
	}
}

// A sweep without a tracer, and a job of one, work as before.
func TestNoTracer(t *testing.T) {
	t.Parallel()
	if got := traceparent(context.Background()); got != "" {
		t.Errorf("a span is named that is none: %q", got)
	}
	if err := within(context.Background(), nil, "x", func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}
