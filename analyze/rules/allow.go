package rules

import (
	"net/url"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
)

// listName is one of a policy's four lists.
type listName string

const (
	listFiles    listName = "files"
	listHosts    listName = "hosts"
	listCommands listName = "commands"
	listEnv      listName = "env"
)

// want is what an effect needs a policy's leave for.
type want struct {
	list  listName
	name  string
	write bool
}

// wants are what a policy can say of an effect: a secret that left needs leave
// for its place and for its way. Of other kinds of effect no policy speaks.
func (r *Run) wants(e *finding.Effect) []want {
	switch e.Kind {
	case finding.FileRead:
		return []want{{listFiles, e.Target, false}}
	case finding.FileWrite, finding.FileDelete, finding.FileMeta:
		return []want{{listFiles, e.Target, true}}
	case finding.Exec:
		return []want{{listCommands, e.Target, false}}
	case finding.NetConnect:
		if !leaving(e) {
			return nil
		}
		return []want{{listHosts, peer(e), false}}
	case finding.Secret:
		return r.secretWants(e)
	}
	return nil
}

// inside are the wants of what stays on the machine: they need no leave, and a policy may deny them.
func inside(e *finding.Effect) []want {
	switch {
	case e.Kind == finding.UnixSocket:
		return []want{{listFiles, e.Target, true}}
	case e.Kind == finding.NetConnect && !leaving(e):
		port := strings.TrimPrefix(e.Target, "loopback:")
		return []want{{listHosts, "localhost:" + port, true}, {listHosts, "127.0.0.1:" + port, true}}
	}
	return nil
}

func (r *Run) secretWants(e *finding.Effect) []want {
	c, ok := r.Canaries[e.Target]
	if !ok {
		return nil
	}
	var out []want
	switch {
	case c.Path != "":
		out = append(out, want{listFiles, c.Path, false})
	case c.Env != "":
		out = append(out, want{listEnv, c.Env, false})
	default:
		if u, err := url.Parse(c.URL); err == nil && u.Host != "" {
			out = append(out, want{listHosts, u.Host, false})
		}
	}
	if e.Rung == finding.RungLeft && e.Host != "" {
		out = append(out, want{listHosts, e.Host, false})
	}
	return out
}

// askedName is the name that a question to a name server was for, if the effect is one.
func askedName(e *finding.Effect) (name string, ok bool) { return strings.CutPrefix(e.Target, "dns:") }

// peer is whom an effect reached for, without the channel: "dns:name" is the name.
func peer(e *finding.Effect) string {
	if name, ok := askedName(e); ok {
		if e.Host != "" && strings.HasPrefix(name, "*.") {
			return e.Host
		}
		return name
	}
	return e.Target
}

// ruling is what a policy says of one want.
type ruling struct {
	denied, allowed *policy.Item
	// outside says that a list was given in which it does not stand.
	outside bool
}

// verdict asks the tool's entry and the server's, which adds to it. What could be
// another call's is allowed by any entry that allows it.
func (r *Run) verdict(e *finding.Effect, w want) ruling {
	entry := r.Policy.Server
	if e.Tool != "" {
		entry, _ = r.Policy.Tool(e.Tool)
	}
	var v ruling
	for _, l := range r.Policy.Denied(e.Tool) {
		if v.denied == nil {
			v.denied = r.find(l, w)
		}
	}
	for _, l := range []policy.Lists{entry.Allow, r.Policy.Server.Allow} {
		if v.allowed == nil {
			v.allowed = r.find(l, w)
		}
	}
	if v.allowed == nil && (e.Ambiguous || e.Tool == "" && e.Phase.Unpinned()) {
		for _, t := range r.Policy.Tools {
			if it := r.find(t.Allow, w); it != nil {
				v.allowed = it
				break
			}
		}
	}
	v.outside = v.allowed == nil && of(entry.Allow, w.list) != nil
	return v
}

func of(l policy.Lists, name listName) policy.List {
	switch name {
	case listFiles:
		return l.Files
	case listHosts:
		return l.Hosts
	case listCommands:
		return l.Commands
	default:
		return l.Env
	}
}

// Places are the run's directories as a policy names them.
func (r *Run) Places() policy.Places {
	return policy.Places{Home: r.Home, Server: r.ServerDir, Workspaces: r.Workspaces}
}

func (r *Run) find(l policy.Lists, w want) *policy.Item {
	switch w.list {
	case listFiles:
		return l.Files.File(r.Places(), w.name, w.write)
	case listHosts:
		return l.Hosts.Host(w.name)
	case listCommands:
		return l.Commands.Command(r.Places(), w.name)
	default:
		return l.Env.Environment(w.name)
	}
}

// allowedEffects are the effects all of whose wants the policy allows, nil without a policy.
func (r *Run) allowedEffects() []bool {
	if r.Policy == nil {
		return nil
	}
	out := make([]bool, len(r.Profile.Effects))
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		ws := r.wants(e)
		out[i] = len(ws) > 0
		for _, w := range ws {
			if v := r.verdict(e, w); v.denied != nil || v.allowed == nil {
				out[i] = false
			}
		}
	}
	return out
}
