package sweep

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
)

// The names of spans, and of their attributes.
const (
	spanSweep  = "sweep"
	spanList   = "list"
	spanReuse  = "skip and judge again"
	spanRuns   = "wait for runs"
	spanJob    = "job"
	spanProbe  = "probe"
	spanKeep   = "keep run"
	spanAnswer = "answer"

	attrSweep   = "coalmine.sweep"
	attrJob     = "coalmine.job"
	attrTarget  = "coalmine.target"
	attrVersion = "coalmine.target.version"
	attrTry     = "coalmine.try"
	attrStatus  = "coalmine.exit_status"
	attrShard   = "coalmine.shard"
	attrJobs    = "coalmine.jobs"
)

// tracerOf is a tracer, for nil one that traces nothing.
func tracerOf(t trace.Tracer) trace.Tracer {
	if t == nil {
		return noop.Tracer{}
	}
	return t
}

// within does a part of the work in a span of its own.
func within(ctx context.Context, t trace.Tracer, name string, do func(context.Context) error) error {
	ctx, span := tracerOf(t).Start(ctx, name)
	defer span.End()
	err := do(ctx)
	failed(span, err)
	return err
}

// failed marks a span whose work failed. What went wrong may quote a server: the results have it.
func failed(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "the results say why")
	}
}

// startJob begins the span of a job. It is a trace of its own, linked with the sweep's.
func (w *Worker) startJob(ctx context.Context, j *job, d *queue.Delivery) (context.Context, trace.Span) {
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String(attrSweep, j.Sweep), attribute.String(attrJob, j.Name), attribute.String(attrTarget, j.Target.Name),
		attribute.String(attrVersion, j.Target.Version), attribute.Int(attrTry, d.Try))}
	from := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": j.Trace})
	if sweep := trace.SpanContextFromContext(from); sweep.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: sweep}))
	}
	return tracerOf(w.Tracer).Start(ctx, spanJob, options...)
}

// traceparent names the span of a context for another process.
func traceparent(ctx context.Context) string {
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return c["traceparent"]
}
