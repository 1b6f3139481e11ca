//go:build linux && e2e

package spy

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// secretEcho answers over TLS until its input ends.
func secretEcho() {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct{ ID json.RawMessage }
		if json.NewDecoder(r.Body).Decode(&m) == nil {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, m.ID)
		}
	}))
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that matters
}

// secretTrips is the time of a round trip over one connection of TLS.
func secretTrips(b *testing.B, c *http.Client, url string, n int) time.Duration {
	b.Helper()
	began := time.Now()
	for i := range n {
		resp, err := c.Post(url, "application/json", strings.NewReader(request(i)))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	return time.Since(began) / time.Duration(n)
}

// BenchmarkSpyTLS gives how much longer a round trip over TLS takes under spy --tls than under spy, the least of
// several beside the least.
func BenchmarkSpyTLS(b *testing.B) {
	sandboxtest.Need(b, "bpf")
	const trips = 3_000
	took := map[string]time.Duration{"messages": time.Hour, "tls": time.Hour}
	var missed, lost int64
	for b.Loop() {
		for kind := range took {
			p := startMode(b, "secretecho")
			url, err := p.out.ReadString('\n')
			if err != nil {
				b.Fatal(err)
			}
			url = strings.TrimSpace(url)
			w := startWatcher(b, kind)
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			c := &http.Client{Transport: transport}
			secretTrips(b, c, url, trips/10)
			took[kind] = min(took[kind], secretTrips(b, c, url, trips))
			seen, gone, _ := w.stop(b)
			transport.CloseIdleConnections()
			p.end()
			if kind == "tls" {
				lost, missed = max(lost, gone), max(missed, 2*(trips+trips/10)-seen)
			}
		}
	}
	b.ReportMetric(float64(took["tls"])/float64(took["messages"]), "x")
	b.ReportMetric(float64(took["messages"].Nanoseconds())/1000, "without-µs")
	b.ReportMetric(float64(lost), "lost")
	b.ReportMetric(float64(missed), "missed")
}
