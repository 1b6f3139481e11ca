package registry

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// npmDefault is npm's registry where no setting names another.
const npmDefault = "https://registry.npmjs.org/"

// parseNPMRC reads an npmrc file: lines of "key = value" and "key[] = value", comments
// after ";" and "#", values in JSON's quotes. What stands below a "[section]" is none of npm's
// settings. Variables stay as they are written.
func parseNPMRC(data []byte) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		if line[0] == '[' && strings.HasSuffix(line, "]") {
			break
		}
		name, value, given := strings.Cut(line, "=")
		name, value = npmValue(name), npmValue(value)
		if !given {
			value = "true"
		}
		if list, ok := strings.CutSuffix(name, "[]"); ok {
			out[list] = append(out[list], value)
		} else if name != "" {
			out[name] = []string{value}
		}
	}
	return out
}

// npmValue takes quotes and a comment off a value, as npm's package "ini" does.
func npmValue(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		var text string
		quoted := s
		if s[0] == '\'' {
			quoted = s[1 : len(s)-1]
		}
		if json.Unmarshal([]byte(quoted), &text) == nil {
			return text
		}
		return quoted
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`\;#`, s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case s[i] == ';' || s[i] == '#':
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

var npmVariable = regexp.MustCompile(`(\\*)\$\{([^${}?]+)(\?)?\}`)

// expand replaces ${VAR} by a variable, and ${VAR?} by "" where there is none. unset is
// the name of one that is not there and stays as it is written.
func (e environment) expand(s string) (out, unset string) {
	out = npmVariable.ReplaceAllStringFunc(s, func(m string) string {
		g := npmVariable.FindStringSubmatch(m)
		escapes := len(g[1])
		if escapes%2 == 1 {
			return m[(escapes+1)/2:]
		}
		value, ok := e[g[2]]
		if !ok && g[3] == "" {
			unset = g[2]
			return m[escapes/2:]
		}
		return strings.Repeat(`\`, escapes/2) + value
	})
	return out, unset
}

// npmSetting is one value of npm's settings and the file or variable it is from.
type npmSetting struct {
	values []string
	from   string
	unset  string
}

// npmSettings are npm's settings by name, of all levels.
type npmSettings map[string]npmSetting

func (s npmSettings) one(name string) string {
	if v := s[name].values; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// addFile adds what a file sets and no stronger level has set.
func (s npmSettings) addFile(env environment, path string) error {
	data, err := readFile(path)
	if err != nil {
		return err
	}
	level := npmSettings{}
	for name, values := range parseNPMRC(data) {
		set := npmSetting{from: path}
		name, _ = env.expand(name)
		for _, v := range values {
			v, unset := env.expand(v)
			set.values = append(set.values, v)
			if unset != "" {
				set.unset = unset
			}
		}
		level[name] = set
	}
	for name, set := range level {
		if _, ok := s[name]; !ok {
			s[name] = set
		}
	}
	return nil
}

// npmSettings reads npm's settings: the environment, the user's file, the global one
// and that of npm itself. A project's file is none of them.
func (l *loader) npmSettings() (npmSettings, error) {
	s := npmSettings{}
	for variable, value := range l.env {
		const prefix = "npm_config_"
		if len(variable) <= len(prefix) || !strings.EqualFold(variable[:len(prefix)], prefix) || value == "" {
			continue
		}
		name := variable[len(prefix):]
		if !strings.HasPrefix(name, "//") {
			name = name[:1] + strings.ReplaceAll(name[1:], "_", "-")
			name = strings.ToLower(name)
		}
		s[name] = npmSetting{values: []string{value}, from: variable}
	}
	user := s.one("userconfig")
	if user == "" {
		user = filepath.Join(l.src.Home, ".npmrc")
	}
	if err := s.addFile(l.env, user); err != nil {
		return nil, err
	}
	builtin := npmSettings{}
	if npm := l.env.lookPath("npm"); npm != "" {
		if program, err := filepath.EvalSymlinks(npm); err == nil { // …/npm/bin/npm-cli.js
			if err := builtin.addFile(l.env, filepath.Join(filepath.Dir(filepath.Dir(program)), "npmrc")); err != nil {
				return nil, err
			}
		}
	}
	if err := s.addFile(l.env, l.npmGlobal(s, builtin)); err != nil {
		return nil, err
	}
	for name, set := range builtin {
		if _, ok := s[name]; !ok {
			s[name] = set
		}
	}
	return s, nil
}

// npmGlobal is the path of the global npmrc, "" for none.
func (l *loader) npmGlobal(s, builtin npmSettings) string {
	for _, set := range []npmSettings{s, builtin} {
		if path := set.one("globalconfig"); path != "" {
			return path
		}
		if prefix := set.one("prefix"); prefix != "" {
			return filepath.Join(prefix, "etc", "npmrc")
		}
	}
	if prefix := l.env["PREFIX"]; prefix != "" {
		return filepath.Join(prefix, "etc", "npmrc")
	}
	if node := l.env.lookPath("node"); node != "" {
		return filepath.Join(filepath.Dir(filepath.Dir(node)), "etc", "npmrc")
	}
	return ""
}

// npmPassed are settings that decide what npm resolves and hold neither a path nor a
// secret: the client in the sandbox gets them too.
var npmPassed = []string{"before", "engine-strict", "install-strategy", "legacy-peer-deps", "min-release-age", "prefer-dedupe", "strict-peer-deps", "tag"}

var plainSetting = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:+-]{0,63}$`)

// npm adds npm's registries.
func (l *loader) npm() error {
	s, err := l.npmSettings()
	if err != nil {
		return err
	}
	if err := l.npmNetwork(s); err != nil {
		return err
	}
	main := s["registry"]
	if len(main.values) == 0 {
		main = npmSetting{values: []string{npmDefault}}
	}
	if err := l.npmRegistry(s, "", main); err != nil {
		return err
	}
	for _, name := range sortedNames(s) {
		switch {
		case strings.HasPrefix(name, "@") && strings.HasSuffix(name, ":registry"):
			if err := l.npmRegistry(s, strings.TrimSuffix(name, ":registry"), s[name]); err != nil {
				return err
			}
		case slices.Contains([]string{"_auth", "_authToken", "_password", "username", "certfile", "keyfile"}, name), name == "cert", name == "key":
			l.unserved(Unserved{Tool: NPM, Setting: s[name].from, What: fmt.Sprintf("%q, which belongs to no registry", name), Remedy: "write it with its registry's address before it: //HOST/PATH/:" + name})
		case strings.HasPrefix(name, "//") && strings.HasSuffix(name, ":tokenHelper"):
			l.unserved(Unserved{Tool: NPM, Setting: s[name].from, What: "a program that prints tokens (tokenHelper)", Remedy: "put its token into //HOST/PATH/:_authToken=${VARIABLE}"})
		}
		if v := s.one(name); slices.Contains(npmPassed, name) && plainSetting.MatchString(v) {
			l.settings.npmPassed = append(l.settings.npmPassed, name+"="+v)
		}
	}
	return l.npmCredentialPlaces(s)
}

func sortedNames(s npmSettings) []string {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (l *loader) npmRegistry(s npmSettings, scope string, set npmSetting) error {
	u, user, err := registryURL(set.values[len(set.values)-1])
	if set.unset != "" {
		return withHint("set it", "npm's registry%s in %s names the variable %s, which is not set", prefixed(" for ", scope), set.from, printable(set.unset))
	}
	if err != nil {
		return withHint("npm config list shows npm's settings", "npm's registry%s in %s is %w", prefixed(" for ", scope), set.from, err)
	}
	r := Registry{Tool: NPM, URL: u, Scope: scope, Setting: set.from, role: rolePackuments}
	if r.credential, err = l.npmCredential(s, u); err != nil {
		return err
	}
	if password, ok := user.Password(); r.credential == nil && ok {
		r.credential = &credential{authorization: basic(user.Username(), password), below: u}
	}
	l.add(r)
	return nil
}

// prefixed is s behind a prefix, "" where s is.
func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + printable(s)
}

// npmCredential is what npm's settings hold for the registry: the most specific entry
// "//host/path/" at or above it.
func (l *loader) npmCredential(s npmSettings, u *url.URL) (*credential, error) {
	short, err := url.Parse(shown(u))
	if err != nil {
		return nil, errAddress
	}
	for place := "//" + short.Host + short.EscapedPath(); len(place) > 2; place = parentPlace(place) {
		c, err := l.npmCredentialAt(s, place)
		if c != nil || err != nil {
			if c != nil {
				c.below = u
			}
			return c, err
		}
	}
	return nil, nil
}

// parentPlace takes the last slash, or what follows it, off a place.
func parentPlace(place string) string {
	if strings.HasSuffix(place, "/") {
		return place[:len(place)-1]
	}
	return place[:strings.LastIndexByte(place, '/')+1]
}

// npmCredentialAt reads one entry, in npm's order of precedence.
func (l *loader) npmCredentialAt(s npmSettings, place string) (*credential, error) {
	get := func(name string) string { return s.one(place + ":" + name) }
	for _, name := range []string{"_authToken", "_auth", "_password", "username"} {
		set := s[place+":"+name]
		if set.unset != "" {
			l.unserved(Unserved{Tool: NPM, Setting: set.from, What: place + ":" + name + " names a variable that is not set: " + printable(set.unset), Remedy: "set it"})
			return nil, nil
		}
		if v := get(name); !safeValue(v) {
			return nil, withHint("npm login writes it anew", "the setting %s:%s in %s is not a text of a header", place, name, set.from)
		}
	}
	c := &credential{}
	if token := get("_authToken"); token != "" {
		c.authorization = "Bearer " + token
	} else if auth := get("_auth"); auth != "" {
		c.authorization = "Basic " + auth
	} else if user, password := get("username"), get("_password"); user != "" && password != "" {
		decoded, err := base64.StdEncoding.DecodeString(password)
		if err != nil {
			return nil, withHint("npm login writes it anew", "the setting %s:_password in %s is not base64", place, s[place+":_password"].from)
		}
		c.authorization = basic(user, string(decoded))
	}
	if cert, key := get("certfile"), get("keyfile"); cert != "" && key != "" {
		pair, err := loadPair(cert, key)
		if err != nil {
			l.unserved(Unserved{Tool: NPM, Setting: s[place+":certfile"].from, What: "a client certificate for " + place + " that cannot be read from its files", Remedy: "name PEM files without a password in certfile and keyfile"})
		} else {
			c.certificate = pair
		}
	}
	if c.authorization == "" && c.certificate == nil {
		return nil, nil
	}
	return c, nil
}

// npmCredentialPlaces adds the places on a registry's own host for which a credential
// of their own is set: some registries keep archives beside their index.
func (l *loader) npmCredentialPlaces(s npmSettings) error {
	registries := slices.Clone(l.settings.Registries)
	for _, name := range sortedNames(s) {
		place, key, _ := cutLast(name, ":")
		if !strings.HasPrefix(place, "//") || !slices.Contains([]string{"_authToken", "_auth", "_password", "keyfile"}, key) {
			continue
		}
		for i := range registries {
			r := &registries[i]
			u, _, err := registryURL(r.URL.Scheme + ":" + place)
			if r.Tool != NPM || err != nil || u.Host != r.URL.Host || u.Path == "/" || below(r.URL, u) {
				continue
			}
			c, err := l.npmCredentialAt(s, place)
			if err != nil {
				return err
			}
			if c != nil {
				c.below = u
				l.add(Registry{Tool: NPM, URL: u, Setting: s[name].from, role: roleFiles, credential: c})
			}
			break
		}
	}
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// npmNetwork reads npm's proxy and its authorities.
func (l *loader) npmNetwork(s npmSettings) error {
	n := l.network(NPM)
	if p := s.one("proxy"); p != "" && p != "null" && p != "false" {
		n.httpProxy, n.httpsProxy = p, p
	}
	if p := s.one("https-proxy"); p != "" && p != "null" && p != "false" {
		n.httpsProxy = p
	}
	if no := s["noproxy"].values; len(no) > 0 {
		n.noProxy = strings.Join(no, ",")
	}
	n.insecure = s.one("strict-ssl") == "false"
	if file := s.one("cafile"); file != "" && file != "null" {
		return n.trustFile(file, s["cafile"].from)
	}
	if ca := s["ca"].values; len(ca) > 0 && ca[0] != "" && ca[0] != "null" {
		text := strings.ReplaceAll(strings.Join(ca, "\n"), `\n`, "\n")
		return n.trustOnly([]byte(text), s["ca"].from)
	}
	if file := l.env["NODE_EXTRA_CA_CERTS"]; file != "" && !n.trustAlso(file) {
		l.unserved(Unserved{Tool: NPM, Setting: "NODE_EXTRA_CA_CERTS", What: "authorities in a file that holds none", Remedy: "let it name a PEM file of certificates", Fallback: true})
	}
	return nil
}

// loadPair reads a certificate and its key from PEM files.
func loadPair(cert, key string) (*tls.Certificate, error) {
	certPEM, err := readFile(cert)
	if err != nil {
		return nil, err
	}
	keyPEM, err := readFile(key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}
