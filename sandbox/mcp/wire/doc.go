// Package wire is MCP as bytes: lines of a stdio stream, JSON-RPC 2.0 messages,
// the declarations that a server makes in them, and the state that a session's
// messages come to (Tracker).
//
// Everything here reads hostile input. It must never panic, never use memory
// out of proportion to its input, never repair what a peer sent (a bad message
// is an error that says why), and never lose the difference between a value
// that is absent and one that is false, null or zero.
package wire
