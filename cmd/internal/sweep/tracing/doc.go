// Package tracing sends the spans of sweeps and their workers to a collector of OpenTelemetry, as
// OTLP in JSON over HTTP.
//
// It must never hold up or fail the work that it tells of, never follow a redirect to another
// host, and never send a word of a server.
package tracing
