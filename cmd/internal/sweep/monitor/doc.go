// Package monitor tells others how a worker of sweeps does: metrics in Prometheus' text format,
// and whether the worker lives and is ready.
//
// It must never serve on other addresses than it was told, answer with names or words of
// servers, or hold up the work.
//
// Source: prometheus.io, "Exposition formats", version 0.0.4.
package monitor
