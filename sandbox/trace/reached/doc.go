// Package reached tells which places of a program's code its processes come to, by probes that
// the kernel sets in the program's file (uprobes). A process that reads its own memory sees them.
//
// It must never set a probe where the caller did not say that an instruction begins: that would
// break the program.
package reached
