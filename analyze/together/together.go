package together

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// Schema is the version of what is written of a Set.
const Schema = "coalmine/together/v1"

// Role is what a tool can do for a flow.
type Role string

// The roles of a flow, in its order.
const (
	Brings Role = "brings" // brings in text that others write
	Reads  Role = "reads"  // reads what is secret
	Sends  Role = "sends"  // sends to where others listen
)

// Roles are all roles, in the order of a flow.
var Roles = []Role{Brings, Reads, Sends}

// Part is a tool in a role.
type Part struct {
	Role   Role   `json:"role"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// Seen says that the tool did so in the run; else it only declares it.
	Seen bool `json:"seen"`
	// Why is a phrase: what was seen, or what declares it.
	Why string `json:"why"`
}

// Set is what the servers of one configuration make possible.
type Set struct {
	Schema string `json:"schema"`
	// Toxic says that all three roles are there, and not in one server alone.
	Toxic bool `json:"toxic"`
	// Parts are the tools of each role, the seen ones first.
	Parts []Part `json:"parts"`
	// Shadows says which names and texts of one server stand in the way of another's.
	Shadows []Shadow `json:"shadows"`
}

// Shadow is a declaration of one server that concerns a tool of another.
type Shadow struct {
	Server string `json:"server"`
	Text   string `json:"text"`
	// Severity is low for a name that two servers have, medium for a description that
	// speaks of another server's tool, and high where it also instructs the model.
	Severity finding.Severity `json:"severity"`
}

// Server is one of the configuration, with its judged run.
type Server struct {
	Name   string
	Result *analyze.Result
}

// Judge judges servers as one.
func Judge(servers []Server) *Set {
	s := &Set{Schema: Schema, Parts: []Part{}, Shadows: []Shadow{}}
	with := map[Role]map[string]bool{}
	for _, server := range servers {
		for _, p := range parts(server) {
			if with[p.Role] == nil {
				with[p.Role] = map[string]bool{}
			}
			with[p.Role][p.Server] = true
			s.Parts = append(s.Parts, p)
		}
	}
	slices.SortStableFunc(s.Parts, func(a, b Part) int {
		if d := slices.Index(Roles, a.Role) - slices.Index(Roles, b.Role); d != 0 {
			return d
		}
		switch {
		case a.Seen == b.Seen:
			return 0
		case a.Seen:
			return -1
		}
		return 1
	})
	all := map[string]bool{}
	for _, role := range Roles {
		if len(with[role]) == 0 {
			return s
		}
		for name := range with[role] {
			all[name] = true
		}
	}
	s.Toxic = len(all) > 1
	return s
}

// parts are the roles of a server's tools, each once.
func parts(s Server) (out []Part) {
	for i := range s.Result.Declared.Tools {
		t := &s.Result.Declared.Tools[i]
		seen := observed(s.Result, t.Name)
		said := declared(t)
		for _, role := range Roles {
			if why := seen[role]; why != "" {
				out = append(out, Part{role, s.Name, t.Name, true, why})
			} else if why := said[role]; why != "" {
				out = append(out, Part{role, s.Name, t.Name, false, why})
			}
		}
	}
	return out
}

// observed is what a tool did in its calls, and nobody else can have done.
func observed(res *analyze.Result, tool string) map[Role]string {
	out := map[Role]string{}
	for i := range res.Observed {
		e := &res.Observed[i]
		if e.Tool != tool || e.Phase != finding.PhaseCall || e.Ambiguous || e.Noise != "" {
			continue
		}
		switch {
		case e.Kind == finding.Secret && e.Rung.Rank() >= finding.RungRead.Rank():
			keep(out, Reads, "read the decoy "+e.Target)
		case e.Kind == finding.NetConnect && outside(e):
			host := e.Host
			if host == "" {
				host = e.Target
			}
			keep(out, Brings, "asked "+host)
			keep(out, Sends, "asked "+host)
		}
	}
	return out
}

func keep(out map[Role]string, role Role, why string) {
	if out[role] == "" {
		out[role] = why
	}
}

// outside tells another machine from this one.
func outside(e *finding.Effect) bool {
	if e.Host != "" {
		return e.Host != "localhost" && !strings.HasSuffix(e.Host, ".localhost")
	}
	host, _, err := net.SplitHostPort(e.Target)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.Unmap().IsLoopback()
}

// declared is what a tool says that it can do.
func declared(t *scope.Tool) map[Role]string {
	out := map[Role]string{}
	readOnly := t.ReadOnly != nil && *t.ReadOnly
	network := ""
	switch {
	case len(t.URLs) > 0:
		network = "takes the address " + t.URLs[0]
	case len(t.Network) > 0:
		network = claim(t.Network[0])
	case t.OpenWorld != nil && *t.OpenWorld:
		network = "annotation: openWorldHint=true"
	}
	if network != "" {
		keep(out, Brings, network)
		// An address that is chosen carries text away, whatever is done there.
		if len(t.URLs) > 0 || !readOnly {
			keep(out, Sends, network)
		}
	}
	switch {
	case len(t.Environment) > 0:
		keep(out, Reads, claim(t.Environment[0]))
	case len(t.Paths) > 0 && len(t.Confined) == 0 && (readOnly || len(t.Write)+len(t.Delete) == 0):
		keep(out, Reads, "takes the path "+t.Paths[0])
	}
	return out
}

func claim(c scope.Claim) string { return c.Where + ": " + c.Text }
