package sinkhole

import (
	"net/netip"
	"time"
)

// The types of an Event.
const (
	TypeOpen    = "open"    // a flow begins
	TypeTLS     = "tls"     // a ClientHello was read: SNI, Offered
	TypeRequest = "request" // an HTTP request's header was read: Method, Authority, Path, App
	TypeQuery   = "query"   // a DNS question: Host, Method (its type)
	TypeData    = "data"    // a part of View, within the limits
	TypeRefused = "refused" // a connection was refused (ModeRefuse)
	TypeClose   = "close"   // a flow ended
	TypeLoss    = "loss"    // something was not seen: Error says what, N how often
)

// View is what a data event's bytes are.
type View string

// The views of a flow.
const (
	// ViewWire is the bytes of the connection, TLS removed, or the datagrams.
	ViewWire View = "wire"
	// ViewRequest is an HTTP request whose framing hides the bytes on the wire
	// (HTTP/2, chunks): header as text, then the body, content encoding kept.
	ViewRequest View = "request"
	// ViewMessage is the unmasked payload of a WebSocket's frames.
	ViewMessage View = "message"
)

// Event is one observation of a flow. The fields that identify the flow are in
// every event of it, as far as known by then.
type Event struct {
	Type  string        `json:"type"`
	Stamp time.Duration `json:"stamp"` // CLOCK_MONOTONIC
	Flow  uint64        `json:"flow,omitempty"`

	Proto  string         `json:"proto,omitempty"` // tcp, udp
	Source netip.AddrPort `json:"source,omitzero"`
	Dest   netip.AddrPort `json:"dest,omitzero"`
	// Host is the name that was resolved to Dest, "" for an address the client
	// knew of itself.
	Host string `json:"host,omitempty"`
	// App is the protocol spoken: http/1.1, h2, websocket, dns, dot, doh, smtp,
	// ftp, pop3, imap, ssh, tls, quic, or "" while unknown.
	App  string `json:"app,omitempty"`
	TLS  bool   `json:"tls,omitempty"`
	SNI  string `json:"sni,omitempty"`
	ALPN string `json:"alpn,omitempty"`
	// Opaque says that the client's payload could not be read.
	Opaque bool `json:"opaque,omitempty"`

	Request   int    `json:"request,omitempty"`
	Method    string `json:"method,omitempty"`
	Authority string `json:"authority,omitempty"`
	Path      string `json:"path,omitempty"`

	View View   `json:"view,omitempty"`
	Data []byte `json:"data,omitempty"` // valid until the function that got it returns

	Up   int64 `json:"up,omitempty"` // bytes from the client, as sent
	Down int64 `json:"down,omitempty"`
	Kept int64 `json:"kept,omitempty"` // bytes that data events carried
	// Cut says that data events do not carry the whole flow.
	Cut   bool   `json:"cut,omitempty"`
	Error string `json:"error,omitempty"`
	N     uint64 `json:"n,omitempty"`
}
