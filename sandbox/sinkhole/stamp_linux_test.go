package sinkhole

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// Two that the kernel got at one moment have one stamp, whatever comes between.
func TestStampsKeepTheirOrder(t *testing.T) {
	var wall unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &wall); err != nil {
		t.Fatal(err)
	}
	from := now()
	first := since(wall.Unix())
	if first < from-clockDrift || first > now() {
		t.Errorf("%v, not about %v", first, from)
	}
	for range 10_000 {
		if again := since(wall.Unix()); again != first {
			t.Fatalf("%v, then %v", first, again)
		}
	}
	if late := since(wall.Sec-int64(2*maxWait/time.Second), 0); late != 0 {
		t.Errorf("a stamp of another clock: %v", late)
	}
	if early := since(wall.Sec+10, 0); early != 0 {
		t.Errorf("a stamp to come: %v", early)
	}
}
