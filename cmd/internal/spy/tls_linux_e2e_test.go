//go:build linux && e2e

package spy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// onTLS puts a program that speaks TLS before the tap, and has the client trust its certificate.
const onTLS = `front=$1; test=$2; shift 2; proxy=$2; certs=$(mktemp -d)
` + onHTTPUp + `
COALMINE_SPY_TEST_MODE=front "$test" $front $proxy "$certs" & front_pid=$!
up $front
export SSL_CERT_FILE=$certs/cert.pem NODE_EXTRA_CA_CERTS=$certs/cert.pem
"$@" https://127.0.0.1:$front$at >/dev/null
kill $front_pid; kill -TERM $tap; wait $tap; kill $server; wait $server; rm -r "$certs"; exit 0`

// front speaks TLS on a port, HTTP/2 where the client can, and hands on to another port. Its
// certificate is in a directory.
func front(port, to, dir string) {
	if err := serveTLS(port, to, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveTLS(port, to, dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + to})
	proxy.FlushInterval = -1
	return http.ListenAndServeTLS("127.0.0.1:"+port, certFile, keyFile, proxy)
}

const (
	secretAsk    = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	secretAnswer = `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`
)

// askSecretly sends a request over TLS.
func askSecretly(url string) {
	c := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(secretAsk))
	if err != nil {
		os.Exit(1)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Mcp-Session-Id", "s")
	resp, err := c.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// What a program sends and gets over TLS is read where it is plain, with HTTP/1.1 and with HTTP/2.
func TestTLSIsRead(t *testing.T) {
	slots.Acquire(t, 1)
	sandboxtest.Need(t, "bpf")
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, secretAnswer)
			}))
			server.EnableHTTP2 = http2
			server.StartTLS()
			defer server.Close()
			shell, start := waiting(t, []string{modeEnv + "=secret"}, os.Args[0], server.URL)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			out := &awaited{want: `"direction":"s2c"`, came: make(chan struct{})}
			go out.await(ctx, stop)
			got, err := Run(ctx, Options{PIDs: []int{shell.Process.Pid}, KeepRoot: true, Format: JSONL, Redact: RedactNever, TLS: true, Out: out,
				Say: func(string) {}, Ready: func() { _ = start.Close() }})
			if err != nil {
				t.Fatal(err)
			}
			if err := shell.Wait(); err != nil {
				t.Fatal(err)
			}
			if got.Messages != 2 || got.Conversations != 1 || !got.Complete() {
				t.Errorf("%+v: %s", got, out.b.String())
			}
		})
	}
}
