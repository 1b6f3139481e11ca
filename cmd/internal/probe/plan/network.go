package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// The networks that a server may find.
const (
	// NetworkSinkhole: every address answers, what is sent is kept, nothing leaves.
	NetworkSinkhole = "sinkhole"
	// NetworkRefuse: names resolve, and every connection is refused.
	NetworkRefuse = "refuse"
	// NetworkLoopback is a sinkhole that answers on the loopback address too, where
	// nothing of the server's listens. After a run in the plain one that tried such
	// an address the server is started once more in this.
	NetworkLoopback = "loopback"
	// NetworkNone: there is no address but the loopback's.
	NetworkNone = "none"
	// NetworkAllow and names with commas between: those hosts are really reached,
	// by this process, and all else is the sinkhole's, or NetworkLoopback's where
	// that and a comma stand before it.
	NetworkAllow = "allow="
)

// loopbackToo stands before "allow=HOST,…" where the loopback address answers as well.
const loopbackToo = NetworkLoopback + ","

// Allows reports whether a value of --network names hosts that are really reached.
func Allows(network string) bool {
	return strings.HasPrefix(strings.TrimPrefix(network, loopbackToo), NetworkAllow)
}

// WithLoopback is the network in which a server is started again that tried the
// loopback address, "" where it is not to be.
func WithLoopback(network string) string {
	switch {
	case network == NetworkSinkhole:
		return NetworkLoopback
	case strings.HasPrefix(network, NetworkAllow):
		return loopbackToo + network
	}
	return ""
}

// AllowedHosts are the hosts that "allow=HOST,…" names; it names them all or none.
func AllowedHosts(network string) ([]string, error) {
	list, ok := strings.CutPrefix(strings.TrimPrefix(network, loopbackToo), NetworkAllow)
	if !ok {
		return nil, nil
	}
	hosts := strings.Split(list, ",")
	for i, h := range hosts {
		h = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(h), "."))
		hosts[i] = h
		name := strings.TrimPrefix(h, "*.")
		_, err := netip.ParseAddr(name)
		odd := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
		}
		if err == nil || name == "" || len(name) > 253 || strings.ContainsFunc(name, odd) || strings.HasPrefix(name, ".") {
			return nil, &sandbox.UsageError{Err: fmt.Errorf("--network %s: %q is not a host's name", network, h), Hint: "allow=api.example.com,*.example.net: names, no addresses, ports or URLs"}
		}
	}
	return hosts, nil
}

// CheckNetwork says whether a value of --network is invalid.
func CheckNetwork(network string) error {
	whole := []string{NetworkSinkhole, NetworkLoopback, NetworkRefuse, NetworkNone}
	if slices.Contains(whole, network) {
		return nil
	}
	if !Allows(network) {
		return &sandbox.UsageError{Err: fmt.Errorf("--network %s is not known", network), Hint: strings.Join(whole, ", ") + ", " + NetworkAllow + "HOST,…"}
	}
	_, err := AllowedHosts(network)
	return err
}

// Answers reports whether hosts answer in a network.
func Answers(network string) bool { return network != NetworkRefuse && network != NetworkNone }
