//go:build linux && e2e

package sinkhole

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// What was sent is stamped with when the kernel got it, however late it is read.
func TestStampIsTheArrival(t *testing.T) {
	if !inside(t) {
		return
	}
	s, err := Arm(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"raw bytes\n", "GET /early HTTP/1.1\r\nHost: x\r\n\r\n"} {
		fmt.Fprint(dial(t, "tcp", "93.184.216.34:4444"), text)
	}
	fmt.Fprint(dial(t, "udp", "8.8.8.8:514"), "a line of a log")
	const late = 100 * time.Millisecond
	sent := now()
	time.Sleep(late) // the reader is busy
	j := newJournal()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Serve(ctx, s.Files, Config{}, j.emit) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = s.Close()
	}()
	for what, match := range map[string]func(Event) bool{
		"bytes":      func(e Event) bool { return string(e.Data) == "raw bytes\n" },
		"a request":  func(e Event) bool { return e.Type == TypeRequest && e.Path == "/early" },
		"a datagram": func(e Event) bool { return string(e.Data) == "a line of a log" },
	} {
		if e := j.wait(t, what, match); e.Stamp > sent+late/2 {
			t.Errorf("%s: stamped %v after it was sent", what, e.Stamp-sent)
		}
	}
}
