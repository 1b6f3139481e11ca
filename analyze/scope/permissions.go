package scope

import (
	"encoding/json"
	"errors"
	"strings"
)

// permissions is ToolHive's permission profile.
type permissions struct {
	Read, Write []string
	Network     *struct {
		Outbound *struct {
			All   bool     `json:"insecure_allow_all"`
			Hosts []string `json:"allow_host"`
		}
	}
}

// errNoPermissions says that a file of that name is something else.
var errNoPermissions = errors.New("no list of permissions")

// readToolHive reads a permission profile, alone or as an entry's member.
func readToolHive(data []byte) (manifest, error) {
	var f struct {
		permissions
		Permissions *permissions
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return manifest{}, err
	}
	p := &f.permissions
	if f.Permissions != nil {
		p = f.Permissions
	}
	if p.Network == nil && p.Read == nil && p.Write == nil {
		return manifest{}, errNoPermissions
	}
	var m manifest
	m.permit(p)
	return m, nil
}

// permit takes in a permission profile. One that says nothing of the network
// leaves it open here: what enforces it decides.
func (m *manifest) permit(p *permissions) {
	if p == nil {
		return
	}
	m.paths = append(append(m.paths, mounted(p.Read)...), mounted(p.Write)...)
	if p.Network == nil || p.Network.Outbound == nil {
		return
	}
	switch out := p.Network.Outbound; {
	case out.All:
		m.hosts = append(m.hosts, "any")
	case len(out.Hosts) > 0:
		m.only = append(m.only, out.Hosts...)
	default:
		m.noNetwork = true
	}
}

// mounted are the places within of mounts, "host:container" or one path for both.
func mounted(mounts []string) []string {
	var out []string
	for _, m := range mounts {
		if i := strings.LastIndex(m, ":/"); i >= 0 {
			m = m[i+1:]
		}
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(m, "//"), ":ro"))
	}
	return out
}

// readSandbox reads a client's own sandbox of the server.
func readSandbox(data []byte) (manifest, error) {
	var f struct{ AllowWrite, AllowedDomains []string }
	if err := json.Unmarshal(data, &f); err != nil {
		return manifest{}, err
	}
	return manifest{paths: f.AllowWrite, only: f.AllowedDomains, noNetwork: f.AllowedDomains != nil && len(f.AllowedDomains) == 0}, nil
}
