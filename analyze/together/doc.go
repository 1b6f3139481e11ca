// Package together judges the servers of one configuration as one: an agent that has them
// all can carry text and secrets from one to another.
//
// A flow needs three things: a tool that brings in text which others write, one that reads
// what is secret, and one that sends. Each is ordinary by itself, so the package must never
// make a finding of it, nor change a server's verdict: it says what the set makes possible,
// and what shows it. The three are those that Simon Willison named the lethal trifecta
// (2025), and that the MCP specification's security considerations leave to the host.
package together
