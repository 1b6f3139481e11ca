package wiretap

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
)

// --listen decides the port, and a port that is taken is said to be.
func TestAFixedPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := taken.Addr().String()
	o := LogOptions{Dir: t.TempDir(), Say: func(line string) { t.Log(line) }}
	serve := func(ctx context.Context, ready func(string)) error {
		return HTTP(ctx, HTTPOptions{URL: "http://127.0.0.1:1/mcp", Listen: address, Ready: ready}, o)
	}
	var wrong *UsageError
	if err := serve(t.Context(), func(string) {}); !errors.As(err, &wrong) || wrong.Hint == "" {
		t.Errorf("the port is taken, and it says %v", err)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- serve(ctx, func(local string) { at <- local }) }()
	select {
	case local := <-at:
		if local != "http://"+address+"/mcp" {
			t.Errorf("it listens on %s", local)
		}
		resp, err := http.Get(local)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusBadGateway {
			t.Errorf("a server that is not there answers %s", resp.Status)
		}
	case err := <-ended:
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
