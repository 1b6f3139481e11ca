// Package servers holds the MCP servers that the tests probe: the twins honest
// and leaky, which declare the same and do not do the same, and hostile, which
// does whatever a server should not; and oracles, which have one hole each, and
// its fixed twin; and shy, which is leaky only where nobody traces it. None may do harm outside a sandbox.
package servers
