package strace

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// address fills Addr from an argument.
func (p *Parser) address(kind trace.ArgKind, a []byte) {
	switch kind {
	case trace.ArgFamily:
		p.addr = trace.Addr{Family: p.family(a)}
		p.rec.Addr = &p.addr
	case trace.ArgAddr:
		if p.sockaddr(a, &p.addr) {
			p.rec.Addr = &p.addr
		}
	case trace.ArgMsg, trace.ArgMsgs:
		p.msgNames(a)
		p.rights(a)
	}
}

// rights takes what the descriptors refer to that the messages in a carry.
func (p *Parser) rights(a []byte) {
	begin := []byte("cmsg_type=SCM_RIGHTS, cmsg_data=[")
	for {
		// What is in a string is payload, however it looks.
		i := unquotedIndex(a, begin)
		if i < 0 {
			return
		}
		a = a[i+len(begin):]
		for len(p.passed) < trace.MaxPassed {
			_, n := number(a)
			in, rest, ok := annotation(a[n:])
			if n == 0 || !ok {
				break
			}
			p.passed = append(p.passed, p.strings.get(unescape(&p.scratch, in)))
			if a, ok = bytes.CutPrefix(rest, []byte(", ")); !ok {
				break
			}
		}
	}
}

// msgNames takes the addresses of all message headers in a: the first is the
// record's, each further one that differs gets a record of its own.
func (p *Parser) msgNames(a []byte) {
	name := []byte("msg_name=")
	for len(a) > 0 && len(p.peers) < 1024 {
		// What is in a string is payload, however it looks.
		i := unquotedIndex(a, name)
		if i < 0 {
			return
		}
		a = a[i+len(name):]
		var peer trace.Addr
		if !p.sockaddr(a, &peer) {
			continue
		}
		switch {
		case p.rec.Addr == nil:
			p.addr = peer
			p.rec.Addr = &p.addr
		case peer != p.addr && !slices.Contains(p.peers, peer):
			p.peers = append(p.peers, peer)
		}
	}
}

// sendPeers emits the record, and once more for each further peer.
func (p *Parser) sendPeers() {
	p.send()
	for i := range p.peers {
		p.addr = p.peers[i]
		p.rec.Addr = &p.addr
		p.send()
	}
}

// sockaddr reads `{sa_family=AF_…, …}` at the beginning of a.
func (p *Parser) sockaddr(a []byte, to *trace.Addr) bool {
	prefix := []byte("{sa_family=")
	if !bytes.HasPrefix(a, prefix) {
		return false
	}
	a = structure(a)[len(prefix):]
	family := cut(a, ',', '}')
	*to = trace.Addr{Family: p.family(family)}
	a = a[len(family):]
	switch to.Family {
	case "inet":
		to.Port = portOf(a, "sin_port=htons(")
		to.Host = p.hostOf(a, "sin_addr=inet_addr(")
	case "inet6":
		to.Port = portOf(a, "sin6_port=htons(")
		to.Host = p.hostOf(a, "inet_pton(AF_INET6, ")
	case "unix":
		to.Host = p.unixName(a)
	case "vsock":
		to.Host = p.strings.get(field(a, "svm_cid="))
		port, _ := number(field(a, "svm_port="))
		to.Port = int(port)
	}
	return true
}

// family turns AF_INET into inet, and a number without a name into its text.
func (p *Parser) family(a []byte) string {
	if i := bytes.IndexByte(a, ' '); i >= 0 {
		a = a[:i]
	}
	switch {
	case bytes.Equal(a, []byte("AF_INET")):
		return "inet"
	case bytes.Equal(a, []byte("AF_INET6")):
		return "inet6"
	case bytes.Equal(a, []byte("AF_UNIX")):
		return "unix"
	case bytes.Equal(a, []byte("AF_NETLINK")):
		return "netlink"
	}
	a = a[:min(len(a), 64)]
	return strings.ToLower(string(bytes.TrimPrefix(a, []byte("AF_"))))
}

func portOf(a []byte, name string) int {
	i := bytes.Index(a, []byte(name))
	if i < 0 {
		return 0
	}
	port, _ := number(a[i+len(name):])
	return int(uint16(port))
}

// hostOf reads the IP address in the string behind name. An IPv4 address in IPv6's
// clothes is the host that it means.
func (p *Parser) hostOf(a []byte, name string) string {
	i := bytes.Index(a, []byte(name))
	if i < 0 {
		return ""
	}
	in, _, ok := quoted(a[i+len(name):])
	if !ok {
		return ""
	}
	text := p.strings.get(in[:min(len(in), 64)])
	if ip, err := netip.ParseAddr(text); err == nil && ip.Is6() {
		return ip.Unmap().String()
	}
	return text
}

// unixName reads a unix socket's address: an absolute path, "@name" if abstract, "" if unnamed.
// The zeros that pad an abstract name are not part of its text.
func (p *Parser) unixName(a []byte) string {
	name := []byte("sun_path=")
	i := bytes.Index(a, name)
	if i < 0 {
		return ""
	}
	a = a[i+len(name):]
	abstract := len(a) > 0 && a[0] == '@'
	if abstract {
		a = a[1:]
	}
	in, _, ok := quoted(a)
	if !ok {
		return ""
	}
	host := unescape(&p.scratch, in[:min(len(in), 1024)])
	if !abstract {
		path := operand{raw: host, text: true, fd: -1}
		return p.strings.get(p.resolve(&path, p.fs))
	}
	return "@" + string(bytes.TrimRight(host, "\x00"))
}

// structure returns the braces that a starts with and all between them.
func structure(a []byte) []byte {
	depth := 0
	for i := 0; i < len(a); i++ {
		switch a[i] {
		case '"':
			end := stringEnd(a, i)
			if end < 0 {
				return a
			}
			i = end - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return a[:i+1]
			}
		}
	}
	return a
}

// unquotedIndex is bytes.Index for what is outside of strings.
func unquotedIndex(a, sub []byte) int {
	for i := 0; i < len(a); {
		quote := bytes.IndexByte(a[i:], '"')
		part := a[i:]
		if quote >= 0 {
			part = a[i : i+quote]
		}
		if n := bytes.Index(part, sub); n >= 0 {
			return i + n
		}
		if quote < 0 {
			return -1
		}
		if i = stringEnd(a, i+quote); i < 0 {
			return -1
		}
	}
	return -1
}
