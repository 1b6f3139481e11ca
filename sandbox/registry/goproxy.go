package registry

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// The defaults of the go command.
const (
	goProxyDefault = "https://proxy.golang.org,direct"
	goSumDefault   = "sum.golang.org"
)

// goHop is an entry of GOPROXY: an address, "direct" or "off".
type goHop struct {
	place string
	// url is set where place is an address of a registry.
	url *url.URL
	// always says that the next entry is asked after any error ("|"), rather than after
	// 404 and 410 alone (",").
	always bool
}

// parseGOPROXY reads the list in GOPROXY, as "go help goproxy" describes it: nothing after
// "direct" or "off" counts.
func parseGOPROXY(s string) []goHop {
	var out []goHop
	for s != "" {
		end := strings.IndexAny(s, ",|")
		hop := goHop{place: s}
		if end >= 0 {
			hop.place, hop.always, s = s[:end], s[end] == '|', s[end+1:]
		} else {
			s = ""
		}
		if hop.place = strings.TrimSpace(hop.place); hop.place == "" {
			continue
		}
		out = append(out, hop)
		if hop.place == "direct" || hop.place == "off" {
			break
		}
	}
	return out
}

// goVariables are the settings of the go command that count here, of its two files and
// the environment.
func (l *loader) goVariables() (map[string]pipSetting, error) {
	out := map[string]pipSetting{"GOPROXY": {goProxyDefault, ""}, "GOSUMDB": {goSumDefault, ""}, "GOAUTH": {"netrc", ""}}
	var files []string
	if root := l.goRoot(); root != "" {
		files = append(files, filepath.Join(root, "go.env"))
	}
	switch own := l.env["GOENV"]; own {
	case "off":
	case "":
		files = append(files, filepath.Join(l.configHome(), "go", "env"))
	default:
		files = append(files, own)
	}
	names := []string{"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOAUTH"}
	for _, path := range files {
		data, err := readFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			for _, n := range names {
				if ok && n == name && value != "" {
					out[n] = pipSetting{value, path}
				}
			}
		}
	}
	for _, n := range names {
		if v := l.env[n]; v != "" {
			out[n] = pipSetting{v, n}
		}
	}
	return out, nil
}

// goRoot is the root of the user's Go, "" where none is found.
func (l *loader) goRoot() string {
	if root := l.env["GOROOT"]; root != "" {
		return root
	}
	program := l.env.lookPath("go")
	if program == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return filepath.Dir(filepath.Dir(program))
}

// golang adds Go's module proxies and its checksum database.
func (l *loader) golang() error {
	l.network(Go)
	v, err := l.goVariables()
	if err != nil {
		return err
	}
	auth := v["GOAUTH"]
	netrc := false
	for method := range strings.SplitSeq(auth.value, ";") {
		switch method = strings.TrimSpace(method); {
		case method == "netrc":
			netrc = true
		case method != "off" && method != "":
			word, _, _ := strings.Cut(method, " ")
			l.unserved(Unserved{Tool: Go, Setting: settingName(auth.from), What: "credentials from a program: " + printable(word), Remedy: "put the proxy's user and password into ~/.netrc"})
		}
	}
	if err := l.goProxies(v["GOPROXY"], netrc); err != nil {
		return err
	}
	private := v["GONOPROXY"]
	if private.value == "" {
		private = v["GOPRIVATE"]
	}
	if private.value != "" && private.value != "none" {
		l.unserved(Unserved{Tool: Go, Setting: private.from, What: "modules that are fetched from their repositories: " + printable(private.value), Remedy: "run \"go mod vendor\" in the checkout, or name a module proxy that has them", Fallback: true})
	}
	for _, n := range []string{"GOPRIVATE", "GONOPROXY", "GONOSUMDB"} {
		if v[n].value != "" {
			l.settings.goVariables = append(l.settings.goVariables, n+"="+v[n].value)
		}
	}
	return l.goSumDB(v["GOSUMDB"], netrc)
}

func (l *loader) goProxies(s pipSetting, netrc bool) error {
	for _, hop := range parseGOPROXY(s.value) {
		switch {
		case hop.place == "off":
		case hop.place == "direct":
			l.unserved(Unserved{Tool: Go, Setting: settingName(s.from), What: `modules straight from their repositories ("direct")`, Remedy: "run \"go mod vendor\" in the checkout, or name a module proxy that has them", Fallback: len(l.settings.goHops) > 0})
			continue
		case strings.HasPrefix(hop.place, "file://"):
			l.unserved(Unserved{Tool: Go, Setting: s.from, What: "a module proxy in a directory: " + printable(strings.TrimPrefix(hop.place, "file://")), Remedy: "serve it over http on loopback and name that in GOPROXY"})
			continue
		default:
			place := hop.place
			if !strings.Contains(place, "://") {
				place = "https://" + place
			}
			u, user, err := registryURL(place)
			if err != nil {
				return withHint("go env GOPROXY shows it", "an entry of %s is %w", settingName(s.from), err)
			}
			l.add(Registry{Tool: Go, URL: u, Setting: s.from, role: roleModules, credential: l.goCredential(u, user, netrc)})
			hop.place, hop.url = "", u // place may hold a password
		}
		l.settings.goHops = append(l.settings.goHops, hop)
	}
	return nil
}

func (l *loader) goCredential(u *url.URL, user *url.Userinfo, netrc bool) *credential {
	if password, ok := user.Password(); ok {
		return &credential{authorization: basic(user.Username(), password), below: u}
	}
	if entry := l.loginFor(u.Hostname()); entry != nil && netrc && u.Scheme == "https" {
		return &credential{authorization: basic(entry.user, entry.password), below: u}
	}
	return nil
}

// goSumDB adds the checksum database: "NAME", "NAME+HASH+KEY" or either with an address
// after a blank.
func (l *loader) goSumDB(s pipSetting, netrc bool) error {
	l.settings.goSumDB = "off"
	words := strings.Fields(s.value)
	if len(words) == 0 || words[0] == "off" {
		return nil
	}
	name, _, _ := strings.Cut(words[0], "+")
	address := "https://" + name
	if len(words) > 1 {
		address = words[1]
	}
	u, user, err := registryURL(address)
	if err != nil || len(words) > 2 {
		return withHint("go env GOSUMDB shows it", "the checksum database in %s is %w", settingName(s.from), errAddress)
	}
	l.settings.goSumDB = words[0]
	if len(words) > 1 {
		l.settings.goSumDB = fmt.Sprintf("%s %s", words[0], shown(u))
	}
	l.add(Registry{Tool: Go, URL: u, Setting: s.from, role: roleSums, credential: l.goCredential(u, user, netrc)})
	return nil
}
