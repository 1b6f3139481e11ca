//go:build !linux

package bpf

// errnoName knows none: there is no eBPF tracer here.
func errnoName(int64) string { return "" }
