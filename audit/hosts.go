package audit

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxHosts bounds the hosts of a file that are named.
const maxHosts = 8

// addressed begins an address. The host ends at what follows it.
var addressed = lazyregexp.New(`^(?i)(?:https?|wss?|ftps?|redis|mongodb(?:\+srv)?|postgres(?:ql)?|mysql|amqps?)://(?:[^/?#@]*@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)`)

// addressOptions are the names of what holds an address among arguments and options.
var addressOptions = words("url uri base_url baseURL baseUrl endpoint endpoint_url host hostname prefixUrl")

// hostOf is the host that a call of the network names: in a constant among its arguments, or in the
// constant that an address begins with, which may have a name (BASE + path).
func (e *fileEffects) hostOf(c *lang.CallSite) string {
	for i, arg := range c.Call.Args {
		if options, ok := arg.Value.(lang.Collection); ok && options.Kind == lang.Dict {
			for _, it := range options.Items {
				if k, ok := it.Key.(lang.Const); ok && addressOptions[k.Text] {
					if h := e.hostIn(it.Value, c.In); h != "" {
						return h
					}
				}
			}
			continue
		}
		if arg.Name == "" && i < 3 || addressOptions[arg.Name] {
			if h := e.hostIn(arg.Value, c.In); h != "" {
				return h
			}
		}
	}
	return objectOf(sinks.Network, &c.Call)
}

// hostIn is the host of the address that an expression begins with, "" where it is not known to its end.
func (e *fileEffects) hostIn(x lang.Expr, in *lang.Scope) string {
	if e.texts == nil {
		e.texts = lang.TextsOf(e.file)
	}
	text, isAll := e.texts.Beginning(x, in)
	m := addressed.FindStringSubmatch(text)
	if m == nil || !isAll && len(m[0]) == len(text) {
		return ""
	}
	return shown(strings.Trim(m[1], "[]"))
}

// host keeps a host that a call of the network names.
func (e *fileEffects) host(name string, at lang.Pos) {
	name = strings.ToLower(name)
	if !strings.Contains(name, ".") && !strings.Contains(name, ":") || isLoopback(name) || slices.Contains(e.hosts, name) {
		return
	}
	if len(e.hosts) == 0 {
		e.hostAt = at
	}
	e.hosts = append(e.hosts, name)
}

// tellHosts reports the hosts of a file. A public address without a name is more than a note.
func (e *fileEffects) tellHosts() {
	if len(e.hosts) == 0 {
		return
	}
	sev, what := finding.Info, "calls name the hosts: "
	for _, h := range e.hosts {
		if ip, err := netip.ParseAddr(h); err == nil && ip.IsGlobalUnicast() && !ip.IsPrivate() {
			sev, what = finding.Low, "calls name hosts, one by its address alone: "
		}
	}
	more := ""
	if n := len(e.hosts) - maxHosts; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	e.add(HostHardcoded, sev, e.hostAt, what+strings.Join(e.hosts[:min(len(e.hosts), maxHosts)], ", ")+more, "")
}
