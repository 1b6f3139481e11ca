package sinkhole

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// plainPorts are those that are listened on where packets cannot be diverted:
// the ones that programs use to reach others, and seldom to be reached by.
var plainPorts = map[int][]uint16{
	unix.SOCK_STREAM: {21, 22, 25, 53, 80, 110, 143, 443, 465, 587, 853, 993, 995},
	unix.SOCK_DGRAM:  {53, 123, 443, 514},
}

// listenPlain has ordinary listeners on a few ports take the place of the
// transparent one: every address is local, so they answer for all addresses.
func (s *Sinkhole) listenPlain(mode Mode, why error) error {
	_ = s.Close()
	wild := []netip.Addr{netip.IPv4Unspecified()}
	if s.IPv6 {
		wild = append(wild, netip.IPv6Unspecified())
	}
	for typ, ports := range plainPorts {
		if mode == ModeRefuse {
			ports = []uint16{dnsPort}
		}
		for _, port := range ports {
			for _, a := range wild {
				f, err := listen(typ, netip.AddrPortFrom(a, port))
				if err != nil {
					_ = s.Close()
					return fmt.Errorf("listen on port %d: %w", port, err)
				}
				s.Files = append(s.Files, f)
			}
		}
	}
	s.Notes = append(s.Notes, fmt.Sprintf("packets cannot be diverted (%v): only the ports %v of TCP and %v of UDP answer, the kernel refuses the rest, and what it refuses is not seen",
		why, plainPorts[unix.SOCK_STREAM], plainPorts[unix.SOCK_DGRAM]))
	s.Partial = true
	return nil
}
