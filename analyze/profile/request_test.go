package profile

import "testing"

func TestTwofold(t *testing.T) {
	const get, post = "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\n"
	for _, c := range []struct {
		name, sent string
		want       bool
	}{
		{"nothing", "", false},
		{"requests", get + post + "Content-Length: 2\r\n\r\nhi" + get, false},
		{"an empty line after a body", post + "Content-Length: 2\r\n\r\nhi\r\n", false},
		{"chunks", post + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n" + get, false},
		{"a body that was broken off", post + "Content-Length: 9\r\n\r\nhi", false},
		{"both in the body", post + "Content-Length: 44\r\n\r\n\nContent-Length: 1\r\nTransfer-Encoding: chunk", false},
		{"an address that nobody can read", get + "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n" + get, false},
		{"a tunnel", "CONNECT a:22 HTTP/1.1\r\nHost: a\r\n\r\nSSH-2.0-x\r\n", false},
		{"another protocol", "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x01x", false},
		{"length and chunks", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get, true},
		{"two lengths", get + post + "Content-Length: 2\r\nContent-Length: 0\r\n\r\nhi", true},
		{"a coding in disguise", post + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", true},
		{"a head without an end", get + "GET /slow HTTP/1.1\r\nHost: a\r\nX", true},
		{"something else after a request", get + "\x00\x01", true},
	} {
		if got := ambiguousFraming([]byte(c.sent), sequence([]byte(c.sent))); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
