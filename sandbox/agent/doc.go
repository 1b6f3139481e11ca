// Package agent is PID 1 of every sandbox: it plants, drops privileges, starts
// the tracer and the target, and carries their streams to the host as frames
// stamped by one monotonic clock.
//
// It must never trust the target, nor let it reach the tracer, the stream or a capability.
package agent
