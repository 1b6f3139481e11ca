package registry

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path"
	"strings"
)

// Client is what makes one tool use a proxy. It holds no credential.
type Client struct {
	// Env are variables, NAME=VALUE, to be added to an otherwise clean environment.
	Env []string
	// Files are to be written before the tool starts; the tool only reads them.
	Files []File
}

// File is a file of a client's configuration.
type File struct {
	// Path is absolute: below the directory that was given to Proxy.Client.
	Path string
	Data []byte
	Mode fs.FileMode
}

// goAlias is a host that stands for one on loopback, for which the go command would ask
// no proxy.
func goAlias(i int, port string) string {
	return net.JoinHostPort(fmt.Sprintf("module-proxy-%d.invalid", i), port)
}

// Client configures a tool: addr ("127.0.0.1:3128") is where the tool reaches the proxy,
// and dir an absolute directory, as the tool sees it, in which the files will lie.
// It switches the tool's own configuration files off, except for those of a project.
func (p *Proxy) Client(t Tool, addr, dir string) Client {
	ca := path.Join(dir, "ca.pem")
	proxy := "http://" + addr
	c := Client{Files: []File{{ca, p.authority.PEM(), 0o444}}}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		c.Env = append(c.Env, name+"="+proxy)
	}
	c.Env = append(c.Env, "NO_PROXY=", "no_proxy=", "SSL_CERT_FILE="+ca)
	switch t {
	case NPM:
		p.npmClient(&c, proxy, ca, dir)
	case Pip:
		p.pipClient(&c, proxy, ca)
	case UV:
		p.uvClient(&c)
	case Go:
		p.goClient(&c)
	case Git:
		gitClient(&c, proxy, ca)
	}
	return c
}

// of are the registries of a tool.
func (p *Proxy) of(t Tool) []Registry {
	var out []Registry
	for _, r := range p.allow.registries {
		if r.Tool == t {
			out = append(out, r)
		}
	}
	return out
}

func (p *Proxy) npmClient(c *Client, proxy, ca, dir string) {
	var rc strings.Builder
	for _, r := range p.of(NPM) {
		switch {
		case r.role != rolePackuments:
		case r.Scope == "":
			c.Env = append(c.Env, "npm_config_registry="+shown(r.URL))
		default:
			fmt.Fprintf(&rc, "%s:registry=%s\n", r.Scope, shown(r.URL))
		}
	}
	for _, setting := range p.settings.npmPassed {
		fmt.Fprintln(&rc, setting)
	}
	user, global := path.Join(dir, "npmrc"), path.Join(dir, "npmrc-global")
	c.Files = append(c.Files, File{user, []byte(rc.String()), 0o444}, File{global, nil, 0o444})
	// Variables are stronger than the .npmrc of a project.
	c.Env = append(c.Env,
		"npm_config_userconfig="+user, "npm_config_globalconfig="+global,
		"npm_config_proxy="+proxy, "npm_config_https_proxy="+proxy, "npm_config_cafile="+ca, "npm_config_strict_ssl=true",
		"npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false", "NODE_EXTRA_CA_CERTS="+ca)
}

// indexes are the indexes of a Python tool: the addresses of packages, and of pages of links.
func (p *Proxy) indexes(t Tool) (indexes []Registry, links []string) {
	for _, r := range p.of(t) {
		switch r.role {
		case rolePages:
			indexes = append(indexes, r)
		case roleLinks:
			links = append(links, shown(r.URL))
		}
	}
	return indexes, append(links, p.settings.FindLinks...)
}

func (p *Proxy) pipClient(c *Client, proxy, ca string) {
	c.Env = append(c.Env,
		"PIP_CONFIG_FILE=/dev/null", "PIP_PROXY="+proxy, "PIP_CERT="+ca, "REQUESTS_CA_BUNDLE="+ca,
		"PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_KEYRING_PROVIDER=disabled")
	indexes, links := p.indexes(Pip)
	var further, plain []string
	for i, r := range indexes {
		address := strings.TrimSuffix(shown(r.URL), "/")
		if i == 0 {
			c.Env = append(c.Env, "PIP_INDEX_URL="+address)
		} else {
			further = append(further, address)
		}
		if r.URL.Scheme == "http" {
			plain = append(plain, r.URL.Host)
		}
	}
	if len(indexes) == 0 {
		c.Env = append(c.Env, "PIP_NO_INDEX=1")
	}
	for _, v := range []struct {
		name   string
		values []string
	}{{"PIP_EXTRA_INDEX_URL", further}, {"PIP_TRUSTED_HOST", plain}, {"PIP_FIND_LINKS", links}} {
		if len(v.values) > 0 {
			c.Env = append(c.Env, v.name+"="+strings.Join(v.values, " "))
		}
	}
}

func (p *Proxy) uvClient(c *Client) {
	c.Env = append(c.Env, "UV_NO_CONFIG=1", "UV_KEYRING_PROVIDER=disabled", "UV_PYTHON_DOWNLOADS=never")
	indexes, links := p.indexes(UV)
	var list []string
	for i, r := range indexes {
		address := strings.TrimSuffix(shown(r.URL), "/")
		if r.Scope != "" {
			address = r.Scope + "=" + address
		}
		if i == len(indexes)-1 { // the one that is asked last
			c.Env = append(c.Env, "UV_DEFAULT_INDEX="+address)
		} else {
			list = append(list, address)
		}
	}
	if len(indexes) == 0 {
		c.Env = append(c.Env, "UV_NO_INDEX=1")
	}
	if len(list) > 0 {
		c.Env = append(c.Env, "UV_INDEX="+strings.Join(list, " "))
	}
	if len(links) > 0 {
		c.Env = append(c.Env, "UV_FIND_LINKS="+strings.Join(links, ","))
	}
}

func (p *Proxy) goClient(c *Client) {
	var list strings.Builder
	for i, hop := range p.settings.goHops {
		place := hop.place
		if hop.url != nil {
			place = strings.TrimSuffix(shown(p.goAddress(hop.url)), "/")
		}
		list.WriteString(place)
		switch {
		case i == len(p.settings.goHops)-1:
		case hop.always:
			list.WriteByte('|')
		default:
			list.WriteByte(',')
		}
	}
	if list.Len() == 0 {
		list.WriteString("off")
	}
	c.Env = append(c.Env, p.settings.goVariables...)
	c.Env = append(c.Env, "GOENV=off", "GOAUTH=off", "GOVCS=*:off", "GOFLAGS=", "GOPROXY="+list.String(), "GOSUMDB="+p.settings.goSumDB)
}

// goAddress is how the go command has to call a module proxy.
func (p *Proxy) goAddress(u *url.URL) *url.URL {
	for alias, host := range p.aliases {
		if host == u.Host {
			c := *u
			c.Host = alias
			return &c
		}
	}
	return u
}

func gitClient(c *Client, proxy, ca string) {
	settings := [][2]string{
		{"http.proxy", proxy}, {"http.sslCAInfo", ca}, {"http.followRedirects", "initial"},
		{"protocol.allow", "never"}, {"protocol.https.allow", "always"},
		{"core.hooksPath", "/dev/null"}, {"credential.helper", ""},
	}
	c.Env = append(c.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_SSL_CAINFO="+ca,
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	for i, s := range settings {
		c.Env = append(c.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
}
