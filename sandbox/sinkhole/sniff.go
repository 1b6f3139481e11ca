package sinkhole

import (
	"bytes"
	"slices"
)

// kind is what a connection's first bytes are.
type kind int

const (
	kindUnknown kind = iota // more bytes are needed
	kindRaw
	kindTLS
	kindHTTP
	kindHTTP2
)

// sniffLimit is how many bytes are read ahead to tell a protocol.
const sniffLimit = 4096

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

var methods = []string{
	"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "MERGE", "PURGE",
}

// sniff tells the protocol of a connection by its first bytes.
func sniff(b []byte) kind {
	if len(b) == 0 {
		return kindUnknown
	}
	if b[0] == 0x16 { // a handshake record, of any version
		switch {
		case len(b) < 3:
			return kindUnknown
		case b[1] == 3 && b[2] <= 4:
			return kindTLS
		}
		return kindRaw
	}
	if n := min(len(b), len(preface)); string(b[:n]) == preface[:n] {
		if n == len(preface) {
			return kindHTTP2
		}
		return kindUnknown
	}
	return sniffHTTP(b)
}

func sniffHTTP(b []byte) kind {
	word, rest, spaced := bytes.Cut(b, []byte(" "))
	if !spaced {
		if slices.ContainsFunc(methods, func(m string) bool { return len(m) >= len(b) && m[:len(b)] == string(b) }) {
			return kindUnknown
		}
		return kindRaw
	}
	if !slices.Contains(methods, string(word)) {
		return kindRaw
	}
	if line, _, whole := bytes.Cut(rest, []byte("\n")); whole {
		if bytes.Contains(line, []byte(" HTTP/1.")) {
			return kindHTTP
		}
		return kindRaw
	}
	if len(b) < sniffLimit {
		return kindUnknown
	}
	return kindHTTP
}
