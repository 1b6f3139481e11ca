package tracing

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	requestTime = 10 * time.Second
	// tries is how often spans are sent before they are given up, and maxWait how long a collector
	// may ask for between two tries.
	tries   = 3
	maxWait = 5 * time.Second
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 64 << 10
)

// exporter sends spans in OTLP's JSON. It is an sdk.SpanExporter.
type exporter struct {
	address string
	headers map[string]string
	client  *http.Client
	wait    func(ctx context.Context, d time.Duration) error

	mu   sync.Mutex
	say  func(string)
	told bool
}

func newExporter(address string, headers map[string]string, say func(string)) *exporter {
	if say == nil {
		say = func(string) {}
	}
	return &exporter{address: address, headers: headers, say: say, wait: wait, client: &http.Client{
		Timeout: requestTime,
		// The headers may hold a key that is this collector's alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// ExportSpans implements sdk.SpanExporter. Spans that do not arrive are told of, and lost.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(document(spans))
	if err == nil {
		err = e.send(ctx, body)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil && !e.told {
		e.say(fmt.Sprintf("traces do not arrive: %v; the work goes on", err))
	}
	e.told = err != nil
	return nil
}

// send posts spans, and again where the collector is only busy.
func (e *exporter) send(ctx context.Context, body []byte) error {
	for try := 1; ; try++ {
		after, err := e.post(ctx, body)
		if err == nil || after < 0 || try == tries {
			return err
		}
		if e.wait(ctx, min(max(after, time.Duration(try)*time.Second), maxWait)) != nil {
			return err
		}
	}
}

// post sends spans once. after is how long to wait before another try, negative for never.
func (e *exporter) post(ctx context.Context, body []byte) (after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(body))
	if err != nil {
		return -1, errors.New("the collector's address cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range e.headers {
		req.Header.Set(name, value)
	}
	res, err := e.client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("reach the collector: %w", err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // its status says what counts
	_ = res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return time.Duration(min(max(seconds, 0), 60)) * time.Second, fmt.Errorf("the collector answers %d", res.StatusCode)
	}
	return -1, fmt.Errorf("the collector answers %d", res.StatusCode)
}

// The parts of OTLP's JSON that are used (opentelemetry-proto, trace.proto; numbers of 64 bits are
// strings, ids are hexadecimal).
type (
	traces struct {
		Resources []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource attributes   `json:"resource"`
		Scopes   []scopeSpans `json:"scopeSpans"`
	}
	attributes struct {
		Attributes []pair `json:"attributes,omitempty"`
	}
	scopeSpans struct {
		Scope named  `json:"scope"`
		Spans []span `json:"spans"`
	}
	named struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID    string         `json:"traceId"`
		SpanID     string         `json:"spanId"`
		Parent     string         `json:"parentSpanId,omitempty"`
		Name       string         `json:"name"`
		Kind       trace.SpanKind `json:"kind"`
		Start      string         `json:"startTimeUnixNano"`
		End        string         `json:"endTimeUnixNano"`
		Attributes []pair         `json:"attributes,omitempty"`
		Links      []link         `json:"links,omitempty"`
		Status     status         `json:"status"`
	}
	link struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	pair struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String *string `json:"stringValue,omitempty"`
		Int    string  `json:"intValue,omitempty"`
	}
)

// document are spans as OTLP has them. All are of one resource and one scope.
func document(spans []sdk.ReadOnlySpan) *traces {
	if len(spans) == 0 {
		return &traces{Resources: []resourceSpans{}}
	}
	first := spans[0]
	out := scopeSpans{Scope: named{first.InstrumentationScope().Name, first.InstrumentationScope().Version}}
	for _, s := range spans {
		id := s.SpanContext()
		o := span{
			TraceID: id.TraceID().String(), SpanID: id.SpanID().String(), Name: s.Name(), Kind: s.SpanKind(),
			Start: strconv.FormatInt(s.StartTime().UnixNano(), 10), End: strconv.FormatInt(s.EndTime().UnixNano(), 10), Attributes: pairs(s.Attributes()),
		}
		if s.Parent().SpanID().IsValid() {
			parent := s.Parent().SpanID()
			o.Parent = hex.EncodeToString(parent[:])
		}
		for _, l := range s.Links() {
			o.Links = append(o.Links, link{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String()})
		}
		if s.Status().Code == codes.Error {
			o.Status = status{Code: 2, Message: s.Status().Description} // 2 is OTLP's for an error
		}
		out.Spans = append(out.Spans, o)
	}
	return &traces{[]resourceSpans{{attributes{pairs(first.Resource().Attributes())}, []scopeSpans{out}}}}
}

func pairs(all []attribute.KeyValue) []pair {
	var out []pair
	for _, a := range all {
		p := pair{Key: string(a.Key)}
		if a.Value.Type() == attribute.INT64 {
			p.Value.Int = strconv.FormatInt(a.Value.AsInt64(), 10)
		} else {
			s := a.Value.String()
			p.Value.String = &s
		}
		out = append(out, p)
	}
	return out
}
