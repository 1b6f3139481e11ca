// Package agent is PID 1 of every sandbox: it plants, drops privileges, starts
// the tracer and the target, and carries their streams to the host as frames
// stamped by one monotonic clock.
//
// The target's process begins as a stage: this program again, which receives
// the target's streams over a link (so the tracer never holds them), gives up
// every privilege and executes the target. The tracer is started as a
// grandchild, so that the target is the agent's own child.
//
// Where only one uid is mapped, the target lives in an inner pid namespace, in
// which the agent and the tracer have no number; the tracer follows it in. All
// task numbers that leave a sandbox, in records and in events, are those of the
// agent's and the tracer's namespace: the tracer translates the numbers that
// the target's own calls return. Numbers in the target's arguments (kill's, for
// one) stay as the target wrote them.
//
// A program that imports this package is the agent where it was started as one: before its main.
//
// It must never trust the target, nor let it reach the tracer, the stream or a capability.
package agent
