package queue

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// node starts a NATS server of this process on the loopback.
func node(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.JetStream, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", true, t.TempDir(), true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	n, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	n.Start()
	t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
	if !n.ReadyForConnections(10 * time.Second) {
		t.Fatal("a server does not start")
	}
	return n
}

// cluster starts three nodes.
func cluster(t *testing.T) (nodes []*server.Server, address string) {
	t.Helper()
	var routes []*url.URL
	var ports []int
	for range 3 {
		ports = append(ports, freePort(t))
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", ports[len(ports)-1])})
	}
	var urls []string
	for i, port := range ports {
		n := node(t, server.Options{ServerName: fmt.Sprint("n", i), Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}, Routes: routes})
		nodes, urls = append(nodes, n), append(urls, n.ClientURL())
	}
	return nodes, strings.Join(urls, ",")
}

func jobs(names ...string) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		for _, name := range names {
			if !yield(name, []byte("job "+name)) {
				return
			}
		}
	}
}

// work does n jobs of a queue.
func work(ctx context.Context, q *Queue, sweep string, n int) error {
	for range n {
		d, err := q.Next(ctx)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(string(d.Job), "job ")
		run := sweep + "." + name + ".x"
		if err := q.PutRun(ctx, run, func() io.ReadCloser { return io.NopCloser(strings.NewReader("run " + name)) }); err != nil {
			return err
		}
		if err := q.PutResult(ctx, sweep, name, []byte(run)); err != nil {
			return err
		}
		if err := d.Done(ctx); err != nil {
			return err
		}
	}
	return nil
}

// taken is what a sweep gets of its workers, until it has n results.
func taken(ctx context.Context, q *Queue, sweep string, n int) (map[string]string, error) {
	got := map[string]string{}
	err := q.Results(ctx, sweep, func(name string, result []byte) (bool, error) {
		err := q.TakeRun(ctx, string(result), func(r io.Reader) error {
			data, err := io.ReadAll(r)
			got[name] = string(data)
			return err
		})
		return len(got) < n, err
	})
	return got, err
}

// A cluster of three goes on without one of them, whichever leads.
func TestACluster(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	nodes, address := cluster(t)
	o := Options{URL: address, Replicas: 3, AckWait: 3 * time.Second, Settings: "s1"}
	sweep, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer sweep.Close()
	o.Worker = true
	worker, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	if err := sweep.Add(ctx, "w", jobs("a", "b", "c", "d")); err != nil {
		t.Fatal(err)
	}
	if err := work(ctx, worker, "w", 2); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.JetStreamIsStreamLeader("$G", streamName) {
			n.Shutdown()
			break // the others choose anew at once
		}
	}
	// What is there is not added again, and what is left is done.
	if err := sweep.Add(ctx, "w", jobs("c", "d")); err != nil {
		t.Fatal(err)
	}
	if err := work(ctx, worker, "w", 2); err != nil {
		t.Fatal(err)
	}
	got, err := taken(ctx, sweep, "w", 4)
	if err != nil || len(got) != 4 || got["a"] != "run a" || got["d"] != "run d" {
		t.Errorf("%v, %v", got, err)
	}
	if n, err := sweep.Waiting(ctx); err != nil || n != 0 {
		t.Errorf("%d jobs are left, %v", n, err)
	}
	if err := sweep.Forget(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	if has, err := worker.HasResult(ctx, "w", "a"); has || err != nil {
		t.Errorf("a result is left: %v, %v", has, err)
	}
}

