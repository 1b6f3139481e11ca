package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
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
		Mode: sinkhole.ModeAnswer, Authority: authority, Replies: p.opts.Replies, AnswerLoopback: p.opts.Network == NetworkLoopback,
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
	if !p.triedLoopback || p.opts.Network != NetworkSinkhole {
		return nil
	}
	if err := dir.Mkdir(loopbackDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make room for the second start: %w", err)
	}
	sub, err := dir.OpenRoot(loopbackDir)
	if err != nil {
		return fmt.Errorf("make room for the second start: %w", err)
	}
	defer sub.Close()
	again := *p
	again.opts.Network = NetworkLoopback
	again.opts.Progress("starting once more, with an answer on the loopback address")
	if again.spec.Network, err = again.network(); err != nil {
		return err
	}
	if err := again.session(ctx, b, sub); err != nil {
		return err
	}
	o.Audit, o.AuditErr = nil, nil
	more, err := judge(sub, o)
	if err != nil {
		return err
	}
	analyze.Add(res, more, "with an answer on the loopback address", o)
	return nil
}
