package run

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/service"
)

// services are the real services of one run.
type services []*service.Service

// startServices starts the services of a plan, each in a sandbox of its own, and returns when
// all of them answer.
func (r Runner) startServices(ctx context.Context, p *plan.Plan) (services, error) {
	started := make(services, len(p.Services))
	errs := make([]error, len(p.Services))
	var all sync.WaitGroup
	for i, name := range p.Services {
		k, err := service.Find(name)
		if err != nil {
			errs[i] = err
			continue
		}
		r.Progress("starting " + k.Title + " beside the server")
		all.Go(func() { started[i], errs[i] = r.startService(ctx, p, k) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, started.close())
	}
	return started, nil
}

func (r Runner) startService(ctx context.Context, p *plan.Plan, k service.Kind) (*service.Service, error) {
	id, err := plan.NewRunID()
	if err != nil {
		return nil, err
	}
	return service.Start(ctx, k, service.Options{
		Backend: r.Backend, Image: p.ServiceImage, Runtime: p.Sandbox.Runtime, UID: UID, RunID: id, AgentPath: p.Sandbox.AgentPath, Contents: p.Contents(k),
	})
}

// serve has a sandbox reach the services.
func (s services) serve(spec *sandbox.Spec) {
	spec.Services = map[string]func(context.Context) (net.Conn, error){}
	for _, one := range s {
		spec.Services[one.Kind.Name] = one.Dial
	}
}

// close ends all of them.
func (s services) close() error {
	errs := make([]error, len(s))
	var all sync.WaitGroup
	for i, one := range s {
		if one != nil {
			all.Go(func() { errs[i] = one.Close() })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}
