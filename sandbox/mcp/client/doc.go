// Package client speaks MCP to a server over any byte transport: the caller
// gives a function that sends one line and feeds the lines that come back.
//
// Both eras are spoken: server/discover with the request's _meta from
// 2026-07-28, and initialize up to 2025-11-25. The official SDK (go-sdk's mcp)
// conducts the handshake over a connection of ours, since era and version
// negotiation are where an ordinary client's exact manners matter. All that
// follows runs on the small JSON-RPC core in this package, because the peer is
// hostile and the SDK's session is made for honest ones: it ends at the first
// line that is no message, drops unknown and repeated ids unseen, matches ids
// by type, queues a server's requests without a bound, keeps caches of lists,
// leaves out tools that it finds invalid, and decodes results into types in
// which an absent annotation and a false one are the same. The core also serves
// the handshake's own requests, so a banner, a late answer or a flood is
// handled in one place.
//
// The package must never accept a request for sampling or elicitation (one may be
// declined as by a user), nor one for roots that was not configured, never let a server block or outgrow it (every wait
// has an end, every store a bound), never repair a result (callers get the raw
// JSON), and never name itself: it introduces itself as an ordinary client.
package client
