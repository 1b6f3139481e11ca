// Package strace turns strace's log into trace records: the flags that make
// strace write an unambiguous log cheaply, a streaming parser for that log, and
// the files that have to be carried along to run the host's strace elsewhere.
//
// The parser must never trust the log: file names, arguments and addresses in it
// are the target's own words. It must never panic, never hold more than a bounded
// amount of memory, and never drop a line silently: what it does not understand, and
// what strace is known to have missed, goes to the caller as loss. The package must
// never start a process itself.
package strace
