package registry

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// pypi is the index of pip and uv where no setting names another.
const pypi = "https://pypi.org/simple/"

// publicFiles are the hosts on which public indexes keep their archives. Who configures
// such an index means them too.
var publicFiles = map[string]string{
	"pypi.org:443":      "https://files.pythonhosted.org/",
	"test.pypi.org:443": "https://test-files.pythonhosted.org/",
}

// parsePipConf reads a configuration file of pip's as Python's configparser does:
// sections, "key = value" or "key: value", values that go on in indented lines, and
// comments in lines of their own. Names are as pip compares them. ok is false for a
// line that is none of these; line is its number.
func parsePipConf(data []byte) (sections map[string]map[string]string, line int, ok bool) {
	sections = map[string]map[string]string{}
	var section map[string]string
	name := ""
	for raw := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		line++
		text := strings.TrimSpace(raw)
		switch {
		case text != "" && (text[0] == '#' || text[0] == ';'):
		case text == "":
			if name != "" {
				section[name] += "\n"
			}
		case name != "" && (raw[0] == ' ' || raw[0] == '\t'):
			section[name] += "\n" + text
		case text[0] == '[':
			title, _, closed := strings.Cut(text[1:], "]")
			if !closed {
				return nil, line, false
			}
			if section = sections[title]; section == nil {
				section = map[string]string{}
				sections[title] = section
			}
			name = ""
		default:
			at := strings.IndexAny(text, "=:")
			if section == nil || at <= 0 {
				return nil, line, false
			}
			name = pipName(strings.TrimSpace(text[:at]))
			section[name] = strings.TrimSpace(text[at+1:])
		}
	}
	return sections, line, true
}

// pipName is the name of a setting as pip compares it.
func pipName(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(s), "_", "-"), "--")
}

// pipSetting is a value of pip's settings and the file or variable it is from.
type pipSetting struct{ value, from string }

// words splits a setting of several values.
func (s pipSetting) words() []string { return strings.Fields(s.value) }

// pipFiles are the configuration files of pip, the weakest first.
func (l *loader) pipFiles() []string {
	own := l.env["PIP_CONFIG_FILE"]
	if own == "/dev/null" {
		return nil
	}
	var files []string
	for _, dir := range l.configDirs() {
		files = append(files, filepath.Join(dir, "pip", "pip.conf"))
	}
	files = append(files, l.src.System+"/etc/pip.conf", filepath.Join(l.src.Home, ".pip", "pip.conf"), filepath.Join(l.configHome(), "pip", "pip.conf"))
	for _, prefix := range append(slices.Clone(l.src.Prefixes), l.env["VIRTUAL_ENV"]) {
		if prefix != "" {
			files = append(files, filepath.Join(prefix, "pip.conf"))
		}
	}
	return append(files, own)
}

// configDirs are the system's directories of settings, the weakest first.
func (l *loader) configDirs() []string {
	list := l.env["XDG_CONFIG_DIRS"]
	if list == "" {
		list = l.src.System + "/etc/xdg"
	}
	dirs := filepath.SplitList(list)
	slices.Reverse(dirs)
	return dirs
}

