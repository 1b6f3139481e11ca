package tracing

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Service is the name of the service in traces, unless OTEL_SERVICE_NAME says another one.
const Service = "coalmine-sweep"

const (
	scope = "github.com/coalmine-dev/coalmine/cmd/internal/sweep"
	// tracesPath is where a collector takes traces, below its base address.
	tracesPath = "/v1/traces"
	// closeTime bounds how long the last spans may take.
	closeTime = 5 * time.Second
)

// Options say where spans go.
type Options struct {
	// Endpoint is the collector's base address, such as http://127.0.0.1:4318. Without it, the variables of
	// OpenTelemetry say it: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, else OTEL_EXPORTER_OTLP_ENDPOINT.
	Endpoint string
	// Version is coalmine's.
	Version string
	// Say is told, once until spans arrive again, why they do not. It may be nil.
	Say func(string)
	// getenv stands for os.Getenv in a test.
	getenv func(string) string
}

// Open returns a tracer, and what ends it: the last spans are sent then. Where no collector is
// named, it traces nothing and costs nothing.
func Open(o Options) (trace.Tracer, func(), error) {
	if o.getenv == nil {
		o.getenv = os.Getenv
	}
	address, err := o.address()
	if err != nil {
		return nil, nil, err
	}
	if address == "" {
		return noop.NewTracerProvider().Tracer(scope), func() {}, nil
	}
	headers, err := parseHeaders(cmp.Or(o.getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), o.getenv("OTEL_EXPORTER_OTLP_HEADERS")))
	if err != nil {
		return nil, nil, err
	}
	// WithFromEnv reads OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. What it cannot read is left out.
	res, err := resource.New(context.Background(), resource.WithAttributes(
		attribute.String("service.name", Service), attribute.String("service.version", o.Version)), resource.WithFromEnv())
	if err != nil && res == nil {
		return nil, nil, fmt.Errorf("attributes of the traces: %w", err)
	}
	// The sampler is that of OTEL_TRACES_SAMPLER, by default all.
	provider := sdk.NewTracerProvider(sdk.WithResource(res), sdk.WithBatcher(newExporter(address, headers, o.Say)))
	return provider.Tracer(scope, trace.WithInstrumentationVersion(o.Version)), func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_ = provider.Shutdown(ctx) // the exporter says what it could not send
	}, nil
}

// address is the whole address to which spans are sent, "" for nowhere.
func (o *Options) address() (string, error) {
	if strings.EqualFold(o.getenv("OTEL_SDK_DISABLED"), "true") || o.getenv("OTEL_TRACES_EXPORTER") == "none" && o.Endpoint == "" {
		return "", nil
	}
	whole, from := "", "--traces"
	base := o.Endpoint
	if base == "" {
		whole, from = o.getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	}
	if base == "" && whole == "" {
		base, from = o.getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "OTEL_EXPORTER_OTLP_ENDPOINT"
	}
	if base != "" {
		whole = strings.TrimRight(base, "/") + tracesPath
	}
	if whole == "" {
		return "", nil
	}
	u, err := url.Parse(whole)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s is not the http or https address of a collector", from)
	}
	return whole, nil
}

// parseHeaders reads "name=value,name=value" with values in URL encoding, as OpenTelemetry has it.
func parseHeaders(text string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS is not a list of name=value with commas between")
		}
		out[strings.TrimSpace(name)] = value
	}
	return out, nil
}
