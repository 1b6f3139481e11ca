package run

import (
	"bytes"
	"crypto/sha256"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/service"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// networkOf is the sinkhole of a plan, with an authority of its own; nil where there
// is to be no network.
func networkOf(p *plan.Plan) (*agent.Network, error) {
	if p.Network == plan.NetworkNone {
		return nil, nil
	}
	authority, err := sinkhole.NewAuthority()
	if err != nil {
		return nil, err
	}
	allow, err := plan.AllowedHosts(p.Network)
	if err != nil {
		return nil, err
	}
	own4, own6, mac := stand(p.RunID)
	n := &agent.Network{MAC: mac, Sinkhole: sinkhole.Config{
		Interface: "eth0", Own4: own4, Own6: own6,
		Mode: sinkhole.ModeAnswer, Authority: authority, AnswerLoopback: strings.HasPrefix(p.Network, plan.NetworkLoopback), Allow: allow,
		EveryName: p.EveryName, Known: p.Hosts, Missing: p.Missing,
		Leads: []sinkhole.Lead{
			{Host: oracle.Led, Addr: netip.MustParseAddr(oracle.LedTo)},
			{Host: oracle.Rebound, Addr: netip.MustParseAddr(oracle.LedTo), Later: true},
		}, Replies: replies(p), Fits: p.Fits, GraphQL: p.GraphQL,
		Metadata: sinkhole.Metadata{
			AccessKeyID: p.Decoys.Value(canaries.MetadataKeyID), SecretAccessKey: p.Decoys.Value(canaries.MetadataSecret),
			SessionToken: p.Decoys.Value(canaries.MetadataSession), AccessToken: p.Decoys.Value(canaries.MetadataToken),
		},
	}}
	n.Sinkhole.Planted, _ = served(p)
	for _, name := range p.Services {
		k, err := service.Find(name)
		if err != nil {
			return nil, err
		}
		n.Sinkhole.Services = append(n.Sinkhole.Services, sinkhole.Service{Name: k.Name, Port: uint16(k.Port)})
	}
	if p.Network == plan.NetworkRefuse {
		n.Sinkhole.Mode = sinkhole.ModeRefuse
	}
	return n, nil
}

// vendors are the first halves of addresses that makers of network cards were given (IEEE
// MA-L): Intel, Dell, Lenovo's and HP's suppliers.
var vendors = [][3]byte{{0x3c, 0x58, 0xc2}, {0xa4, 0xbb, 0x6d}, {0x8c, 0x16, 0x45}, {0x54, 0xee, 0x75}, {0x98, 0xfa, 0x9b}, {0xe0, 0xd5, 0x5e}}

// stand is where a run's machine stands in the network of a home: its addresses, other ones
// in each run.
func stand(runID string) (own4, own6 netip.Addr, mac net.HardwareAddr) {
	h := sha256.Sum256([]byte("interface " + runID))
	four := sinkhole.Nameserver.As4()
	four[3] = 20 + h[0]%200
	six := [16]byte{0xfd}
	copy(six[1:6], h[1:6])   // a network of RFC 4193
	copy(six[8:16], h[8:16]) // of which the subnet is 0
	vendor := vendors[int(h[16])%len(vendors)]
	return netip.AddrFrom4(four), netip.AddrFrom16(six), append(vendor[:], h[17:20]...)
}

// replies are the user's own, and behind them the redirect that an oracle's input aims at.
func replies(p *plan.Plan) []sinkhole.Reply {
	return append(slices.Clone(p.Replies), sinkhole.Reply{
		Host: oracle.Moved, Path: "/latest/*", Status: http.StatusFound, Header: map[string]string{"Location": oracle.MovedTo + "{path}"},
	})
}

// served is what the documents carry that a run's sinkhole serves; nothing in a run without oracles.
func served(p *plan.Plan) (*sinkhole.Planted, []session.Injection) {
	if p.Oracles == nil || p.Network == plan.NetworkNone || p.Network == plan.NetworkRefuse {
		return nil, nil
	}
	return oracle.Served(p.Seed)
}

// ownNames are those names that no call's arguments hold: to look the others up is
// what the server was asked for.
func ownNames(names []string, steps []synth.Step) []string {
	asked := make([][]byte, len(steps))
	for i := range steps {
		asked[i] = bytes.ToLower(steps[i].Args)
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(asked, func(args []byte) bool { return bytes.Contains(args, []byte(name)) })
	})
}

// reached logs which hosts were really reached, by this process's own word.
func (r *recorder) reached(run *sandbox.Run) {
	for _, one := range run.Reached() {
		r.mark(session.Mark{Kind: session.MarkReached, Dialled: &one})
	}
}
