package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
)

// relay is the helper process: what comes over the socket it sends on to the
// host that the request names.
func relay() error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go pass(c)
	}
}

// pass ends when either side does: each answers once.
func pass(c net.Conn) {
	defer c.Close()
	var head bytes.Buffer
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &head)))
	if err != nil {
		return
	}
	out, err := net.DialTimeout("tcp", r.Host+":80", wait)
	if err != nil {
		return
	}
	defer out.Close()
	if _, err := out.Write(head.Bytes()); err != nil {
		return
	}
	go func() { _, _ = io.Copy(out, c) }()
	_, _ = io.Copy(c, out)
}
