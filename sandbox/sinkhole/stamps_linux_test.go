package sinkhole

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

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
