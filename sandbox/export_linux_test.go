//go:build linux && e2e

package sandbox

// DetachTracer takes the run's eBPF tracer away, as if someone had detached it.
func DetachTracer(r *Run) { r.tracer.tracer.Close() }
