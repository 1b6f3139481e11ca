package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// HelperHome is the HOME of a helper.
const HelperHome = "/home/user"

// Helper is a program that serves the probe and is no server.
type Helper struct {
	// Command starts it, and Tools are programs that it starts.
	Command, Tools []string
	// Dir is its working directory, "" for the root.
	Dir string
	// Env are its variables beside those that any helper has, "NAME=VALUE".
	Env    []string
	Files  []rootfs.File
	Limits agent.Limits
}

// Plan is the plan of the helper's run: nothing watches it, and it has no network and no decoys.
func (h Helper) Plan(o *Options) Plan {
	p := Plan{
		Version: o.Version, Tracer: TracerNone, Network: NetworkNone, Decoys: canaries.FromCanaries(nil), Files: h.Files, Drive: Drive{Kind: DriveHelper},
		Server:   Server{Command: h.Command, Tools: h.Tools, Transport: TransportStdio, Dir: cmp.Or(h.Dir, "/")},
		Sandbox:  Sandbox{Image: o.Image, Runtime: o.Runtime, AgentPath: o.AgentPath, Limits: h.Limits},
		Identity: Identity{User: "user", Home: HelperHome, Hostname: "localhost"},
		Env:      []Variable{{Name: "LANG", Value: "C.UTF-8"}, {Name: "PATH", Value: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}},
	}
	p.Redactor, p.Unredacted = redactor(o.passed())
	for _, kv := range h.Env {
		name, value, _ := strings.Cut(kv, "=")
		p.Env = setEnv(p.Env, Variable{Name: name, Value: value})
	}
	slices.SortFunc(p.Env, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return p
}
