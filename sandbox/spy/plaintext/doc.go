// Package plaintext makes pieces of streams, as sandbox/spy/reassembly takes them, of what
// sandbox/trace/tlsread reads of TLS connections. HTTP/1.1 goes on as it is. HTTP/2
// (RFC 9113) becomes HTTP/1.1, an exchange at a time, so that one reader serves both.
//
// Where both ends of a connection are on this machine, one end's word is taken.
//
// It must never do more for a connection than its bounds allow, hold text of a connection
// that speaks no HTTP, or pass over what it lost.
package plaintext
