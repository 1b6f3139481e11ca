//go:build linux && e2e

package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// wired gives the sandbox's network namespace an interface before its agent has
// a Config: one end of a veth, the other end of which is a peer of the test's own.
type wired struct {
	sandboxtest.Bare
	t       *testing.T
	peer    netns.NsHandle
	capture *sandboxtest.Capture
}

func (w *wired) Start(ctx context.Context, spec sandbox.Spec) (sandbox.Conn, error) {
	c, err := w.Bare.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	pid := c.(interface{ Pid() int }).Pid()
	if err := w.wire(pid); err != nil {
		_ = c.Close(ctx)
		return nil, err
	}
	return c, nil
}

// wire makes the veth, and sends a mark over it to show that it leads to the peer.
func (w *wired) wire(pid int) error {
	inner, err := netns.GetFromPid(pid)
	if err != nil {
		return err
	}
	defer func() { _ = inner.Close() }()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "eth0"
	attrs.Namespace = netlink.NsFd(inner)
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "far0", PeerNamespace: netlink.NsFd(w.peer)}); err != nil {
		return fmt.Errorf("make the veth: %w", err)
	}
	if err := up(w.peer, "far0", "10.99.0.2/24", "fd99::2/64"); err != nil {
		return err
	}
	if err := up(inner, "eth0", "10.99.0.1/24", "fd99::1/64"); err != nil {
		return err
	}
	err = in(inner, func() error {
		c, err := net.Dial("udp", "10.99.0.2:9")
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, err = c.Write([]byte("<mark before>"))
		return err
	})
	if err == nil {
		w.capture.Await(w.t, "before")
	}
	return err
}

func up(ns netns.NsHandle, name string, addresses ...string) error {
	h, err := netlink.NewHandleAt(ns)
	if err != nil {
		return err
	}
	defer h.Close()
	link, err := h.LinkByName(name)
	if err != nil {
		return err
	}
	for _, a := range addresses {
		addr, err := netlink.ParseAddr(a)
		if err != nil {
			return err
		}
		addr.Flags = unix.IFA_F_NODAD
		if err := h.AddrAdd(link, addr); err != nil {
			return err
		}
	}
	return h.LinkSetUp(link)
}

// in calls f in a network namespace, on a thread that is not used again.
func in(ns netns.NsHandle, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := netns.Set(ns); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}

// TestNothingLeavesByAnInterface: where a sandbox is given an interface, the agent
// takes it away before the target starts. What the peer at its other end got
// before shows that it listens; of the target's attempts it gets none.
func TestNothingLeavesByAnInterface(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "root", "userns")
	for name, b := range map[string]sandboxtest.Bare{"root": {}, "single uid": {SingleUID: true}, "in place": {InPlace: true}} {
		t.Run(name, func(t *testing.T) {
			w := &wired{Bare: b, t: t}
			made := make(chan error)
			go func() {
				runtime.LockOSThread()
				err := unix.Unshare(unix.CLONE_NEWNET)
				if err == nil {
					w.peer, err = netns.Get()
				}
				if err == nil {
					w.capture = sandboxtest.NewCapture(t)
				}
				made <- err
			}()
			if err := <-made; err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.peer.Close() }()
			spec := sunk(hostile(t, "leave"))
			spec.Network.Sinkhole.Interface = "eth0"
			run := start(t, w, spec)
			told := run.call(t, "leave")
			for _, way := range []string{"SO_BINDTODEVICE", "IP_PKTINFO", "IP_UNICAST_IF", "multicast", "broadcast", "ff02::1", "raw", "packet"} {
				if !strings.Contains(told, way+" by eth0: ") {
					t.Errorf("%s was not tried: %s", way, told)
				}
			}
			if strings.Contains(told, "raw by eth0: <nil>") || strings.Contains(told, "packet by eth0: <nil>") {
				t.Errorf("a socket of the raw kind was had: %s", told)
			}
			if err := run.Sync(bounded(t)); err != nil {
				t.Fatal(err)
			}
			if got := w.capture.Marks(); !slices.Equal(got, []string{"before"}) {
				t.Errorf("the peer got %q", got)
			}
			// What named no interface is the sinkhole's, whatever network it is of.
			seen := ""
			for _, f := range run.Flows() {
				seen += string(f.Data)
			}
			if !strings.Contains(seen, "<mark plain by eth0>") {
				t.Errorf("the sinkhole saw %q", seen)
			}
			// What names the interface that the agent made ends there, and is seen.
			for _, way := range []string{"SO_BINDTODEVICE", "IP_PKTINFO", "IP_UNICAST_IF", "multicast", "broadcast", "multicast 6", "ff02::1"} {
				if !strings.Contains(seen, "<mark "+way+" by eth0>") {
					t.Errorf("%s by eth0 was not seen: %q\n%s\n%v", way, seen, told, run.Events())
				}
			}
		})
	}
}
