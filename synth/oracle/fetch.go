package oracle

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// metadata is where a cloud's machines ask for their credentials.
const metadata = "169.254.169.254"

// Moved is a pattern of the hosts that an input names to be sent elsewhere: what
// is asked of one is to be answered with a redirect to MovedTo, the request's
// path behind it. The redirected request carries the token, and only it proves
// anything: the host itself is a public name like any other.
const (
	Moved   = "??????????????.example.org"
	MovedTo = "http://" + metadata
)

// Led is a pattern of the hosts that an input names to lead to LedTo: a public
// name whose address is not public. Only the request that comes there proves anything.
const (
	Led   = "??????????????.dev.example.org"
	LedTo = metadata
)

// Rebound is a pattern of the hosts that an input names to have an address of their own when they are looked up first,
// and LedTo from then on (DNS rebinding): a check of the address holds only for the connection to that address.
const Rebound = "??????????????.web.example.org"

// port is drawn for a token: where nothing answers, only the port can carry it.
func port(token string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(token)) // it never fails
	return 20_000 + int(h.Sum32()%12_000)
}

// fetches are addresses that no caller from outside could reach, and a name that
// nobody asks for by himself.
func fetches() []variant {
	var out []variant
	for _, x := range []struct {
		context, before, host string
	}{
		{"metadata service", "http://" + metadata, metadata},
		{"private address", "http://10.0.0.1", "10.0.0.1"},
		{"link-local address", "http://169.254.1.1", "169.254.1.1"},
		{"decimal address", "http://2852039166", metadata},
		{"hexadecimal address", "http://0xa9fea9fe", metadata},
		{"octal address", "http://0251.0376.0251.0376", metadata},
		{"mapped address", "http://[::ffff:169.254.169.254]", metadata},
		{"user before the host", "http://www.example.com@" + metadata, metadata},
		{"another private address", "http://192.168.0.1", "192.168.0.1"},
	} {
		out = append(out, variant{oracle: session.OracleFetch, context: x.context,
			make: func(_ *World, token string) (string, File) { return x.before + "/latest/" + token, File{} },
			net:  func(string) (string, int) { return x.host, 0 }})
	}
	for _, x := range []struct{ context, host string }{
		{"loopback", "127.0.0.1"}, {"loopback by name", "localhost"}, {"loopback, IPv6", "[::1]"}, {"short loopback", "127.1"},
		{"decimal loopback", "2130706433"}, {"any address", "0.0.0.0"},
	} {
		out = append(out, variant{oracle: session.OracleFetch, context: x.context,
			make: func(_ *World, token string) (string, File) {
				return "http://" + x.host + ":" + strconv.Itoa(port(token)) + "/" + token, File{}
			},
			net: func(token string) (string, int) { return "loopback", port(token) }})
	}
	out = append(out, variant{oracle: session.OracleFetch, context: "redirect",
		make: func(_ *World, token string) (string, File) {
			return "http://" + token + strings.TrimLeft(Moved, "?") + "/latest/" + token, File{}
		},
		net: func(string) (string, int) { return metadata, 0 }})
	out = append(out, variant{oracle: session.OracleFetch, context: "name of the metadata service",
		make: func(_ *World, token string) (string, File) {
			return "http://" + token + strings.TrimLeft(Led, "?") + "/latest/" + token, File{}
		},
		net: func(string) (string, int) { return LedTo, 0 }})
	out = append(out, variant{oracle: session.OracleFetch, context: "rebinding name",
		make: func(_ *World, token string) (string, File) {
			return "http://" + token + strings.TrimLeft(Rebound, "?") + "/latest/" + token, File{}
		},
		net: func(string) (string, int) { return LedTo, 0 }})
	out = append(out, variant{oracle: session.OracleFetch, context: "name",
		make: func(_ *World, token string) (string, File) {
			return "http://" + token + ".example.net/" + token, File{}
		},
		net: func(token string) (string, int) { return token + ".example.net", 0 }})
	return append(out, variant{oracle: session.OracleFetch, context: "host after the value", after: true,
		make: func(_ *World, token string) (string, File) { return "@" + token + ".example.net/" + token, File{} },
		net:  func(token string) (string, int) { return token + ".example.net", 0 }})
}
