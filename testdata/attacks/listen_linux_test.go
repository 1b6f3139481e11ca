//go:build linux && e2e

package attacks

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// listeners wait on the host's loopback addresses, an abstract and a named socket, and
// count who comes.
type listeners struct {
	port   int
	visits atomic.Int64
	all    []interface{ Close() error }
	// doors are the network and address of each, asked is what settled sends by datagram.
	doors [][2]string
	asked string
}

func listen(token, socket string) (*listeners, error) {
	l := &listeners{asked: word(16)}
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.port = first.Addr().(*net.TCPAddr).Port
	l.accept(first)
	var errs []error
	for _, at := range []struct{ network, address string }{{"unix", socket}, {"unix", "@" + token}} {
		more, err := net.Listen(at.network, at.address)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.accept(more)
	}
	if six, err := net.ListenTCP("tcp6", &net.TCPAddr{IP: net.IPv6loopback, Port: l.port}); err == nil {
		l.accept(six)
	}
	datagrams, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: l.port})
	if err != nil {
		return nil, errors.Join(append(errs, err)...)
	}
	l.all = append(l.all, datagrams)
	l.doors = append(l.doors, [2]string{"udp4", datagrams.LocalAddr().String()})
	go func() {
		b := make([]byte, 2048)
		for {
			n, from, err := datagrams.ReadFrom(b)
			if err != nil {
				return
			}
			if string(b[:n]) == l.asked {
				_, _ = datagrams.WriteTo(b[:n], from)
				continue
			}
			l.visits.Add(1)
		}
	}()
	_ = os.Chmod(socket, 0o777)
	return l, errors.Join(errs...)
}

func (l *listeners) accept(from net.Listener) {
	l.all = append(l.all, from)
	l.doors = append(l.doors, [2]string{from.Addr().Network(), from.Addr().String()})
	go func() {
		for {
			c, err := from.Accept()
			if err != nil {
				return
			}
			l.visits.Add(1)
			_ = c.Close()
		}
	}()
}

// count is how many came. On a busy machine a connection may wait to be accepted after who
// made it has ended: each listener is asked once more, and answers after all before.
func (l *listeners) count() (int64, error) {
	var own int64
	for _, d := range l.doors {
		c, err := net.Dial(d[0], d[1])
		if errors.Is(err, os.ErrNotExist) {
			continue // the directory came back from a container, without its socket
		}
		if err != nil {
			return 0, err
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		if d[0] == "udp4" {
			_, err = c.Write([]byte(l.asked))
		} else {
			own++
		}
		if err == nil {
			_, err = c.Read(make([]byte, len(l.asked))) // a connection is closed when it is counted
		}
		_ = c.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, fmt.Errorf("%s does not answer", d[1])
		}
	}
	return l.visits.Add(-own), nil
}

func (l *listeners) Close() {
	for _, c := range l.all {
		_ = c.Close()
	}
}

// web shows a directory on the loopback address: a file as it is, and of a directory its
// index.json or index.html. It is the registry of packages, too. A file X.redirect holds
// where X is redirected to, and X.endless makes X two gigabytes.
type web struct {
	*http.Server
	port int

	mu    sync.Mutex
	asked []string // method and path of each request
}

// maxAsked bounds the requests that are remembered.
const maxAsked = 10_000

func (w *web) note(r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked) < maxAsked {
		w.asked = append(w.asked, r.Method+" "+r.URL.Path)
	}
}

func (w *web) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

func serveWeb(dir string) (*web, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &web{port: l.Addr().(*net.TCPAddr).Port}
	w.Server = &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.note(r)
		name := filepath.Join(dir, filepath.FromSlash(path.Clean("/"+r.URL.Path)))
		if to, err := os.ReadFile(name + ".redirect"); err == nil {
			http.Redirect(rw, r, strings.TrimSpace(string(to)), http.StatusFound)
			return
		}
		if _, err := os.Stat(name + ".endless"); err == nil {
			block := make([]byte, 1<<20)
			for range 2 << 10 {
				if _, err := rw.Write(block); err != nil {
					return
				}
			}
			return
		}
		for _, try := range []string{name, filepath.Join(name, "index.json"), filepath.Join(name, "index.html")} {
			if info, err := os.Stat(try); err == nil && info.Mode().IsRegular() {
				data, _ := os.ReadFile(try)
				switch path.Ext(try) {
				case ".json":
					rw.Header().Set("Content-Type", "application/json")
				case ".html":
					rw.Header().Set("Content-Type", "text/html")
				}
				_, _ = rw.Write(data)
				return
			}
		}
		http.Error(rw, `{"error":"not found"}`, http.StatusNotFound)
	})}
	go func() { _ = w.Serve(l) }()
	return w, nil
}
