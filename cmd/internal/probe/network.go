package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// loopbackToo stands before "allow=HOST,…" where the loopback address answers as well.
const loopbackToo = NetworkLoopback + ","

// allows reports whether a value of --network names hosts that are really reached.
func allows(network string) bool {
	return strings.HasPrefix(strings.TrimPrefix(network, loopbackToo), NetworkAllow)
}

// withLoopback is the network in which a server is started again that tried the
// loopback address, "" where it is not to be.
func withLoopback(network string) string {
	switch {
	case network == NetworkSinkhole:
		return NetworkLoopback
	case strings.HasPrefix(network, NetworkAllow):
		return loopbackToo + network
	}
	return ""
}

// allowed are the hosts that "allow=HOST,…" names; it names them all or none.
func allowed(network string) ([]string, error) {
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
			return nil, &sandbox.UsageError{Err: fmt.Errorf("--network %s: %q is no host's name", network, h), Hint: "allow=api.example.com,*.example.net: names, no addresses, ports or URLs"}
		}
	}
	return hosts, nil
}

// CheckNetwork says whether a value of --network is none.
func CheckNetwork(network string) error {
	whole := []string{NetworkSinkhole, NetworkLoopback, NetworkRefuse, NetworkNone}
	if slices.Contains(whole, network) {
		return nil
	}
	if !allows(network) {
		return &sandbox.UsageError{Err: fmt.Errorf("--network %s is not known", network), Hint: strings.Join(whole, ", ") + ", " + NetworkAllow + "HOST,…"}
	}
	_, err := allowed(network)
	return err
}

// reached logs which hosts were really reached, by this process's own word.
func (r *recorder) reached(run *sandbox.Run) {
	for _, one := range run.Reached() {
		r.mark(session.Mark{Kind: session.MarkReached, Dialled: &one})
	}
}

// network is the sinkhole of a run, nil where there is to be no network.
func (p *plan) network() (*agent.Network, error) {
	if p.opts.Network == NetworkNone {
		return nil, nil
	}
	authority, err := sinkhole.NewAuthority()
	if err != nil {
		return nil, err
	}
	allow, err := allowed(p.opts.Network)
	if err != nil {
		return nil, err
	}
	n := &agent.Network{Sinkhole: sinkhole.Config{
		Mode: sinkhole.ModeAnswer, Authority: authority, AnswerLoopback: strings.HasPrefix(p.opts.Network, NetworkLoopback), Allow: allow,
		Leads: []sinkhole.Lead{{Host: oracle.Led, Addr: netip.MustParseAddr(oracle.LedTo)}}, Replies: p.replies(),
		Metadata: sinkhole.Metadata{
			AccessKeyID: p.set.Value(canaries.MetadataKeyID), SecretAccessKey: p.set.Value(canaries.MetadataSecret),
			SessionToken: p.set.Value(canaries.MetadataSession), AccessToken: p.set.Value(canaries.MetadataToken),
		},
	}}
	if p.opts.Network == NetworkRefuse {
		n.Sinkhole.Mode = sinkhole.ModeRefuse
	}
	return n, nil
}

// replies are the user's own, and behind them the redirect that an oracle's input aims at.
func (p *plan) replies() []sinkhole.Reply {
	return append(slices.Clone(p.opts.Replies), sinkhole.Reply{
		Host: oracle.Moved, Path: "/latest/*", Status: http.StatusFound, Header: map[string]string{"Location": oracle.MovedTo + "{path}"},
	})
}

// loopbackDir holds the log of the second start, below the run's directory.
const loopbackDir = "loopback"

// answerLoopback starts a server again that tried a port of the loopback address
// on which nothing listened: labs and malware post there, honest clients only
// look whether somebody is at home. This time it is answered, and what the server
// then does that it did not do before is added to the result.
func (p *plan) answerLoopback(ctx context.Context, b sandbox.Backend, dir *os.Root, res *analyze.Result, o analyze.Options) error {
	if err := dir.RemoveAll(loopbackDir); err != nil {
		return fmt.Errorf("remove an earlier second start: %w", err)
	}
	network := withLoopback(p.opts.Network)
	if !p.triedLoopback || network == "" {
		return nil
	}
	more, _, err := p.further(ctx, b, dir, loopbackDir, o, func(again *plan) {
		again.world, again.opts.Network = nil, network
		again.opts.Calls, again.opts.Timeout = min(DefaultCalls, p.opts.Calls), min(DefaultTimeout, p.opts.Timeout)
		again.opts.Progress("starting once more, with an answer on the loopback address")
	})
	if err != nil {
		return err
	}
	analyze.Add(res, more, "with an answer on the loopback address", o)
	return nil
}
