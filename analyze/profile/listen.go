package profile

import (
	"path"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// socket is what is known of one of the kernel's sockets, by its name.
type socket struct {
	family   string // "inet", "inet6"
	datagram bool
	// sends says that a call sent something on it.
	sends bool
}

// socket notes a socket of the internet's families.
func (b *Builder) socket(r *trace.Record) {
	if r.OK() && r.Addr != nil && (r.Addr.Family == "inet" || r.Addr.Family == "inet6") && r.Path != "" && len(b.sockets) < maxEffects {
		b.sockets[r.Path] = &socket{family: r.Addr.Family, datagram: strings.Contains(r.Flags, "SOCK_DGRAM")}
	}
}

// sentOn notes that a call sent something on a socket.
func (b *Builder) sentOn(r *trace.Record) {
	if s := b.sockets[r.Path]; s != nil {
		s.sends = true
	}
}

// bind gives a socket its address. A unix socket with a path is a file as well.
func (b *Builder) bind(r *trace.Record) {
	a := r.Addr
	if a == nil || !r.OK() {
		return
	}
	switch a.Family {
	case "inet", "inet6":
		b.listens(r, b.effect(finding.NetListen, target(a), finding.RungOpened, r, b.says(r, "bound "+target(a))), a.Port == 0)
	case "unix":
		if a.Host == "" {
			return // the kernel draws the name: nobody was told it
		}
		b.add(b.effect(finding.NetListen, "unix:"+a.Host, finding.RungOpened, r, b.says(r, "bound the unix socket "+b.short(a.Host))))
		if path.IsAbs(a.Host) {
			b.change(r, finding.FileWrite, a.Host)
		}
	}
}

// bound are the sockets that have a port, in order. at has the latest of each of the
// kernel's names, which are used again.
type bound struct {
	effects []finding.Effect
	at      map[string]int
}

// noPort is the port that the kernel draws. Clients bind it too: a socket that has it waits
// for others only once it listens.
const noPort = "no port yet"

// listens keeps a bound socket in mind until it is known what it is for: one that is
// then connected, as a resolver's is, hears nobody but its peer.
func (b *Builder) listens(r *trace.Record, e finding.Effect, drawn bool) {
	switch {
	case r.Path == "" && drawn:
	case r.Path == "":
		b.add(e)
	case len(b.bound.effects) >= maxEffects:
		b.out.Truncated = true
	default:
		if drawn {
			e.Noise = noPort
		}
		b.bound.at[r.Path] = len(b.bound.effects)
		b.bound.effects = append(b.bound.effects, e)
	}
}

// listen is a socket that waits for others from now on. One without an address gets a
// drawn port of all addresses.
func (b *Builder) listen(r *trace.Record) {
	i, ok := b.bound.at[r.Path]
	switch {
	case !r.OK():
	case ok:
		b.bound.effects[i].Noise = ""
	case b.sockets[r.Path] != nil:
		all := map[string]string{"inet": "0.0.0.0:0", "inet6": "[::]:0"}[b.sockets[r.Path].family]
		b.listens(r, b.effect(finding.NetListen, all, finding.RungOpened, r, b.says(r, "listens on a drawn port of all addresses")), false)
	}
}

// connected takes a socket off the listeners.
func (b *Builder) connected(r *trace.Record) {
	if i, ok := b.bound.at[r.Path]; ok && (r.OK() || r.Err == "EINPROGRESS") {
		b.bound.effects[i].Kind = ""
		delete(b.bound.at, r.Path)
	}
}

// listeners adds the sockets that were bound for others to find.
func (b *Builder) listeners() {
	for _, e := range b.bound.effects {
		if e.Kind != "" && e.Noise != noPort {
			b.add(e)
		}
	}
}

// merelyConnected reports whether a call only named a peer to a socket of datagrams: no
// packet is sent for it. Programs ask the kernel so which of their addresses leads there.
func (b *Builder) merelyConnected(d *dial) bool {
	s := b.sockets[d.socket]
	return b.ctx.Flows && s != nil && s.datagram && !s.sends && !d.used
}

// maxPipes bounds the named pipes that are remembered.
const maxPipes = 64

// pipe notes a named pipe.
func (b *Builder) pipe(r *trace.Record) {
	if r.OK() && strings.HasPrefix(r.Flags, "S_IFIFO") && len(b.pipes) < maxPipes {
		b.pipes[r.Path] = true
	}
}

// opens notes that a named pipe of the server's was given to every user of the machine: who writes to it speaks to
// the server.
func (b *Builder) opens(r *trace.Record) {
	mode, err := strconv.ParseUint(r.Flags, 8, 32)
	if r.OK() && b.pipes[r.Path] && err == nil && mode&0o002 != 0 {
		b.add(b.effect(finding.NetListen, "pipe:"+r.Path, finding.RungOpened, r, b.says(r, "let everyone write to the named pipe "+b.short(r.Path))))
	}
}
