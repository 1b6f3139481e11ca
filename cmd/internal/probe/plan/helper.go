package plan

import (
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
)

// HelperHome is the HOME of a helper.
const HelperHome = "/home/user"

// Helper is the plan of a program that serves the probe and is no server: nothing watches it,
// and it has no network and no decoys. tools are programs that it starts.
func Helper(o *Options, tools []string, command ...string) Plan {
	return Plan{
		Version: o.Version, Tracer: TracerNone, Network: NetworkNone, Decoys: &canaries.Set{},
		Server:   Server{Command: command, Tools: tools, Transport: TransportStdio, Dir: "/"},
		Sandbox:  Sandbox{Image: o.Image, Runtime: o.Runtime, AgentPath: o.AgentPath},
		Identity: Identity{User: "user", Home: HelperHome, Hostname: "localhost"},
		Env:      []Variable{{Name: "LANG", Value: "C.UTF-8"}, {Name: "PATH", Value: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}},
	}
}

// Limited is a copy of the plan with other limits.
func (p Plan) Limited(l agent.Limits) Plan {
	p.Sandbox.Limits = l
	return p
}
