package sinkhole

import (
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Mode is what connections meet.
type Mode string

// The modes.
const (
	// ModeAnswer answers every connection.
	ModeAnswer Mode = "answer"
	// ModeRefuse resolves names and refuses every other connection and datagram.
	ModeRefuse Mode = "refuse"
)

// The namespace's own addresses where a Config names no others: the source of what leaves
// without a source of its own, and left alone as a destination like the loopback addresses.
var (
	Own4 = netip.MustParseAddr("192.168.1.24")
	Own6 = netip.MustParseAddr("fd4c:8a21:7e03::2")
)

// Nameserver is an address for resolv.conf, and the gateway that the namespace seems to
// have: a home router's. Any address answers as well.
var Nameserver = netip.MustParseAddr("192.168.1.1")

// Config is what both halves are told. It can be sent to another process as
// JSON, all but its functions and channels.
type Config struct {
	Mode Mode `json:"mode,omitempty"`
	// Authority signs the certificates of TLS servers. Without one TLS stays shut.
	Authority *Authority `json:"authority,omitempty"`
	Metadata  Metadata   `json:"metadata"`
	// Interface is one beside lo that leads nowhere: it gets the own addresses and a
	// default route for programs to see, and copies of what is sent by it come to Serve.
	// With "" lo has the addresses.
	Interface string `json:"interface,omitempty"`
	// Own4 and Own6 are the own addresses, the package's where they are zero. Own4 is in
	// the /24 of Nameserver, Own6 in a /64 of its own.
	Own4 netip.Addr `json:"own4,omitzero"`
	Own6 netip.Addr `json:"own6,omitzero"`
	// Allow are names of hosts whose flows are relayed through Dial, except DNS: see Allows.
	Allow []string `json:"allow,omitempty"`
	// Services are real ones that connections are carried to through Dial.
	Services []Service `json:"services,omitempty"`
	// AnswerLoopback answers on the namespace's own addresses, 127.0.0.0/8 and ::1
	// among them, where nothing listens; otherwise that is refused and reported.
	AnswerLoopback bool `json:"answer_loopback,omitempty"`
	// EveryName has every name resolve. Otherwise names that cannot exist do not, except
	// Known, which lists names that may.
	EveryName bool     `json:"every_name,omitempty"`
	Known     []string `json:"known,omitempty"`
	// Missing are names that do not resolve, nor does any below one of them.
	Missing []string `json:"missing,omitempty"`
	// Leads are names that lead elsewhere than to an address of their own.
	Leads []Lead `json:"leads,omitempty"`
	// Replies are tried in order before the built-in answers.
	Replies []Reply `json:"replies,omitempty"`
	// Fits are answers with the members that the client's code reads, or that a description
	// of the API in its package promises, and GraphQL are the types of a schema there.
	Fits    []Fit    `json:"fits,omitempty"`
	GraphQL *GraphQL `json:"graphql,omitempty"`
	// Planted is what served documents carry, nil for nothing.
	Planted *Planted `json:"planted,omitempty"`
	// Turning says which kind of answer is served, nil for that which fits.
	Turning *Turning `json:"-"`

	// MaxFlow and MaxRun bound the bytes that data events carry, of one flow and
	// of all (1 MiB, 64 MiB). Scan sees everything.
	MaxFlow int64 `json:"max_flow,omitempty"`
	MaxRun  int64 `json:"max_run,omitempty"`
	// MaxNames bounds the names that get an address of their own (16,384).
	MaxNames int `json:"max_names,omitempty"`
	// MaxConns bounds the connections held at once (2,048), MaxBusy those among
	// them that speak TLS or HTTP (256). Over the bound the longest idle one goes.
	MaxConns int `json:"max_conns,omitempty"`
	MaxBusy  int `json:"max_busy,omitempty"`
	// Idle ends a connection on which nothing moved (2 min), Header one that
	// does not finish its handshake or its request's header (10 s).
	Idle   time.Duration `json:"idle,omitempty"`
	Header time.Duration `json:"header,omitempty"`

	// Scan returns the receiver of a stream, or nil. It gets every byte of the
	// stream, in order, from one goroutine at a time, then Close.
	Scan func(Stream) io.WriteCloser `json:"-"`
	// Quiesce yields functions to be called once everything sent so far has been
	// reported, or after a quarter of a second. Nil for none.
	Quiesce <-chan func() `json:"-"`
	// Dial opens a connection to an allowed host, where network is tcp or udp, or to one of
	// Services by its name, where it is mux.NetService. Whoever
	// provides it checks the name and where it leads. Without it neither
	// can be reached.
	Dial func(ctx context.Context, network, host string, port int) (net.Conn, error) `json:"-"`
}

// Allows reports whether a host, by name, is on a list of such; "*.example.com"
// is every name below example.com.
func Allows(list []string, host string) bool {
	host = canonical(host)
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return false
	}
	return slices.ContainsFunc(list, func(a string) bool {
		a = canonical(a)
		if above, ok := strings.CutPrefix(a, "*."); ok {
			return above != "" && strings.HasSuffix(host, "."+above)
		}
		return a == host
	})
}

