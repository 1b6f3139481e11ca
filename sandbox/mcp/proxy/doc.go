// Package proxy is the tap and the gate for servers on HTTP: a reverse proxy
// on this machine for Streamable HTTP, with and without sessions, and for the
// older HTTP+SSE, which records the messages of both ways beside them.
//
// It must never hold back a body to record it, never write a header or what a
// client is authorized with to a log, and never serve a page of another site:
// requests whose Origin or Host is not this machine's are refused.
package proxy
