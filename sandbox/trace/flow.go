package trace

import (
	"net/netip"
	"time"
)

// The types of a Flow.
const (
	FlowOpen    = "open"    // a flow begins
	FlowTLS     = "tls"     // a ClientHello was read: SNI, Offered
	FlowRequest = "request" // an HTTP request's header was read: Method, Authority, Path, App
	FlowQuery   = "query"   // a DNS question: Host (the name as it was asked for), Method (its type)
	FlowData    = "data"    // a part of View, within the limits
	FlowHit     = "hit"     // a decoy's value in a view: Canary, Encoding, Offset
	FlowRefused = "refused" // a flow begins, and was refused: a connection, or datagrams, which data may carry
	FlowClose   = "close"   // a flow ended
	FlowLoss    = "loss"    // something was not seen: Error says what, N how often
	// FlowStatement is a statement that a service has answered: Statement.
	FlowStatement = "statement"
	FlowPlain     = "plain" // what a client handed to its TLS library, read there: Conn and what goes with it
)

// View is what a data observation's bytes are.
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
	// ViewPlain is what the client handed to its TLS library.
	ViewPlain View = "plain"
)

// Flow is one observation of what a process sent to the network, as the
// sinkhole saw it, or as the tracer did before it was encrypted. The fields that identify the flow are in every observation of
// it, as far as known by then. The JSON form is one line of trace.jsonl.
type Flow struct {
	Type  string        `json:"event"`
	Stamp time.Duration `json:"t"` // CLOCK_MONOTONIC, the run's clock
	Flow  uint64        `json:"flow,omitempty"`

	// Conn numbers a connection of TLS as the client's library has it, of FlowPlain alone:
	// the tracer tells it, not the sinkhole, so that Flow is 0. Source and Dest say which flow
	// it is, once they are known; Offset is where Data begins in all that was sent; Cut says that
	// not all of it was read.
	Conn uint64 `json:"conn,omitempty"`
	// Task is the task of FlowPlain, as the tracer numbers it.
	Task int `json:"task,omitempty"`
	// Whole says of FlowPlain that the connection was watched from its begin.
	Whole bool `json:"whole,omitempty"`
	// Offered says of FlowPlain that the library did not take Data: it waits for the
	// handshake's end, and is given it again.
	Offered bool `json:"offered,omitempty"`

	// Proto is tcp, udp, icmp, or "ip-" and the number of a protocol above IP.
	// The ports of what is neither TCP nor UDP are 0.
	Proto  string         `json:"proto,omitempty"`
	Source netip.AddrPort `json:"source,omitzero"`
	Dest   netip.AddrPort `json:"dest,omitzero"`
	// Host is the name that was resolved to Dest, "" for an address the client
	// knew of itself.
	Host string `json:"host,omitempty"`
	// App is the protocol spoken: http/1.1, h2, websocket, dns, dot, doh, smtp,
	// ftp, pop3, imap, mqtt, ssh, tls, quic, or "" while unknown.
	App  string `json:"app,omitempty"`
	TLS  bool   `json:"tls,omitempty"`
	SNI  string `json:"sni,omitempty"`
	ALPN string `json:"alpn,omitempty"`
	// Service names the real service that the flow was carried to and back, "" for none.
	Service string `json:"service,omitempty"`
	// Statement is what a service was told to do.
	Statement *Statement `json:"statement,omitempty"`
	// Allowed says that the flow was carried to Host and back.
	Allowed bool `json:"allowed,omitempty"`
	// Opaque says that the client's payload could not be read.
	Opaque bool `json:"opaque,omitempty"`

	// Request counts the requests or messages of a flow from 1; 0 is the whole flow.
	Request   int    `json:"request,omitempty"`
	Method    string `json:"method,omitempty"`
	Authority string `json:"authority,omitempty"`
	Path      string `json:"path,omitempty"`

	// Answer is the address that a query's name has in this run, from then on.
	Answer netip.Addr `json:"answer,omitzero"`
	// NoName says that a query was told that there is no such name.
	NoName bool `json:"noName,omitempty"`

	View View   `json:"view,omitempty"`
	Data []byte `json:"data,omitempty"` // valid until the function that got it returns

	// Canary, Encoding and Offset describe a hit; the offset is in the view.
	Canary   string `json:"canary,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Offset   int64  `json:"offset,omitempty"`

	Up   int64 `json:"up,omitempty"` // bytes from the client, as sent
	Down int64 `json:"down,omitempty"`
	Kept int64 `json:"kept,omitempty"` // bytes that data observations carried
	// Cut says that data observations do not carry the whole flow.
	Cut   bool   `json:"cut,omitempty"`
	Error string `json:"error,omitempty"`
	N     uint64 `json:"n,omitempty"`
}

// MalformedDNS is the Error of a flow to a name server that is no query.
const MalformedDNS = "a malformed DNS message"

// The kinds of a Statement's effect.
const (
	StatementReads    = "reads"
	StatementWrites   = "writes"   // rows or keys are added or changed, or what holds them
	StatementDeletes  = "deletes"  // some rows or keys
	StatementDestroys = "destroys" // a whole table or database, or all rows or keys
	// StatementMachine runs a program, or reads or writes a file, on the service's machine.
	StatementMachine = "machine"
)

// Statement is one statement or command that a client gave to a service, and what came of it.
type Statement struct {
	// Time is when it came, by the run's clock.
	Time time.Duration `json:"at"`
	// Verb is what it does in the service's own words ("DROP TABLE", "CONFIG SET"), Does is one
	// of the kinds of effects, and Object the first table or key that it names, "" for none.
	Verb   string `json:"verb"`
	Does   string `json:"does"`
	Object string `json:"object,omitempty"`
	// Text is the statement and Bare the same without what stands in quotes and comments,
	// both bounded.
	Text string `json:"text"`
	Bare string `json:"bare,omitempty"`
	// Refused says that the service answered with an error, Undone that the transaction around
	// it was rolled back or never ended.
	Refused bool `json:"refused,omitempty"`
	Undone  bool `json:"undone,omitempty"`
}
