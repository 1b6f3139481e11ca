package rules

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// deedOn says where an effect that is no change of a file belongs in the table of severities.
func (r *Run) deedOn(e *finding.Effect) (place, deed) {
	switch e.Kind {
	case finding.Exec:
		if r.isTalker(e) {
			return placeTalker, actRan
		}
		return placeProgram, actRan
	case finding.NetConnect:
		switch {
		case !leaving(e) && isDebugPort(strings.TrimPrefix(e.Target, "loopback:")):
			return placeSession, actReached
		case !leaving(e):
			return placePort, actReached
		case r.gotArguments(e):
			return placeCopied, actReached
		}
		return placeHost, actReached
	case finding.NetListen:
		if a, err := netip.ParseAddrPort(e.Target); err == nil && !a.Addr().IsLoopback() {
			return placeOpen, actListens
		} else if strings.HasPrefix(e.Target, "unix:") {
			return placeSocket, actListens
		}
		return placePort, actListens
	case finding.UnixSocket:
		if sessionWords(e.Target) != nil {
			return placeSession, actReached
		}
		return placeSocket, actReached
	case finding.Statement:
		if e.Told.Does != trace.StatementWrites && e.Told.Does != trace.StatementReads && r.held(e) {
			return placeHeld, actRemoved
		}
		return placeService, actTold
	case finding.Tamper:
		return placeKernel, actTouched
	case finding.Secret:
		if e.Rung.Rank() >= finding.RungReturned.Rank() {
			return placeSecretOut, actGave
		}
		return placeSecret, actOpened
	}
	return r.placeOfOpen(e), actOpened
}

// placeOfOpen is the place of a file that was opened.
func (r *Run) placeOfOpen(e *finding.Effect) place {
	switch {
	case r.isDocument(e.Target) && r.inAWorkspace(e.Target):
		return placeWorkspace
	case r.isDocument(e.Target) && r.stood(e.Target):
		return placeHome
	case r.isPrivate(e.Target) && !r.walks(e):
		return placePrivate
	}
	return placeOthers
}

// isTalker reports whether a program is one for the network, and no declaration of those whose work it
// may be speaks of a network.
func (r *Run) isTalker(e *finding.Effect) bool {
	return networkPrograms[path.Base(e.Target)] && !asksVersion(e.Argv) &&
		!slices.ContainsFunc(r.whoMayRead(e), func(t *scope.Tool) bool { return scope.AnyShown(t.Network) && !t.ClaimsLocal() })
}

// gotArguments reports whether the peer of an effect was sent what the call was given, neither a
// declaration nor the call nor the user names it, no word says that something is handed on, and nothing
// shows that the answer needs it.
func (r *Run) gotArguments(e *finding.Effect) bool {
	hosts := hostsOf(e)
	if slices.ContainsFunc(hosts, func(h string) bool {
		return r.knowsPeer(e.Call, e.Tool, h) || r.isNamesake(h) || isNearby(h) && r.saysNearby(e.Tool)
	}) {
		return false
	}
	return !r.shown(e.Tool, deliverWords) && slices.ContainsFunc(r.Profile.Carried, func(c profile.Carried) bool {
		return c.Call == e.Call && c.Via != "dns" && (c.Peer == e.Target || c.Host != "" && slices.Contains(hosts, c.Host)) && !r.needed(&c)
	})
}

// sessions are parts of sockets by which a program sees and controls what the user does, or the whole
// machine, with the words by which a server declares to do so.
var sessions = []struct {
	part  string
	words []string
}{
	{".X11-unix/", screenWords}, {"/wayland-", screenWords}, {"/pulse/native", soundWords}, {"/pipewire-", soundWords},
	{"snapd.socket", []string{"snap", "snaps", "snapd"}}, {"lxd/unix.socket", []string{"lxd", "lxc", "containers"}}, {"libvirt-sock", []string{"libvirt", "qemu", "vm", "vms", "virtual"}},
}

var (
	screenWords = []string{"screen", "screens", "screenshot", "screenshots", "desktop", "window", "windows", "clipboard", "mouse", "keyboard", "browser", "display", "gui", "x11", "wayland"}
	soundWords  = []string{"audio", "sound", "sounds", "voice", "speech", "speak", "speaks", "microphone", "music", "volume", "play", "plays", "record", "records"}
)

// sessionWords are the words that declare the use of such a socket, nil for any other.
func sessionWords(target string) []string {
	for _, s := range sessions {
		if strings.Contains(target, s.part) {
			return s.words
		}
	}
	return nil
}

// privatePlaces are below HOME where programs keep what people wrote to each other or looked at.
var privatePlaces = []string{
	".thunderbird", ".config/evolution", ".local/share/evolution", "Mail", "Maildir", ".mutt", ".config/Signal", ".config/Slack", ".config/discord", ".config/Element", ".config/TelegramDesktop", ".local/share/TelegramDesktop",
	".purple", ".weechat", ".irssi", ".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
}

// isPrivate reports whether a file lies in a place of a person's own records: of the user's, or of
// another user's.
func (r *Run) isPrivate(p string) bool {
	if below, ok := strings.CutPrefix(p, r.Home+"/"); ok && r.Home != "" {
		return slices.ContainsFunc(privatePlaces, func(dir string) bool { return within(below, dir) })
	}
	return !r.inAWorkspace(p) && !within(p, r.ServerDir) && !within(r.ServerDir, p) &&
		slices.ContainsFunc([]string{"/home/", "/root/", "/Users/", "/var/mail/", "/var/spool/mail/"}, func(dir string) bool { return strings.HasPrefix(p, dir) })
}
