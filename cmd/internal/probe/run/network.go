package run

import (
	"bytes"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
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
	n := &agent.Network{Sinkhole: sinkhole.Config{
		Mode: sinkhole.ModeAnswer, Authority: authority, AnswerLoopback: strings.HasPrefix(p.Network, plan.NetworkLoopback), Allow: allow,
		EveryName: p.EveryName, Known: p.Hosts,
		Leads: []sinkhole.Lead{{Host: oracle.Led, Addr: netip.MustParseAddr(oracle.LedTo)}}, Replies: replies(p),
		Metadata: sinkhole.Metadata{
			AccessKeyID: p.Decoys.Value(canaries.MetadataKeyID), SecretAccessKey: p.Decoys.Value(canaries.MetadataSecret),
			SessionToken: p.Decoys.Value(canaries.MetadataSession), AccessToken: p.Decoys.Value(canaries.MetadataToken),
		},
	}}
	if p.Network == plan.NetworkRefuse {
		n.Sinkhole.Mode = sinkhole.ModeRefuse
	}
	return n, nil
}

// replies are the user's own, and behind them the redirect that an oracle's input aims at.
func replies(p *plan.Plan) []sinkhole.Reply {
	return append(slices.Clone(p.Replies), sinkhole.Reply{
		Host: oracle.Moved, Path: "/latest/*", Status: http.StatusFound, Header: map[string]string{"Location": oracle.MovedTo + "{path}"},
	})
}

// ownNames are those names that no call's arguments hold: to look the others up is
// what the server was asked for.
func ownNames(names []string, steps []synth.Step) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(steps, func(s synth.Step) bool { return bytes.Contains(bytes.ToLower(s.Args), []byte(name)) })
	})
}

// reached logs which hosts were really reached, by this process's own word.
func (r *recorder) reached(run *sandbox.Run) {
	for _, one := range run.Reached() {
		r.mark(session.Mark{Kind: session.MarkReached, Dialled: &one})
	}
}
