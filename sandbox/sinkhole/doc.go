// Package sinkhole is a network namespace in which every address is local and
// every TCP and UDP port answers, so that whatever a program sends is kept and
// nothing of it is sent on.
//
// A loopback address stays the program's own where it listens; elsewhere there
// it is refused, or answered if the Config says so. What is refused, what is
// neither TCP nor UDP, and what goes to a group, the kernel copies to Serve.
//
// It has two halves. Arm needs CAP_NET_ADMIN in the namespace: it brings lo up,
// makes every address of IPv4 and IPv6 local, diverts what does not go to a
// loopback address to transparent listeners and returns these. Serve needs no
// privilege: it takes the listeners, in the same process or another one, speaks
// DNS, TLS, HTTP and a few protocols more to whoever connects, and reports each
// flow through a function.
//
// The package must never open a connection, look up a name or send a packet to
// anyone but the client that asked: it holds no dialler. What goes to a host of
// Config.Allow it hands to the function Config.Dial, bytes as they are: TLS to
// such a host stays shut, and its payload opaque, for nobody here could prove to
// the client that it speaks to that host. It must never
// take an interface but lo, and one that its caller made to lead nowhere, into use, nor
// remove one; its caller does that, and Arm fails until it is done. It must never decompress what it received, trust a
// length that a client named, hold more than the bounded part of a flow, or end
// silently: what was not seen is reported as a loss.
package sinkhole
