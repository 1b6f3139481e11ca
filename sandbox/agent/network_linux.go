package agent

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
)

// closeNetwork leaves the loopback interface alone up, and checks that. What a
// route could be argued around with (SO_BINDTODEVICE, multicast), a missing
// interface cannot.
func closeNetwork() error {
	links, err := netlink.LinkList()
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return fmt.Errorf("list the network interfaces: %w", err)
	}
	loopback := false
	for _, l := range links {
		a := l.Attrs()
		switch {
		case a.Flags&net.FlagLoopback != 0:
			loopback = true
			if a.Flags&net.FlagUp != 0 {
				continue
			}
			if err := netlink.LinkSetUp(l); err != nil {
				return fmt.Errorf("bring up %s: %w", a.Name, err)
			}
		case a.Flags&net.FlagUp != 0:
			if err := netlink.LinkSetDown(l); err != nil {
				return fmt.Errorf("bring down %s: %w", a.Name, err)
			}
			fallthrough
		default:
			_ = netlink.LinkDel(l) // the kernel's own tunnel devices cannot be deleted; down is enough
		}
	}
	if !loopback {
		return errors.New("there is no loopback interface")
	}
	return checkNetwork()
}

// checkNetwork fails if any interface but the loopback is up.
func checkNetwork() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("check the network interfaces: %w", err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			return fmt.Errorf("the network interface %s is still up", i.Name)
		}
		if i.Flags&net.FlagLoopback != 0 && i.Flags&net.FlagUp == 0 {
			return fmt.Errorf("the network interface %s is not up", i.Name)
		}
	}
	return nil
}