// A job goes to workers of its own settings, once while it waits, and the first result
// counts.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	q, err := Open(ctx, Options{Dir: t.TempDir(), AckWait: time.Second, Settings: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for range 2 {
		if err := q.Add(ctx, "w", jobs("a", "b")); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := q.Waiting(ctx); err != nil || n != 2 {
		t.Errorf("%d jobs, %v", n, err)
	}
	other := &Queue{conn: q.conn, js: q.js, settings: "s2"}
	short, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	defer stop()
	if d, err := other.Next(short); err == nil {
		t.Errorf("another worker gets %q", d.Job)
	}
	d, err := q.Next(ctx)
	if err != nil || d.Try != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	if err := d.Again(0); err != nil {
		t.Fatal(err)
	}
	tries := 0
	for range 2 {
		d, err := q.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tries += d.Try
		if err := d.Done(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if tries != 3 {
		t.Errorf("%d tries of two jobs, of which one was given back", tries)
	}
	if err := errors.Join(q.Add(ctx, "w", jobs("c", "d")), q.Add(ctx, "v", jobs("c")), q.Withdraw(ctx, "w")); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Waiting(ctx); err != nil || n != 1 {
		t.Errorf("%d jobs are left of another sweep, %v", n, err)
	}
	for _, result := range []string{"first", "second"} {
		if err := q.PutResult(ctx, "w", "a", []byte(result)); err != nil {
			t.Fatal(err)
		}
	}
	err = q.Results(ctx, "w", func(name string, result []byte) (bool, error) {
		if name != "a" || string(result) != "first" {
			t.Errorf("%s has %s", name, result)
		}
		return false, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// stops checks that a mark is seen by a worker until it is lifted.
func stops(t *testing.T, o Options, worker *Queue) {
	t.Helper()
	for _, step := range []struct {
		do   func(context.Context, Options) error
		want string
	}{
		{func(context.Context, Options) error { return nil }, ""},
		{func(ctx context.Context, o Options) error { return Stop(ctx, o, "a reason") }, "a reason"},
		{Lift, ""},
		{Lift, ""},
	} {
		if err := step.do(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got, err := worker.Stopped(t.Context()); got != step.want || err != nil {
			t.Errorf("stopped because of %q, %v; want %q", got, err, step.want)
		}
	}
	if err := Stop(t.Context(), o, strings.Repeat("x", maxReason+1)); err == nil {
		t.Error("a long reason is taken")
	}
}

// A mark is written through no link, and is none.
func TestAMarkIsNoLink(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte("mine"), 0o600), os.Symlink(other, filepath.Join(dir, stopMark))); err != nil {
		t.Fatal(err)
	}
	q := &Queue{dir: dir}
	if reason, err := q.stopFile(); err == nil {
		t.Errorf("a link stops the queue: %q", reason)
	}
	if err := Stop(t.Context(), Options{Dir: dir}, "full"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(other); string(data) != "mine" || err != nil {
		t.Errorf("it was written through a link: %q, %v", data, err)
	}
	if reason, err := q.stopFile(); reason != "full" || err != nil {
		t.Errorf("stopped because of %q, %v", reason, err)
	}
}

// givesBack checks that a job which is given back has that try taken off.
func givesBack(t *testing.T, sweep, worker *Queue) {
	t.Helper()
	if err := sweep.Add(t.Context(), "v", jobs("z")); err != nil {
		t.Fatal(err)
	}
	for _, back := range []bool{true, false, true, false} {
		d, err := worker.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if back {
			err = worker.GiveBack(d, "v", "z")
		} else {
			err = d.Again(0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := worker.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tries, err := worker.Tries(t.Context(), d, "v", "z"); d.Try != 5 || tries != 3 || err != nil {
		t.Errorf("delivery %d is try %d, %v", d.Try, tries, err)
	}
	if err := d.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sweep.Forget(t.Context(), "v"); err != nil {
		t.Fatal(err)
	}
	if n, err := worker.backs(t.Context(), "v", "z"); n != 0 || err != nil {
		t.Errorf("%d times are left, %v", n, err)
	}
}

// workerRights are what docs/sweep.md says that a worker needs.
func workerRights(t *testing.T) jwt.StringList {
	t.Helper()
	data, err := os.ReadFile("../../../../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(data), "```\npublish:\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok {
		t.Fatal("docs/sweep.md has no list of a worker's rights")
	}
	return strings.Fields(block)
}

// operator is one with an account, as a server trusts it.
type operator struct {
	options server.Options
	account nkeys.KeyPair
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	key, err := nkeys.CreateOperator()
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{}
	if o.account, err = nkeys.CreateAccount(); err != nil {
		t.Fatal(err)
	}
	system, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	resolver := &server.MemAccResolver{}
	var systemName string
	for _, account := range []nkeys.KeyPair{o.account, system} {
		systemName, _ = account.PublicKey()
		claims := jwt.NewAccountClaims(systemName)
		if account == o.account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		token, err := claims.Encode(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolver.Store(systemName, token); err != nil {
			t.Fatal(err)
		}
	}
	public, _ := key.PublicKey()
	token, err := jwt.NewOperatorClaims(public).Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := jwt.DecodeOperatorClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	o.options = server.Options{TrustedOperators: []*jwt.OperatorClaims{trusted}, AccountResolver: resolver, SystemAccount: systemName}
	return o
}

// user writes the credentials of a user that may publish to these subjects, nil for all.
func (o *operator) user(t *testing.T, publish jwt.StringList) string {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := key.PublicKey()
	claims := jwt.NewUserClaims(public)
	if publish != nil {
		claims.Pub.Allow, claims.Sub.Allow = publish, jwt.StringList{"_INBOX.>"}
	}
	token, err := claims.Encode(o.account)
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := key.Seed()
	data, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// certificate makes one of 127.0.0.1, and a file with it.
func certificate(t *testing.T) (*tls.Config, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}, name
}

// Over TLS and with credentials a sweep makes what is missing, a worker does its work with
// the documented rights alone, and nobody else gets in.
func TestCredentials(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	op := newOperator(t)
	o := op.options
	var ca string
	o.TLSConfig, ca = certificate(t)
	o.TLS, o.TLSTimeout = true, 5
	n := node(t, o)
	address := strings.Replace(n.ClientURL(), "nats://", "tls://", 1)
	sweep, err := Open(ctx, Options{URL: address, CA: ca, Credentials: op.user(t, nil), Settings: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	defer sweep.Close()
	if err := sweep.Add(ctx, "w", jobs("a", "b")); err != nil {
		t.Fatal(err)
	}
	worker, err := Open(ctx, Options{URL: address, CA: ca, Credentials: op.user(t, workerRights(t)), Settings: "s1", Worker: true})
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	if err := work(ctx, worker, "w", 2); err != nil {
		t.Fatal(err)
	}
	if has, err := worker.HasResult(ctx, "w", "a"); !has || err != nil {
		t.Errorf("%v, %v", has, err)
	}
	stops(t, Options{URL: address, CA: ca, Credentials: op.user(t, nil)}, worker)
	givesBack(t, sweep, worker)
	if got, err := taken(ctx, sweep, "w", 2); err != nil || got["b"] != "run b" {
		t.Errorf("%v, %v", got, err)
	}
	short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stop()
	if err := worker.js.DeleteStream(short, streamName); err == nil {
		t.Error("a worker can remove the queue")
	}
	for name, bad := range map[string]Options{
		"no credentials":     {URL: address, CA: ca},
		"another operator's": {URL: address, CA: ca, Credentials: newOperator(t).user(t, nil)},
		"no trust":           {URL: address, Credentials: op.user(t, nil)},
		"no TLS":             {URL: n.ClientURL(), Credentials: op.user(t, nil)},
	} {
		limited, end := context.WithTimeout(ctx, 500*time.Millisecond)
		if q, err := Open(limited, bad); err == nil {
			t.Errorf("%s: it gets in", name)
			q.Close()
		}
		end()
	}
}
