package tracing

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// collector keeps what it gets, and answers with one status after another.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	bodies   [][]byte
	header   http.Header
	path     string
}

func newCollector(t *testing.T, statuses ...int) *collector {
	t.Helper()
	c := &collector{statuses: statuses}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies, c.header, c.path = append(c.bodies, body), r.Header, r.URL.Path
		status := http.StatusOK
		if len(c.statuses) > 0 {
			status, c.statuses = c.statuses[0], c.statuses[1:]
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(c.Close)
	return c
}

// none is an environment without a variable.
func none(string) string { return "" }

// traceOne makes a span with a child that fails, and sends both.
func traceOne(t *testing.T, o Options) {
	t.Helper()
	tracer, end, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	other := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	ctx, span := tracer.Start(context.Background(), "job", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(trace.Link{SpanContext: other}),
		trace.WithAttributes(attribute.String("target", "npm:“x”\n"), attribute.Int("try", 2)))
	_, child := tracer.Start(ctx, "probe")
	child.SetStatus(codes.Error, "no run")
	child.End()
	span.End()
	end()
}

func TestSpansArrive(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	env := map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x=y"}
	traceOne(t, Options{Endpoint: c.URL + "/", Version: "1.2.3", Say: func(s string) { t.Error(s) }, getenv: func(k string) string { return env[k] }})
	if len(c.bodies) != 1 || c.path != "/v1/traces" || c.header.Get("Api-Key") != "a b" || c.header.Get("X") != "y" || c.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d requests, %s, %v", len(c.bodies), c.path, c.header)
	}
	var got traces
	if err := json.Unmarshal(c.bodies[0], &got); err != nil {
		t.Fatal(err)
	}
	spans := got.Resources[0].Scopes[0].Spans
	if len(spans) != 2 {
		t.Fatalf("%d spans: %s", len(spans), c.bodies[0])
	}
	child, job := spans[0], spans[1]
	if job.Name != "job" || job.Kind != 5 || job.Parent != "" || len(job.Links) != 1 || job.Links[0].TraceID != "01"+strings.Repeat("0", 30) || job.Status.Code != 0 {
		t.Errorf("%+v", job)
	}
	if child.Parent != job.SpanID || child.TraceID != job.TraceID || child.Status != (status{"no run", 2}) || child.Start < job.Start || child.End > job.End {
		t.Errorf("%+v of %+v", child, job)
	}
	if a := job.Attributes; *a[0].Value.String != "npm:“x”\n" || a[1].Value.Int != "2" {
		t.Errorf("%+v", a)
	}
	for _, want := range []string{`{"key":"service.name","value":{"stringValue":"coalmine-sweep"}}`, `"version":"1.2.3"`} {
		if !strings.Contains(string(c.bodies[0]), want) {
			t.Errorf("%s is not in %s", want, c.bodies[0])
		}
	}
}

// What is sent is what OpenTelemetry's own definition of the format takes, member by member. Only
// the ids are otherwise in its JSON: hexadecimal, where protobuf has base64.
func TestSpansAreOTLP(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	traceOne(t, Options{Endpoint: c.URL, getenv: none})
	var doc tracepb.TracesData
	if err := protojson.Unmarshal(c.bodies[0], &doc); err != nil {
		t.Fatalf("%v: %s", err, c.bodies[0])
	}
	spans := doc.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()
	if len(spans) != 2 || spans[1].GetKind() != tracepb.Span_SPAN_KIND_CONSUMER || spans[0].GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR ||
		spans[1].GetAttributes()[1].GetValue().GetIntValue() != 2 || time.Since(time.Unix(0, int64(spans[1].GetStartTimeUnixNano()))) > time.Hour { //nolint:gosec // a time
		t.Errorf("%v", spans)
	}
	if err := protojson.Unmarshal([]byte(`{"resourceSpans": [{"scope": {}}]}`), &doc); err == nil {
		t.Error("a member that the format does not have is taken: the comparison proves nothing")
	}
}

// A collector that is busy is asked again, one that refuses is not, and none is followed elsewhere.
func TestCollectorsThatFail(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		statuses []int
		requests int
		said     string
	}{
		{"busy once", []int{503}, 2, ""},
		{"busy for ever", []int{429, 503, 502, 504}, 3, "traces do not arrive: the collector answers 502; the work goes on"},
		{"refuses", []int{401}, 1, "traces do not arrive: the collector answers 401; the work goes on"},
		{"leads elsewhere", []int{307}, 1, "traces do not arrive: the collector answers 307; the work goes on"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t, tc.statuses...)
			var said []string
			e := newExporter(c.URL, nil, func(s string) { said = append(said, s) })
			e.wait = func(context.Context, time.Duration) error { return nil }
			_ = e.ExportSpans(context.Background(), nil) // it has no error
			if got := strings.Join(said, "\n"); got != tc.said || len(c.bodies) != tc.requests {
				t.Errorf("%d requests, said %q", len(c.bodies), got)
			}
		})
	}
}

// Of a collector that is away one line is said, until it is there again.
func TestSaidOnce(t *testing.T) {
	t.Parallel()
	c := newCollector(t, 400, 400, 200, 400)
	said := 0
	e := newExporter(c.URL, nil, func(string) { said++ })
	for i, want := range []int{1, 1, 1, 2} {
		if err := e.ExportSpans(context.Background(), nil); err != nil || said != want {
			t.Errorf("after %d: said %d times, want %d; %v", i+1, said, want, err)
		}
	}
}

func TestWhereSpansGo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, flag string
		env        map[string]string
		want       string
		refused    bool
	}{
		{name: "nowhere"},
		{name: "flag", flag: "http://c:4318", want: "http://c:4318/v1/traces"},
		{name: "flag before variables", flag: "https://c/otlp/", env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://d"}, want: "https://c/otlp/v1/traces"},
		{name: "base", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://d:1"}, want: "http://d:1/v1/traces"},
		{name: "whole", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://d:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://e/t"}, want: "http://e/t"},
		{name: "disabled", flag: "http://c", env: map[string]string{"OTEL_SDK_DISABLED": "TRUE"}},
		{name: "no exporter", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://d:1", "OTEL_TRACES_EXPORTER": "none"}},
		{name: "no address", flag: "c:4318", refused: true},
		{name: "another protocol", flag: "grpc://c:4317", refused: true},
	} {
		o := Options{Endpoint: tc.flag, getenv: func(k string) string { return tc.env[k] }}
		if got, err := o.address(); got != tc.want || (err != nil) != tc.refused {
			t.Errorf("%s: %q, %v", tc.name, got, err)
		}
	}
	for text, ok := range map[string]bool{"": true, "a=b": true, "a=b,c=%20": true, "a": false, "=b": false, "a=%zz": false} {
		if _, err := parseHeaders(text); (err == nil) != ok {
			t.Errorf("headers %q: %v", text, err)
		}
	}
}

// Without a collector nothing is made.
func TestNoCollector(t *testing.T) {
	t.Parallel()
	tracer, end, err := Open(Options{getenv: none})
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracer.Start(context.Background(), "x")
	if span.IsRecording() {
		t.Error("a span is recorded for nobody")
	}
	end()
}
