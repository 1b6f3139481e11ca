// Package tracetest compares what two tracers have seen of the same program.
//
// It takes out of records only what no two runs share: times, the numbers of
// tasks, inodes and ports that the kernel chose. It must never take out anything
// that a judgement could rest on, nor be imported by anything but tests.
package tracetest