func (l *loader) configHome() string {
	if dir := l.env["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(l.src.Home, ".config")
}

// pipSettings are pip's settings of all levels, as "pip install" and "pip download"
// take them.
func (l *loader) pipSettings() (map[string]pipSetting, error) {
	out := map[string]pipSetting{}
	bySection := map[string]map[string]pipSetting{"global": {}, "download": {}, "install": {}}
	for _, path := range l.pipFiles() {
		data, err := readFile(path)
		if err != nil {
			return nil, err
		}
		sections, line, ok := parsePipConf(data)
		if !ok {
			return nil, badFile(path, line, "no section and no setting")
		}
		for title, into := range bySection {
			for name, value := range sections[title] {
				into[name] = pipSetting{value, path}
			}
		}
	}
	for _, title := range []string{"global", "download", "install"} {
		for name, s := range bySection[title] {
			out[name] = s
		}
	}
	for variable, value := range l.env {
		if name, ok := strings.CutPrefix(variable, "PIP_"); ok && value != "" {
			out[pipName(name)] = pipSetting{value, variable}
		}
	}
	return out, nil
}

// pipTrue reports whether a switch is on.
func pipTrue(s pipSetting) bool {
	return slices.Contains([]string{"1", "y", "yes", "t", "true", "on"}, strings.ToLower(s.value))
}

// pip adds pip's indexes.
func (l *loader) pip() error {
	s, err := l.pipSettings()
	if err != nil {
		return err
	}
	if err := l.pipNetwork(s); err != nil {
		return err
	}
	if k := s["keyring-provider"]; k.value != "" && k.value != "disabled" && k.value != "auto" {
		l.unserved(Unserved{Tool: Pip, Setting: k.from, What: "passwords from a keyring", Remedy: "put the index's user and password into ~/.netrc, or into its address", Fallback: true})
	}
	if pipTrue(s["no-index"]) {
		l.settings.noIndex[Pip] = true
	} else {
		main := s["index-url"]
		if main.value == "" {
			main.value = pypi
		}
		if err := l.index(Pip, "", main); err != nil {
			return err
		}
		for _, u := range s["extra-index-url"].words() {
			if err := l.index(Pip, "", pipSetting{u, s["extra-index-url"].from}); err != nil {
				return err
			}
		}
	}
	for _, link := range s["find-links"].words() {
		if err := l.findLinks(Pip, pipSetting{link, s["find-links"].from}); err != nil {
			return err
		}
	}
	return l.pipCertificate(s["client-cert"])
}

// index adds one index of Python packages.
func (l *loader) index(t Tool, name string, s pipSetting) error {
	if path, ok := strings.CutPrefix(s.value, "file://"); ok {
		l.unserved(Unserved{Tool: t, Setting: s.from, What: "an index in a directory: " + printable(path), Remedy: "name the directory of its archives in find-links"})
		return nil
	}
	u, user, err := registryURL(s.value)
	if err != nil {
		return withHint("an index is an address such as https://HOST/simple", "an index in %s is %w", settingName(s.from), err)
	}
	r := Registry{Tool: t, URL: u, Scope: name, Setting: s.from, role: rolePages}
	r.credential = l.indexCredential(r, user)
	l.add(r)
	if files, ok := publicFiles[u.Host]; ok {
		u, _ := parseAddress(files)
		l.add(Registry{Tool: t, URL: u, Setting: s.from, role: roleFiles})
	}
	return nil
}

// indexCredential is the user and password in an index's address, or those of netrc.
func (l *loader) indexCredential(r Registry, user *url.Userinfo) *credential {
	c := &credential{below: filesBeside(r.URL)}
	name := user.Username()
	if password, ok := user.Password(); ok {
		c.authorization = basic(name, password)
		return c
	}
	entry := l.loginFor(r.URL.Hostname())
	if entry != nil && (name == "" || name == entry.user) {
		c.authorization = basic(entry.user, entry.password)
		return c
	}
	if name == "" {
		return nil
	}
	if r.Tool == UV && name != "" && name != "oauth2accesstoken" {
		// A token may stand for the user, without a password.
		c.authorization = basic(name, "")
		return c
	}
	l.unserved(Unserved{Tool: r.Tool, Setting: r.Setting, What: "the password for the user of " + shown(r.URL) + ", which only a keyring has", Remedy: "put it into ~/.netrc: machine " + r.URL.Hostname() + " login USER password …"})
	return nil
}

// filesBeside is where an index keeps its archives: PEP 503 leaves it open, and servers
// commonly have them beside a last segment "simple".
func filesBeside(u *url.URL) *url.URL {
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if i := strings.LastIndexByte(path, '/'); i >= 0 && (path[i+1:] == "simple" || path[i+1:] == "+simple") {
		parent := *u
		parent.RawPath = path[:i+1]
		parent.Path, _ = url.PathUnescape(parent.RawPath)
		return &parent
	}
	return u
}

// findLinks adds a directory of archives, or a page that links to some.
func (l *loader) findLinks(t Tool, s pipSetting) error {
	path := strings.TrimPrefix(s.value, "file://")
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(l.src.Home, rest)
	}
	if filepath.IsAbs(path) {
		if isDir(path) && !slices.Contains(l.settings.FindLinks, filepath.Clean(path)) {
			l.settings.FindLinks = append(l.settings.FindLinks, filepath.Clean(path))
		}
		return nil
	}
	u, user, err := registryURL(s.value)
	if err != nil {
		l.unserved(Unserved{Tool: t, Setting: settingName(s.from), What: "a place of archives that is neither an absolute path nor an http address", Remedy: "name the absolute path of a directory in find-links"})
		return nil
	}
	if !strings.HasSuffix(s.value, "/") { // a page has an address of its own
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	}
	r := Registry{Tool: t, URL: u, Setting: s.from, role: roleLinks}
	r.credential = l.indexCredential(r, user)
	l.add(r)
	return nil
}

// pipNetwork reads pip's proxy and its authorities.
func (l *loader) pipNetwork(s map[string]pipSetting) error {
	n := l.network(Pip)
	if p := s["proxy"].value; p != "" {
		n.httpProxy, n.httpsProxy, n.noProxy = p, p, ""
	}
	n.insecureHosts = s["trusted-host"].words()
	if c := s["cert"]; c.value != "" {
		return n.trustFile(c.value, c.from)
	}
	if file, name := l.env.first("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"); file != "" && !isDir(file) {
		return n.trustFile(file, name)
	}
	return nil
}

// pipCertificate presents the client's certificate to all of pip's indexes.
func (l *loader) pipCertificate(s pipSetting) error {
	if s.value == "" {
		return nil
	}
	pair, err := loadPair(s.value, s.value)
	if err != nil {
		l.unserved(Unserved{Tool: Pip, Setting: s.from, What: "a client certificate that cannot be read from its file", Remedy: "name one PEM file with the certificate and its key, without a password, in client-cert"})
		return nil
	}
	for i := range l.settings.Registries {
		r := &l.settings.Registries[i]
		if r.Tool != Pip || r.Setting == "" || r.role == roleFiles {
			continue
		}
		if r.credential == nil {
			r.credential = &credential{below: filesBeside(r.URL)}
		}
		r.credential.certificate = pair
	}
	return nil
}
