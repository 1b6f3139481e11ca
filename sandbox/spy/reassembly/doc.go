// Package reassembly makes conversations of what processes write to each other: pieces of
// streams go in, MCP messages come out, each once and in the order in which they were
// written. It knows lines of JSON-RPC (stdio, unix sockets), HTTP/1 with Streamable
// HTTP, and the older HTTP with SSE.
//
// It needs no kernel: the collector of sandbox/spy feeds it, and so do tests. It must
// never keep more than its bounds, never lose bytes without counting them, never take
// a stream for MCP on which no JSON-RPC message has crossed, and never trust what it
// reads.
package reassembly
