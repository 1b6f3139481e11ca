// Package trace is what a process did, in one vocabulary for every tracer:
// system calls with their real paths, results and lineage.
//
// It must never know which tracer spoke, nor judge what it records.
package trace
