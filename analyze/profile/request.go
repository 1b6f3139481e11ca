package profile

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// message is a request's body with its header.
type message struct {
	line   string
	header http.Header
	body   []byte
	start  int
}

// messages splits a view into the requests that it holds; what is none is one
// body without a header.
func messages(f *flow, k viewKey, data []byte) []message {
	switch {
	case k.view == trace.ViewRequest:
		if m, ok := single(data); ok {
			return []message{m}
		}
	case (k.view == trace.ViewWire || k.view == trace.ViewPlain) && f.known.App == "http/1.1", k.view == trace.ViewPlain && f.known.App == "h2":
		return sequence(data)
	}
	return []message{{body: data}}
}

func single(data []byte) (message, bool) {
	end := bytes.Index(data, []byte("\r\n\r\n"))
	if end < 0 {
		return message{}, false
	}
	line, rest, _ := bytes.Cut(data[:end+4], []byte("\r\n"))
	h, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(rest))).ReadMIMEHeader()
	if err != nil {
		return message{}, false
	}
	h.Del("Transfer-Encoding") // taken off by the sinkhole
	return message{requestLine(string(line)), http.Header(h), data[end+4:], end + 4}, true
}

func sequence(data []byte) []message {
	var out []message
	left := bytes.NewReader(data)
	r := bufio.NewReaderSize(left, 64<<10)
	for {
		at := len(data) - left.Len() - r.Buffered()
		req, err := http.ReadRequest(r)
		if err != nil {
			return append(out, message{body: data[at:], start: at})
		}
		body, err := io.ReadAll(req.Body)
		out = append(out, message{req.Method + " " + req.RequestURI, req.Header, body, at})
		if err != nil {
			return out // cut, or not what it says
		}
	}
}

// ambiguousFraming reports whether bytes that were taken for a sequence of requests are more
// than requests which everybody ends at the same place (RFC 9112, sections 6.1 and
// 11.2): a head that frames its body in two ways, or one that does not end.
func ambiguousFraming(data []byte, sent []message) bool {
	for _, m := range sent {
		if m.header == nil && len(bytes.TrimSpace(m.body)) == 0 {
			return false
		}
		head, _, whole := bytes.Cut(data[m.start:], []byte("\r\n\r\n"))
		if m.header == nil && !whole || framedTwice(head) {
			return true
		}
		if strings.HasPrefix(m.line, http.MethodConnect+" ") || m.header.Get("Upgrade") != "" {
			return false // another protocol follows
		}
	}
	return false
}

func framedTwice(head []byte) bool {
	framings, odd := 0, false
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		name, value, _ := bytes.Cut(bytes.ToLower(line), []byte(":"))
		switch string(name) {
		case "transfer-encoding":
			framings++
			odd = odd || string(bytes.Trim(value, " \t\r")) != "chunked"
		case "content-length":
			framings++
		}
	}
	return framings > 1 || odd
}

// requestAt is the last request line before an offset, "" where there is none.
func requestAt(data []byte, offset int64) string {
	before := data[:min(int64(len(data)), max(0, offset))]
	for {
		i := bytes.LastIndex(before, []byte(" HTTP/"))
		if i < 0 {
			break
		}
		start := bytes.LastIndexByte(before[:i], '\n') + 1
		if line := requestLine(string(before[start:i]) + " HTTP/"); line != "" {
			return line
		}
		before = before[:start]
	}
	// The decoy may stand in the line itself.
	line, _, _ := bytes.Cut(data, []byte("\r\n"))
	if int64(len(line)) > offset {
		return requestLine(string(line))
	}
	return ""
}

// requestLine is "METHOD TARGET" of a request's first line, "" if it is none.
func requestLine(line string) string {
	f := strings.Fields(line)
	if len(f) != 3 || !strings.HasPrefix(f[2], "HTTP/") || strings.ToUpper(f[0]) != f[0] || len(f[0]) > 16 {
		return ""
	}
	return f[0] + " " + f[1]
}
