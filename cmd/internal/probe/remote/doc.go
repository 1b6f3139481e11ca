// Package remote speaks with an MCP server that is reached by its URL, logs the session as a
// run's log, and records how the server handles HTTP and TLS: redirects, origins, sessions,
// certificates and authorization (MCP specification 2025-11-25, transports and authorization;
// RFC 8414; RFC 9728).
//
// It calls only the tools that the user asked for, with ordinary inputs. It must never follow
// an address that the server names to another origin, never send credentials over an
// unencrypted or unverified connection to another machine, and never send attack inputs.
package remote
