//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const patience = 20 * time.Second

// get asks as any client would.
func get(u *url.URL) (string, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Post(u.String(), "text/plain", strings.NewReader("what a client says"))
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	return fmt.Sprintf("%d %s", r.StatusCode, b), err
}

func dial(u *url.URL) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", u.Host, patience)
	if err == nil {
		err = c.SetDeadline(time.Now().Add(patience))
	}
	return c, err
}

// halfClose says all and hears the answer after that.
func halfClose(u *url.URL) (string, error) {
	c, err := dial(u)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, strings.Repeat("half of it. ", 50_000)); err != nil {
		return "", err
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

// datagram sends two, one of them empty, and waits for an answer to each.
func datagram(u *url.URL) (string, error) {
	c, err := net.Dial("udp", u.Host)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	b, said := make([]byte, 1<<16), ""
	for _, p := range []string{"ping", ""} {
		if _, err := c.Write([]byte(p)); err != nil {
			return said, err
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		n, err := c.Read(b)
		if err != nil {
			return said, err
		}
		said += string(b[:n]) + ";"
	}
	return said, nil
}

// announce sends a datagram to whoever listens, as announcements are, and waits for nothing.
func announce(u *url.URL) (string, error) {
	to, err := net.ResolveUDPAddr("udp", u.Host)
	if err != nil {
		return "", err
	}
	c, err := net.ListenPacket("udp", ":0")
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	_, err = c.WriteTo([]byte("said to "+u.Host), to)
	return "said", err
}

// pin trusts a store of its own, which is empty.
func pin(u *url.URL) (string, error) {
	c, err := dial(u)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	t := tls.Client(c, &tls.Config{ServerName: u.Hostname(), RootCAs: x509.NewCertPool()})
	if err := t.Handshake(); err != nil {
		return "pinned", nil //nolint:nilerr // that is what a client that pins does
	}
	return "", fmt.Errorf("the certificate was accepted")
}

// burst opens as many connections as the URL's path says, one after the other,
// says a word on each, and answers how many seconds that took.
func burst(u *url.URL) (string, error) {
	n, err := strconv.Atoi(strings.Trim(u.Path, "/"))
	if err != nil || n > 10_000 {
		return "", fmt.Errorf("%q connections", u.Path)
	}
	addr, err := net.ResolveTCPAddr("tcp", u.Host)
	if err != nil {
		return "", err
	}
	began := time.Now()
	for range n {
		c, err := net.DialTCP("tcp", nil, addr)
		if err != nil {
			return "", err
		}
		_, err = io.WriteString(c, "a word")
		_ = c.Close()
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprint(time.Since(began).Seconds()), nil
}