// Service is a real service: connections to Port of the namespace's own addresses, of private
// ones and of hosts whose names have one label are carried to it, unless the program listens there itself.
type Service struct {
	// Name is one whose dialect package dialect knows.
	Name string `json:"name"`
	Port uint16 `json:"port"`
}

// Stream names one view of a flow.
type Stream struct {
	Flow uint64
	// Request counts the requests or messages of a flow from 1; 0 is the whole flow.
	Request int
	View    View
}

// Metadata holds what a cloud's metadata service gives away. Empty fields
// make the service answer that there is no such thing.
type Metadata struct {
	Role            string `json:"role,omitempty"` // of AWS
	AccessKeyID     string `json:"access_key_id,omitempty"`
	SecretAccessKey string `json:"secret_access_key,omitempty"`
	SessionToken    string `json:"session_token,omitempty"`
	Project         string `json:"project,omitempty"` // of Google Cloud
	Account         string `json:"account,omitempty"`
	AccessToken     string `json:"access_token,omitempty"` // of Google Cloud and Azure
}

// Lead is an address that is shared: names of which Host, a pattern of path.Match
// in lower case, is one have it and none of the other family. A query's event
// names no answer for them, since the address is not theirs alone.
type Lead struct {
	Host string     `json:"host"`
	Addr netip.Addr `json:"addr"`
	// Later says that the first query for each family is answered with an address of the name's own (DNS rebinding).
	Later bool `json:"later,omitempty"`
}

// Reply is an HTTP answer of the user's own. Host, Path and Method are patterns
// of path.Match; an empty one matches everything, and a Path ending in "/**"
// everything below it. Query is a parameter that the address must have, "name=value". A Host may name a port, as in "*:11434". In a Header's
// value {path} stands for the request's path as it was sent.
type Reply struct {
	Host   string            `json:"host,omitempty"`
	Path   string            `json:"path,omitempty"`
	Query  string            `json:"query,omitempty"`
	Method string            `json:"method,omitempty"`
	Status int               `json:"status,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
}

// own are the namespace's own addresses, that of IPv4 first.
func (c *Config) own() [2]netip.Addr {
	out := [2]netip.Addr{Own4, Own6}
	if c.Own4.Is4() {
		out[0] = c.Own4
	}
	if c.Own6.Is6() {
		out[1] = c.Own6
	}
	return out
}

func (c Config) withDefaults() Config {
	def := func(p *int64, v int64) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&c.MaxFlow, 1<<20)
	def(&c.MaxRun, 64<<20)
	def((*int64)(&c.Idle), int64(2*time.Minute))
	def((*int64)(&c.Header), int64(10*time.Second))
	if c.MaxNames <= 0 {
		c.MaxNames = 16384
	}
	if c.MaxConns <= 0 {
		c.MaxConns = 2048
	}
	if c.MaxBusy <= 0 {
		c.MaxBusy = 256
	}
	return c
}
