//go:build linux && (amd64 || arm64) && e2e

package tlsread

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

const secret = "the plaintext of a request"

// clientEnv has the test's own program be a client of Go's.
const clientEnv = "TLSREAD_TEST_CLIENT"

// largeEnv has it send more.
const largeEnv = "TLSREAD_TEST_LARGE"

func TestMain(m *testing.M) {
	if url := os.Getenv(clientEnv); url != "" {
		beClient(url)
		return
	}
	os.Exit(m.Run())
}

func beClient(url string) {
	waitForLine(os.Stdin)
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: os.Getenv("VERIFY") == ""}}}
	resp, err := c.Post(url, "text/plain", strings.NewReader(secret+strings.Repeat(" ", len(os.Getenv(largeEnv))<<14)))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

func waitForLine(r io.Reader) {
	var b [1]byte
	for b[0] != '\n' {
		if _, err := r.Read(b[:]); err != nil {
			return
		}
	}
}

const pythonClient = `
import ssl, sys, urllib.request
sys.stdin.readline()
ctx = ssl.create_default_context()
ctx.check_hostname = False
ctx.verify_mode = ssl.CERT_NONE
urllib.request.urlopen(sys.argv[1], data=b"` + secret + `", context=ctx).read()
`

const nodeClient = `
process.stdin.once("data", () => {
  const req = require("https").request(process.argv[1], {method: "POST", rejectUnauthorized: false, agent: false}, r => { r.resume(); r.on("end", () => process.exit(0)) });
  req.on("error", e => { console.log(e); process.exit(1) });
  req.end("` + secret + `");
});
`

// What a client of each runtime sends and receives is read, and tied to its socket.
func TestReader(t *testing.T) {
	slots.Acquire(t, 1)
	for _, c := range []struct {
		name string
		argv []string
	}{
		{"go", []string{"/proc/self/exe"}},
		{"python", []string{"python3", "-c", pythonClient}},
		{"node", []string{"node", "-e", nodeClient}},
		{"wget", []string{"sh", "-c", "read x; exec wget -q --no-check-certificate --post-data='" + secret + "' -O /dev/null $0"}}, // GnuTLS
	} {
		t.Run(c.name, func(t *testing.T) {
			program := c.argv[0]
			if program == "sh" {
				program = c.name
			}
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(err)
			}
			got := read(t, Options{Reads: true}, c.argv)
			if got.lost > 0 {
				t.Errorf("lost %d", got.lost)
			}
			if !bytes.Contains(got.sent, []byte(secret)) || !bytes.Contains(got.received, []byte("the answer")) {
				t.Errorf("sent %.300q, received %.300q", got.sent, got.received)
			}
			if !got.whole || got.source != got.client {
				t.Errorf("whole %v, source %q, the server saw %q", got.whole, got.source, got.client)
			}
		})
	}
}

type reading struct {
	sent, received []byte
	whole          bool
	lost           uint64
	source, client string
}

// What finds no room is counted, and the connection's other pieces say so.
func TestLost(t *testing.T) {
	slots.Acquire(t, 1)
	t.Setenv(largeEnv, "x")
	got := read(t, Options{Ring: os.Getpagesize()}, []string{"/proc/self/exe"})
	if got.lost == 0 || got.whole {
		t.Errorf("lost %d, whole %v", got.lost, got.whole)
	}
}

// What is over the limit is left out, and said to be.
func TestLimit(t *testing.T) {
	slots.Acquire(t, 1)
	t.Setenv(largeEnv, "x")
	got := read(t, Options{Limit: 100}, []string{"/proc/self/exe"})
	if got.lost > 0 || got.whole || len(got.sent) != 100 {
		t.Errorf("lost %d, whole %v, sent %d", got.lost, got.whole, len(got.sent))
	}
}

func read(t *testing.T, o Options, argv []string) reading {
	var mu sync.Mutex
	var got reading
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		got.client = r.RemoteAddr
		mu.Unlock()
		_, _ = io.WriteString(w, "the answer")
	}))
	defer s.Close()
	cmd := exec.Command(argv[0], append(argv[1:], s.URL)...)
	cmd.Env = append(os.Environ(), clientEnv+"="+s.URL)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := func() {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if !o.Everywhere {
		start()
	}
	r, err := Open(o, func(p *Piece) {
		mu.Lock()
		defer mu.Unlock()
		if cmd.Process == nil || p.PID != cmd.Process.Pid {
			return
		}
		switch p.Kind {
		case Sent:
			got.sent = append(got.sent, p.Data...)
			got.source, got.whole = p.Source.String(), p.Whole && !p.Cut && !p.Lost
		case Received:
			got.received = append(got.received, p.Data...)
		}
	}, func(n uint64, _ string) {
		mu.Lock()
		defer mu.Unlock()
		got.lost += n
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if o.Everywhere {
		mu.Lock() // the pieces of other programs wait
		start()
		mu.Unlock()
		await(t, func() bool { return watches(t, r, argv[0]) })
	} else {
		for _, library := range libraries(argv) {
			r.Opened(os.Getpid(), library)
		}
		await(t, func() bool { return finds(r, cmd.Process.Pid) })
	}
	_, _ = io.WriteString(in, "go\n")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return got
}

// A program that starts after the Reader, from a file that nobody has run, is found by itself.
func TestEverywhere(t *testing.T) {
	slots.Acquire(t, 1)
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	client := filepath.Join(t.TempDir(), "client")
	if err := os.WriteFile(client, own, 0o700); err != nil {
		t.Fatal(err)
	}
	got := read(t, Options{Everywhere: true, Reads: true}, []string{client})
	if !bytes.Contains(got.sent, []byte(secret)) || !bytes.Contains(got.received, []byte("the answer")) || !got.whole {
		t.Errorf("sent %.300q, received %.300q, whole %v", got.sent, got.received, got.whole)
	}
}

// libraries are what a program that a shell starts will map.
func libraries(argv []string) []string {
	if argv[0] != "sh" {
		return nil
	}
	all, _ := filepath.Glob("/usr/lib/*/libgnutls.so.*")
	return all
}

// finds asks for what a process has mapped, and reports whether a library is watched.
func finds(r *Reader, pid int) bool {
	r.Mapped(pid)
	n, _ := r.State()
	return n > 0
}

// watches reports whether a file is.
func watches(t *testing.T, r *Reader, name string) bool {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	key, _, err := probesOf(f, true)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[key]
}

// await waits for something.
func await(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no library was found")
		}
	}
}
