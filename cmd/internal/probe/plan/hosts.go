package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/service"
)

// maxHosts bounds the names of hosts that a plan takes along.
const maxHosts = 1000

var (
	// dotted is a host's name of several labels, as texts have it.
	dotted = regexp.MustCompile(`(?i)\b[a-z0-9_](?:[a-z0-9_-]{0,62}\.)+[a-z][a-z0-9-]{0,62}\b`)
	// addressed is the host of a URL, behind its user.
	addressed = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,15}://(?:[^\s/@?#"']{0,200}@)?([a-z0-9_][a-z0-9_.-]{0,252})`)
)

// hosts are the names of hosts that the command, the environment and the server's own
// files name, in lower case: they may exist, whatever they look like.
func (p *Plan) hosts() []string {
	texts := slices.Concat(p.Server.Command, p.Drive.Hints.Literals.Texts)
	for _, v := range p.Env {
		texts = append(texts, v.Value)
	}
	for _, m := range p.Server.Manifests {
		texts = append(texts, m.Text)
	}
	seen := map[string]bool{}
	var out []string
	add := func(name string) {
		name = strings.ToLower(strings.Trim(name, "."))
		if name != "" && len(name) <= 253 && !seen[name] && len(out) < maxHosts {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, name := range p.Services {
		if k, err := service.Find(name); err == nil {
			for _, host := range k.Hosts {
				add(host)
			}
		}
	}
	for _, text := range texts {
		for _, m := range addressed.FindAllStringSubmatch(text, maxHosts) {
			add(m[1])
		}
		for _, name := range dotted.FindAllString(text, maxHosts) {
			add(name)
		}
	}
	return out
}
