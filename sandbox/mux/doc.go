// Package mux carries several byte streams and their time stamps over one pipe,
// as length-prefixed frames between the host and the agent, and connections with
// windows over one of these streams.
//
// It must never look into what a stream or a connection carries, nor trust a length
// that the other side wrote, nor hold more than its windows for a side that lies.
package mux
