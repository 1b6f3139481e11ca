package probe

import (
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// network is the sinkhole of a run, nil where there is to be no network.
func (p *plan) network() (*agent.Network, error) {
	if p.opts.Network == NetworkNone {
		return nil, nil
	}
	authority, err := sinkhole.NewAuthority()
	if err != nil {
		return nil, err
	}
	n := &agent.Network{Sinkhole: sinkhole.Config{
		Mode: sinkhole.ModeAnswer, Authority: authority,
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
