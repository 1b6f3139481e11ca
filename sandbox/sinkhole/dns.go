package sinkhole

import (
	"encoding/base64"
	"net/http"
	"net/netip"
	"path"
	"strings"

	"github.com/miekg/dns"
)

const (
	dnsMessage = "application/dns-message"
	dnsTTL     = 60
)

// dohQuery is the DNS message of a request over HTTPS, or nil.
func dohQuery(r *http.Request, body []byte) []byte {
	switch {
	case r.Method == http.MethodPost && r.Header.Get("Content-Type") == dnsMessage:
		return body
	case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), dnsMessage):
		q, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(r.URL.Query().Get("dns"), "="))
		if err == nil && len(q) > 0 {
			return q
		}
	}
	return nil
}

// resolve answers one question. It reports false where no address was left for
// the name.
func (n *names) resolve(q dns.Question) (records []dns.RR, rcode int, ok bool) {
	name := canonical(q.Name)
	header := func(t uint16) dns.RR_Header {
		return dns.RR_Header{Name: q.Name, Rrtype: t, Class: dns.ClassINET, Ttl: dnsTTL}
	}
	if q.Qclass != dns.ClassINET && q.Qclass != dns.ClassANY {
		return nil, dns.RcodeNotImplemented, true
	}
	if strings.HasSuffix(name, ".arpa") {
		if host := n.reverse(name); host != "" && (q.Qtype == dns.TypePTR || q.Qtype == dns.TypeANY) {
			return []dns.RR{&dns.PTR{Hdr: header(dns.TypePTR), Ptr: dns.Fqdn(host)}}, dns.RcodeSuccess, true
		}
		return nil, dns.RcodeNameError, true
	}
	if !n.exists(name) {
		return nil, dns.RcodeNameError, true
	}
	ok = true
	switch q.Qtype {
	case dns.TypeA, dns.TypeANY, dns.TypeAAAA:
		var a netip.Addr
		a, ok = n.address(name, q.Qtype == dns.TypeAAAA)
		switch {
		case a.Is4():
			records = []dns.RR{&dns.A{Hdr: header(dns.TypeA), A: a.AsSlice()}}
		case a.Is6():
			records = []dns.RR{&dns.AAAA{Hdr: header(dns.TypeAAAA), AAAA: a.AsSlice()}}
		}
	case dns.TypeTXT:
		records = []dns.RR{&dns.TXT{Hdr: header(dns.TypeTXT), Txt: []string{"v=spf1 -all"}}}
	case dns.TypeMX:
		records = []dns.RR{&dns.MX{Hdr: header(dns.TypeMX), Preference: 10, Mx: below("mail", q.Name)}}
	case dns.TypeNS:
		records = []dns.RR{&dns.NS{Hdr: header(dns.TypeNS), Ns: below("ns1", q.Name)}}
	case dns.TypeSRV:
		records = []dns.RR{&dns.SRV{Hdr: header(dns.TypeSRV), Priority: 10, Weight: 5, Port: srvPort(name), Target: srvTarget(q.Name)}}
	case dns.TypeHTTPS:
		records = []dns.RR{&dns.HTTPS{SVCB: dns.SVCB{
			Hdr: header(dns.TypeHTTPS), Priority: 1, Target: ".", Value: []dns.SVCBKeyValue{&dns.SVCBAlpn{Alpn: []string{"h2", "http/1.1"}}},
		}}}
	}
	return records, dns.RcodeSuccess, ok
}

// address is a name's of the wanted family; the metadata service has but one.
func (n *names) address(name string, six bool) (netip.Addr, bool) {
	switch {
	case metadataNames[name]:
		if six {
			return netip.Addr{}, true
		}
		return metadataAddr, true
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		if six {
			return netip.IPv6Loopback(), true
		}
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	if l, ok := n.lead(name); ok && (!l.Later || n.again(name, six)) {
		a := l.Addr.Unmap()
		if six != a.Is6() {
			a = netip.Addr{}
		}
		return a, true
	}
	a4, a6, ok := n.lookup(name)
	if six {
		return a6, ok
	}
	return a4, ok
}

// lead says where a name leads that shares an address with others, if it is one of those.
func (n *names) lead(name string) (Lead, bool) {
	for _, l := range n.leads {
		if is, err := path.Match(l.Host, name); is && err == nil {
			return l, true
		}
	}
	return Lead{}, false
}

// again reports whether a name's address of a family was asked for before.
func (n *names) again(name string, six bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := query{name, six}
	if n.asked[q] {
		return true
	}
	if len(n.asked) < n.max {
		n.asked[q] = true
	}
	return false
}

// below is a name under another one, or that one where it would be too long.
func below(label, name string) string {
	if len(name)+len(label)+1 > 253 {
		return name
	}
	if name == "." {
		return label + "."
	}
	return label + "." + name
}

func srvPort(name string) uint16 {
	service, _, _ := strings.Cut(name, ".")
	if port, ok := map[string]uint16{"_http": 80, "_https": 443, "_sip": 5060, "_xmpp-client": 5222, "_ldap": 389, "_kerberos": 88, "_imaps": 993, "_submission": 587}[service]; ok {
		return port
	}
	return 443
}

// srvTarget leaves the service and the protocol off.
func srvTarget(name string) string {
	for strings.HasPrefix(name, "_") {
		_, rest, found := strings.Cut(name, ".")
		if !found || rest == "" {
			break
		}
		name = rest
	}
	return name
}

// reverse is the name whose address a reverse name is, or "".
func (n *names) reverse(name string) string {
	if four, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		parts := strings.Split(four, ".")
		if len(parts) != 4 {
			return ""
		}
		a, err := netip.ParseAddr(parts[3] + "." + parts[2] + "." + parts[1] + "." + parts[0])
		if err != nil {
			return ""
		}
		return n.name(a)
	}
	six, ok := strings.CutSuffix(name, ".ip6.arpa")
	if !ok || len(six) != 63 {
		return ""
	}
	var b strings.Builder
	for i := 62; i >= 0; i -= 2 {
		b.WriteByte(six[i])
		if i%8 == 0 && i > 0 {
			b.WriteByte(':')
		}
	}
	a, err := netip.ParseAddr(b.String())
	if err != nil {
		return ""
	}
	return n.name(a)
}

// respond makes the answer to a message, or nil if it is no query. ask is told
// each question, whether there is such a name, and whether it has an address of its own.
func (n *names) respond(query []byte, limit int, ask func(q dns.Question, found, own bool)) []byte {
	m := new(dns.Msg)
	if err := m.Unpack(query); err != nil || m.Response || len(m.Question) == 0 {
		return nil
	}
	r := new(dns.Msg).SetReply(m)
	r.RecursionAvailable = true
	if m.Opcode != dns.OpcodeQuery || len(m.Question) != 1 {
		r.Rcode = dns.RcodeNotImplemented
		for _, q := range m.Question {
			ask(q, true, true)
		}
	} else {
		q := m.Question[0]
		var own bool
		r.Answer, r.Rcode, own = n.resolve(q)
		ask(q, r.Rcode != dns.RcodeNameError, own)
	}
	size := dns.MinMsgSize
	if o := m.IsEdns0(); o != nil {
		r.SetEdns0(1232, false)
		size = max(size, int(o.UDPSize()))
	}
	r.Compress = true
	r.Truncate(min(max(size, dns.MinMsgSize), limit))
	out, err := r.Pack()
	if err != nil {
		return nil
	}
	return out
}
