package reassembly

import (
	"encoding/hex"
	"net/netip"
	"time"
)

// Kind is what carries a stream. The numbers are the eBPF program's, which knows no TLS.
type Kind uint32

// The kinds.
const (
	Pipe Kind = iota + 1
	Unix
	TCP
	// TLS is a connection of TCP whose text was read where it is plain.
	TLS
)

// String names the kind as reports do.
func (k Kind) String() string {
	switch k {
	case Pipe:
		return "pipe"
	case Unix:
		return "unix"
	case TCP:
		return "tcp"
	case TLS:
		return "tls"
	}
	return "unknown"
}

// Key names one direction of one stream, as the eBPF program lays it out (struct key of
// kernel.bpf.h): From is who writes, To who reads. For TCP and TLS these are IPv6 addresses; for
// others they are numbers of the kernel's that mean nothing to anybody else.
type Key struct {
	From, To         [16]byte
	FromPort, ToPort uint16
	Kind             Kind
	NetNS, _         uint32
}

// Back is the other direction. A pipe has none.
func (k Key) Back() Key {
	if k.Kind == Pipe {
		return Key{}
	}
	k.From, k.To, k.FromPort, k.ToPort = k.To, k.From, k.ToPort, k.FromPort
	return k
}

// Target is where a stream of TCP or TLS leads, "" for others.
func (k Key) Target() string {
	if k.Kind != TCP && k.Kind != TLS {
		return ""
	}
	return netip.AddrPortFrom(netip.AddrFrom16(k.To).Unmap(), k.ToPort).String()
}

// end names the reading end for the keys of conversations.
func (k Key) end() string {
	if target := k.Target(); target != "" {
		return target
	}
	return k.Kind.String() + hex.EncodeToString(k.To[:8])
}

// Chunk is one piece of a stream, or news of it.
type Chunk struct {
	Key Key
	// Time is when the call began that wrote it, or when the call returned that read it
	// (CLOCK_MONOTONIC).
	Time time.Duration
	// At is the place of Data in the stream, in bytes since it was followed.
	At uint64
	// Start says that a message may begin here, and that what came before is over.
	Start bool
	// Read says that the reader was listened to, since the writer is not watched.
	Read bool
	// Met says that the chunk has no data and names the reader alone; End, that the reader
	// was told that the stream is at its end.
	Met, End bool
	// Missing counts the bytes behind Data that could not be taken.
	Missing uint32
	// Inode is that of the pipe or of the caller's socket, FD the caller's descriptor.
	Inode uint64
	FD    int32
	// Process is the caller as far as the kernel tells.
	Process Process
	Data    []byte
}

// byReader reports whether the caller is who reads the stream.
func (c *Chunk) byReader() bool { return c.Met || c.Read }

// Process is one side of a conversation.
type Process struct {
	PID  int    `json:"pid"`
	Comm string `json:"comm"`
	UID  int    `json:"uid"`
	// What follows is looked up, and empty where the process had ended by then.
	Parent    int      `json:"parent,omitempty"`
	User      string   `json:"user,omitempty"`
	Command   []string `json:"command,omitempty"`
	Container string   `json:"container,omitempty"`
	Cgroup    string   `json:"cgroup,omitempty"`
	CgroupID  uint64   `json:"cgroup_id,omitempty"`
}

// Verdict is what the collector is told of a stream.
type Verdict uint32

// The verdicts. The numbers are the eBPF program's.
const (
	// Ignore says that no MCP is spoken there.
	Ignore Verdict = iota + 2
	// LookAgain says that the stream is of interest again where a message begins.
	LookAgain
)
