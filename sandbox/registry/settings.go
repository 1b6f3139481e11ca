package registry

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Settings are the registries of one user. They hold credentials, which no exported
// field, no method and no format verb shows. They do not change once loaded.
type Settings struct {
	// Registries are in the order in which their tools ask them.
	Registries []Registry
	// FindLinks are directories of this machine in which pip and uv look for archives
	// (absolute, existing): show them to the sandbox at the same path.
	FindLinks []string
	// Unserved are the settings that the proxy cannot honour.
	Unserved []Unserved

	networks map[Tool]*network
	noIndex  map[Tool]bool
	// failed is why the settings of a tool cannot be used.
	failed map[Tool]error
	// npmPassed are settings of npm's without a secret, NAME=VALUE.
	npmPassed []string
	// goHops are GOPROXY without what is not served.
	goHops      []goHop
	goVariables []string
	goSumDB     string
}

// role is what a registry serves.
type role int

const (
	// rolePackuments is an npm registry: JSON that names archives.
	rolePackuments role = iota
	// rolePages is an index of Python packages: PEP 503 and PEP 691.
	rolePages
	// roleLinks is one page that links to archives of Python packages.
	roleLinks
	// roleModules is a module proxy of Go's, roleSums a checksum database.
	roleModules
	roleSums
	// roleFiles holds archives alone.
	roleFiles
	// roleRepository is a git repository.
	roleRepository
)

// Load reads the user's settings for all tools, from the files and variables that the
// tools themselves read, except for those of a project. Settings of one tool that are there
// and cannot be understood are an *Error of NewProxy for that tool: to leave them out could
// ask the wrong registry for a package. What all tools need is an *Error here.
func Load(src Source) (*Settings, error) {
	l := &loader{src: src, env: newEnvironment(src.Env), settings: &Settings{networks: map[Tool]*network{}, noIndex: map[Tool]bool{}, failed: map[Tool]error{}}}
	var err error
	if l.common, err = l.newNetwork(); err != nil {
		return nil, err
	}
	if err := l.readNetrc(); err != nil {
		return nil, err
	}
	l.network(Git)
	for _, t := range []struct {
		tool Tool
		load func() error
	}{{NPM, l.npm}, {Pip, l.pip}, {UV, l.uv}, {Go, l.golang}} {
		if err := t.load(); err != nil {
			l.settings.failed[t.tool] = err
		}
	}
	return l.settings, nil
}

// loader is a Load under way.
type loader struct {
	src      Source
	env      environment
	logins   []login
	common   *network
	settings *Settings
}

// network is that of a tool, the common one at first.
func (l *loader) network(t Tool) *network {
	n := *l.common
	l.settings.networks[t] = &n
	return &n
}

func (l *loader) unserved(u Unserved) {
	u.Setting = settingName(u.Setting)
	if !slices.Contains(l.settings.Unserved, u) {
		l.settings.Unserved = append(l.settings.Unserved, u)
	}
}

// add takes a registry in, unless its tool has the same one.
func (l *loader) add(r Registry) {
	for _, old := range l.settings.Registries {
		if old.Tool == r.Tool && old.Scope == r.Scope && old.role == r.role && old.URL.String() == r.URL.String() {
			return
		}
	}
	l.settings.Registries = append(l.settings.Registries, r)
}

// settingName is the name of a file or variable, or a word for a tool's default.
func settingName(from string) string {
	if from == "" {
		return "default"
	}
	return from
}

// registryURL reads the address of a registry: its path ends in "/", and user is apart.
func registryURL(s string) (u *url.URL, user *url.Userinfo, err error) {
	if len(s) > maxAddress {
		return nil, nil, errAddress
	}
	parsed, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, nil, errAddress
	}
	user = parsed.User
	parsed.User, parsed.RawQuery, parsed.Fragment, parsed.ForceQuery = nil, "", "", false
	if u, err = canonical(parsed); err != nil {
		return nil, nil, err
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path, u.RawPath = u.Path+"/", u.RawPath+"/"
	}
	if password, _ := user.Password(); !safeValue(user.Username()) || !safeValue(password) {
		return nil, nil, errAddress
	}
	return u, user, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return filepath.IsAbs(path) && err == nil && info.IsDir()
}
