package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	v4     = "93.184.216.34"
	v6     = "[2606:2800:220:1:248:1893:25c8:1946]"
	socket = "/tmp/helper.sock"
	wait   = 10 * time.Second
)

// channels are the ways out that are no answer.
var channels = map[string]func(host string, p payload) error{
	"http":      func(host string, p payload) error { return request("http://"+host, p, transport(p)) },
	"https":     func(host string, p payload) error { return request("https://"+host, p, transport(p)) },
	"h2":        h2,
	"ipv6":      func(_ string, p payload) error { return request("http://"+v6, p, transport(p)) },
	"rawip":     func(_ string, p payload) error { return request("http://"+v4, p, transport(p)) },
	"unix":      unix,
	"websocket": websocket,
	"tcp":       func(host string, p payload) error { return stream("tcp", host+":7000", p) },
	"udp":       func(host string, p payload) error { return stream("udp4", host+":7001", p) },
	"dns":       dns,
	"doh":       doh,
	"file":      file,
	"argv":      argv,
	"stderr":    stderr,
}

// transport is net/http's own; a small buffer makes each piece a write.
func transport(p payload) *http.Transport {
	t := &http.Transport{DisableKeepAlives: true, Protocols: new(http.Protocols)}
	t.Protocols.SetHTTP1(true)
	if p.how == "writes" {
		t.WriteBufferSize = 11
	}
	return t
}

func request(base string, p payload, t *http.Transport) error {
	method, content := http.MethodPost, io.Reader(&body{slices.Clone(p.pieces)})
	if p.get() {
		method, content = http.MethodGet, nil
	}
	r, err := http.NewRequest(method, base+p.path(), content)
	if err != nil {
		return err
	}
	if r.ContentLength = -1; p.how != "chunks" {
		r.ContentLength = p.size()
	}
	if p.get() {
		r.ContentLength = 0
	}
	for k, v := range p.header {
		r.Header.Set(k, v)
	}
	defer t.CloseIdleConnections()
	resp, err := (&http.Client{Transport: t, Timeout: wait}).Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func h2(host string, p payload) error {
	t := &http.Transport{Protocols: new(http.Protocols)}
	t.Protocols.SetHTTP2(true)
	return request("https://"+host, p, t)
}

func unix(host string, p payload) error {
	t := transport(p)
	t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return request("http://"+host, p, t)
}

func stream(network, to string, p payload) error {
	c, err := net.DialTimeout(network, to, wait)
	if err != nil {
		return err
	}
	for _, b := range p.pieces {
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return c.Close()
}

func websocket(host string, p payload) error {
	c, err := net.DialTimeout("tcp", host+":80", wait)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(wait))
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce)
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
		p.path(), host, base64.StdEncoding.EncodeToString(nonce))
	answer := make([]byte, 4096)
	for n := 0; !bytes.Contains(answer[:n], []byte("\r\n\r\n")); {
		more, err := c.Read(answer[n:])
		if err != nil {
			return err
		}
		n += more
	}
	if p.get() {
		p.pieces = nil
	}
	for i, b := range p.pieces {
		opcode := byte(0)
		if i == 0 || p.how != "chunks" {
			opcode = 2
		}
		if i == len(p.pieces)-1 || p.how != "chunks" {
			opcode |= 128
		}
		if _, err := c.Write(frame(opcode, b)); err != nil {
			return err
		}
	}
	_, err = c.Write(frame(0x88, nil))
	_, _ = c.Read(answer)
	return err
}

// frame is a masked frame of WebSocket (RFC 6455).
func frame(first byte, b []byte) []byte {
	out := []byte{first, 128 | byte(len(b))}
	if len(b) > 125 {
		out = binary.BigEndian.AppendUint16([]byte{first, 128 | 126}, uint16(len(b)))
	}
	mask := make([]byte, 4)
	_, _ = rand.Read(mask)
	out = append(out, mask...)
	for i, x := range b {
		out = append(out, x^mask[i%4])
	}
	return out
}

// question asks for the address of a name below host, in which the payload is labels.
func question(b []byte, host, how string) []byte {
	out := []byte{0x12, 0x67, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	parts := [][]byte{b}
	if how == "labels" || how == "queries" {
		parts = bytes.Split(b, []byte("."))
	}
	for _, part := range parts {
		for label := range slices.Chunk(part, 63) {
			out = append(append(out, byte(len(label))), label...)
		}
	}
	for label := range strings.SplitSeq(host, ".") {
		out = append(append(out, byte(len(label))), label...)
	}
	return append(out, 0, 0, 1, 0, 1)
}

// asked is what is sent to ask: a question a piece, or one question in pieces.
func asked(host string, p payload) [][][]byte {
	var out [][][]byte
	if p.how == "writes" || p.how == "chunks" {
		return append(out, cut(question(bytes.Join(p.pieces, nil), host, p.how), 11))
	}
	for _, b := range p.pieces {
		out = append(out, [][]byte{question(b, host, p.how)})
	}
	return out
}

// inStream asks over TCP, with a length before the question.
func inStream(host string, p payload) error {
	c, err := net.Dial("tcp", "8.8.8.8:53")
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(wait))
	parts := asked(host, p)[0]
	length := payload{pieces: parts}.size()
	for _, b := range append([][]byte{{byte(length >> 8), byte(length)}}, parts...) {
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	_, err = c.Read(make([]byte, 4096))
	return err
}

func dns(host string, p payload) error {
	if p.how == "writes" {
		return inStream(host, p)
	}
	c, err := net.Dial("udp4", "8.8.8.8:53")
	if err != nil {
		return err
	}
	defer c.Close()
	for _, b := range p.pieces {
		_ = c.SetDeadline(time.Now().Add(wait))
		if _, err := c.Write(question(b, host, p.how)); err != nil {
			return err
		}
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return err
		}
	}
	return nil
}

func doh(host string, p payload) error {
	for _, parts := range asked(host, p) {
		one := payload{how: p.how, pieces: parts, header: map[string]string{"Content-Type": "application/dns-message"}, target: "/dns-query"}
		if err := request("https://dns.google", one, transport(p)); err != nil {
			return err
		}
	}
	return nil
}

func file(host string, p payload) error {
	f, err := os.Create(host + ".txt")
	if err != nil {
		return err
	}
	for _, b := range p.pieces {
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	return f.Close()
}

func stderr(_ string, p payload) error {
	for _, b := range append(slices.Clone(p.pieces), []byte("\n")) {
		if _, err := os.Stderr.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func argv(host string, p payload) error {
	args := []string{"-s", "-m", "8"}
	if !p.get() {
		for k, v := range p.header {
			args = append(args, "-H", k+": "+v)
		}
		args = append(args, "--data-binary", string(p.pieces[0]))
	}
	return exec.Command("curl", append(args, "http://"+host+p.path())...).Run()
}
