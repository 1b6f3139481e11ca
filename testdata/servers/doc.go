// Package servers holds the MCP servers that the tests probe: the twins honest
// and leaky, which declare the same and do not do the same; hostile, which does
// whatever a server should not; oracles, which have one hole each, and its fixed
// twin; shy, which is leaky only where nobody traces it; late, which does what a
// call began in another; sender, which sends a decoy
// away; changer, which handles a file of the user's in every way; orders, which keeps a
// database; gated, whose deed waits for what no run meets; caller, which goes out to the
// network in every way; encoder, which encodes what it gives away; and waiter, which acts when nobody asks. None may do harm
// outside a sandbox.
package servers
