//go:build linux && (amd64 || arm64) && e2e

package tlsread

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"
)

const pythonRequests = `
import http.client, ssl, sys
sys.stdin.readline()
ctx = ssl.create_default_context()
ctx.check_hostname = False
ctx.verify_mode = ssl.CERT_NONE
conn = http.client.HTTPSConnection(sys.argv[1].removeprefix("https://"), context=ctx)
for _ in range(10000):
    conn.request("POST", "/", body=b"a request of a hundred bytes".ljust(100))
    conn.getresponse().read()
`

// What a request costs more when it is read: 10,000 requests over one connection of
// Python's, with probes and without.
func TestOverhead(t *testing.T) {
	if os.Getenv("COALMINE_TLS") != "all" {
		t.Skip("for make tls-report")
	}
	var took [2]time.Duration
	var pieces atomic.Int64
	for i, watched := range []bool{false, true} {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "ok")
		}))
		cmd := exec.Command("python3", "-c", pythonRequests, s.URL)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if watched {
			r, err := Open(Options{}, func(*Piece) { pieces.Add(1) }, func(n uint64, why string) { t.Errorf("lost %d: %s", n, why) })
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			await(t, func() bool { return finds(r, cmd.Process.Pid) })
		}
		began := time.Now()
		_, _ = io.WriteString(in, "go\n")
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		// The process's own time: what others do on the machine is not in it.
		took[i] = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		fmt.Printf("overhead: probes %-5v %.2f s of a processor, %.2f s in all\n", watched, took[i].Seconds(), time.Since(began).Seconds())
		s.Close()
	}
	fmt.Printf("overhead: %.1f µs a request, %.1f %%; %d pieces\n", float64((took[1]-took[0]).Microseconds())/10000, 100*(took[1].Seconds()/took[0].Seconds()-1), pieces.Load())
	if pieces.Load() < 10000 {
		t.Errorf("%d pieces", pieces.Load())
	}
}
