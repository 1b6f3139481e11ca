package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// uvConfig is what counts of a uv.toml.
type uvConfig struct {
	uvIndexes
	Pip uvIndexes `toml:"pip"`
	// Insecure are hosts whose certificate is not verified.
	Insecure []string `toml:"allow-insecure-host"`
	Keyring  string   `toml:"keyring-provider"`
}

type uvIndexes struct {
	Index []struct {
		Name    string `toml:"name"`
		URL     string `toml:"url"`
		Default bool   `toml:"default"`
	} `toml:"index"`
	IndexURL  string   `toml:"index-url"`
	Extra     []string `toml:"extra-index-url"`
	FindLinks []string `toml:"find-links"`
	NoIndex   bool     `toml:"no-index"`
}

// uvIndex is one index of uv's.
type uvIndex struct {
	name string
	pipSetting
}

// uv adds uv's indexes: those of the environment come before those of the user's file,
// and those before the system's. The default one is asked last.
func (l *loader) uv() error {
	n := l.network(UV)
	var indexes []uvIndex
	var links []pipSetting
	var standard uvIndex
	choose := func(value, from, name string) {
		if standard.value == "" && value != "" {
			standard = uvIndex{name, pipSetting{value, from}}
		}
	}
	for _, variable := range []string{"UV_INDEX", "UV_EXTRA_INDEX_URL"} {
		for _, word := range strings.Fields(l.env[variable]) {
			name, address, named := strings.Cut(word, "=")
			if !named || strings.ContainsAny(name, ":/") {
				name, address = "", word
			}
			indexes = append(indexes, uvIndex{name, pipSetting{address, variable}})
		}
	}
	for _, variable := range []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL"} {
		name, address, named := strings.Cut(l.env[variable], "=")
		if !named || strings.ContainsAny(name, ":/") {
			name, address = "", l.env[variable]
		}
		choose(address, variable, name)
	}
	for _, word := range strings.FieldsFunc(l.env["UV_FIND_LINKS"], func(r rune) bool { return r == ',' || r == ' ' }) {
		links = append(links, pipSetting{word, "UV_FIND_LINKS"})
	}
	n.insecureHosts = strings.Fields(l.env["UV_INSECURE_HOST"])
	noIndex := false
	for _, path := range l.uvFiles() {
		c, err := readUV(path)
		if err != nil {
			return err
		}
		n.insecureHosts = append(n.insecureHosts, c.Insecure...)
		if c.Keyring != "" && c.Keyring != "disabled" {
			l.unserved(Unserved{Tool: UV, Setting: path, What: "passwords from a keyring", Remedy: "put the index's user and password into ~/.netrc, or into its address", Fallback: true})
		}
		for _, part := range []uvIndexes{c.uvIndexes, c.Pip} {
			noIndex = noIndex || part.NoIndex
			for _, i := range part.Index {
				if i.Default {
					choose(i.URL, path, i.Name)
				} else {
					indexes = append(indexes, uvIndex{i.Name, pipSetting{i.URL, path}})
				}
			}
			for _, u := range part.Extra {
				indexes = append(indexes, uvIndex{"", pipSetting{u, path}})
			}
			choose(part.IndexURL, path, "")
			for _, f := range part.FindLinks {
				links = append(links, pipSetting{f, path})
			}
		}
	}
	if choose(pypi, "", ""); noIndex {
		indexes, standard = nil, uvIndex{}
		l.settings.noIndex[UV] = true
	}
	for _, f := range links {
		if err := l.findLinks(UV, f); err != nil {
			return err
		}
	}
	return l.uvIndexes(indexes, standard)
}

func (l *loader) uvIndexes(indexes []uvIndex, standard uvIndex) error {
	if standard.value != "" {
		indexes = append(indexes, standard)
	}
	for _, i := range indexes {
		before := len(l.settings.Registries)
		if err := l.index(UV, i.name, i.pipSetting); err != nil {
			return err
		}
		variable := strings.ToUpper(strings.Map(func(r rune) rune {
			if r == '-' || r == '.' {
				return '_'
			}
			return r
		}, i.name))
		user, password := l.env["UV_INDEX_"+variable+"_USERNAME"], l.env["UV_INDEX_"+variable+"_PASSWORD"]
		if i.name != "" && user+password != "" && before < len(l.settings.Registries) {
			r := &l.settings.Registries[before]
			r.credential = &credential{authorization: basic(user, password), below: filesBeside(r.URL)}
		}
	}
	return nil
}

// uvFiles are the configuration files of uv, the strongest first.
func (l *loader) uvFiles() []string {
	if v := l.env["UV_NO_CONFIG"]; v != "" && v != "0" && v != "false" {
		return nil
	}
	if own := l.env["UV_CONFIG_FILE"]; own != "" {
		return []string{own}
	}
	files := []string{filepath.Join(l.configHome(), "uv", "uv.toml")}
	for _, dir := range append(filepath.SplitList(l.env["XDG_CONFIG_DIRS"]), l.src.System+"/etc") {
		path := filepath.Join(dir, "uv", "uv.toml")
		if _, err := os.Stat(path); err == nil {
			return append(files, path)
		}
	}
	return files
}

func readUV(path string) (*uvConfig, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	var c uvConfig
	if err := toml.Unmarshal(data, &c); err != nil {
		line := 0
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ = at.Position()
		}
		return nil, badFile(path, line, "no TOML, or a setting of another type")
	}
	return &c, nil
}
