package registry

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// describe lists what settings come to: a line for each registry and for what is not
// served, with credentials.
func describe(s *Settings, home string) string {
	var b strings.Builder
	for _, r := range s.Registries {
		fmt.Fprintf(&b, "%s %s", r.Tool, shown(r.URL))
		if r.Scope != "" {
			fmt.Fprintf(&b, " for %s", r.Scope)
		}
		if c := r.credential; c != nil {
			fmt.Fprintf(&b, " with %s below %s", c.authorization, shown(c.below))
		}
		b.WriteByte('\n')
	}
	for _, d := range s.FindLinks {
		fmt.Fprintf(&b, "find-links %s\n", d)
	}
	for _, u := range s.Unserved {
		fmt.Fprintf(&b, "unserved %s\n", u)
	}
	return strings.ReplaceAll(b.String(), home, "~")
}

func TestLoad(t *testing.T) {
	t.Parallel()
	const (
		npm   = "npm https://registry.npmjs.org/\n"
		pip   = "pip https://pypi.org/simple/\npip https://files.pythonhosted.org/\n"
		uv    = "uv https://pypi.org/simple/\nuv https://files.pythonhosted.org/\n"
		golan = "go https://proxy.golang.org/\ngo https://sum.golang.org/\n"
		fall  = "unserved go: modules straight from their repositories (\"direct\") (default): run \"go mod vendor\" in the checkout, or name a module proxy that has them\n"
	)
	repository := "run \"go mod vendor\" in the checkout, or name a module proxy that has them\n"
	for name, c := range map[string]struct {
		files map[string]string
		env   []string
		want  string
	}{
		"nothing": {want: npm + pip + uv + golan + fall},
		"npm's file": {
			files: map[string]string{".npmrc": `; comment
registry = "https://npm.example.com/team"
fund = false # comment
@scope:registry=https://scope.example.com
//npm.example.com/:_authToken=${TOKEN}
//scope.example.com/:username=dana
//scope.example.com/:_password=c2VjcmV0
//npm.example.com/other/:_authToken=unused
//elsewhere.example.com/:_authToken=unused
[section]
registry=https://wrong.example.com/
`},
			env: []string{"TOKEN=t0ken"},
			want: "npm https://npm.example.com/team/ with Bearer t0ken below https://npm.example.com/team/\n" +
				"npm https://scope.example.com/ for @scope with Basic ZGFuYTpzZWNyZXQ= below https://scope.example.com/\n" +
				"npm https://npm.example.com/other/ with Bearer unused below https://npm.example.com/other/\n" + pip + uv + golan + fall,
		},
		"npm's environment is stronger than its file": {
			files: map[string]string{".npmrc": "registry=https://file.example.com/\n//env.example.com/:_auth=YWI6Y2Q=\n"},
			env:   []string{"NPM_CONFIG_REGISTRY=https://env.example.com:8443/x/", "npm_config_//env.example.com:8443/x/:_auth=ZWY6Z2g="},
			want:  "npm https://env.example.com:8443/x/ with Basic ZWY6Z2g= below https://env.example.com:8443/x/\n" + pip + uv + golan + fall,
		},
		"npm: a variable that is not set, and settings of no registry": {
			files: map[string]string{".npmrc": "//registry.npmjs.org/:_authToken=${NO_SUCH}\n_authToken=x\n//registry.npmjs.org/:tokenHelper=/bin/helper\n"},
			want: npm + pip + uv + golan +
				"unserved npm: //registry.npmjs.org/:_authToken names a variable that is not set: NO_SUCH (~/.npmrc): set it\n" +
				"unserved npm: a program that prints tokens (tokenHelper) (~/.npmrc): put its token into //HOST/PATH/:_authToken=${VARIABLE}\n" +
				"unserved npm: \"_authToken\", which belongs to no registry (~/.npmrc): write it with its registry's address before it: //HOST/PATH/:_authToken\n" + fall,
		},
		"pip's files and environment": {
			files: map[string]string{
				".config/pip/pip.conf": "[global]\nindex-url = https://dana:p%40ss@pypi.example.com/root/simple\nextra-index-url =\n    https://two.example.com/simple\n    https://kim@three.example.com/x\n[install]\nno-index = false\nfind-links = /no/such/dir ~/wheels https://links.example.com/page.html\n",
				"system/etc/pip.conf":  "[global]\nindex-url = https://weaker.example.com/simple\n",
				"wheels/x.whl":         "",
				".netrc":               "machine two.example.com login lee password \"s p\"\n",
			},
			want: npm + "pip https://pypi.example.com/root/simple/ with Basic ZGFuYTpwQHNz below https://pypi.example.com/root/\n" +
				"pip https://two.example.com/simple/ with Basic bGVlOnMgcA== below https://two.example.com/\n" +
				"pip https://three.example.com/x/\npip https://links.example.com/page.html\n" + uv + golan + "find-links ~/wheels\n" +
				"unserved pip: the password for the user of https://three.example.com/x/, which only a keyring has (~/.config/pip/pip.conf): put it into ~/.netrc: machine three.example.com login USER password …\n" + fall,
		},
		"pip: no index": {
			files: map[string]string{"wheels/x.whl": ""},
			env:   []string{"PIP_NO_INDEX=1", "PIP_KEYRING_PROVIDER=subprocess"},
			want: npm + uv + golan +
				"unserved pip: passwords from a keyring (PIP_KEYRING_PROVIDER): put the index's user and password into ~/.netrc, or into its address\n" + fall,
		},
		"pip: no file": {
			files: map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://file.example.com/simple\n"},
			env:   []string{"PIP_CONFIG_FILE=/dev/null"}, want: npm + pip + uv + golan + fall,
		},
		"uv": {
			files: map[string]string{".config/uv/uv.toml": "[[index]]\nname = \"team\"\nurl = \"https://team.example.com/simple\"\n[[index]]\nurl = \"https://main.example.com/simple\"\ndefault = true\n"},
			env:   []string{"UV_INDEX_TEAM_USERNAME=dana", "UV_INDEX_TEAM_PASSWORD=pw", "UV_INDEX=https://first.example.com/simple"},
			want: npm + pip + "uv https://first.example.com/simple/\nuv https://team.example.com/simple/ for team with Basic ZGFuYTpwdw== below https://team.example.com/\n" +
				"uv https://main.example.com/simple/\n" + golan + fall,
		},
		"go": {
			files: map[string]string{
				".config/go/env": "GOPROXY=https://file.example.com\nGOPRIVATE=corp.example.com/*\nGOAUTH=netrc\n",
				".netrc":         "machine proxy.example.com login dana password pw\nmachine two.example.com login a password b\n",
			},
			env: []string{"GOPROXY=https://proxy.example.com/go|https://u:p@two.example.com,off,https://after.example.com", "GOSUMDB=sum.golang.org https://proxy.example.com/sum"},
			want: npm + pip + uv + "go https://proxy.example.com/go/ with Basic ZGFuYTpwdw== below https://proxy.example.com/go/\ngo https://two.example.com/ with Basic dTpw below https://two.example.com/\n" +
				"go https://proxy.example.com/sum/ with Basic ZGFuYTpwdw== below https://proxy.example.com/sum/\n" +
				"unserved go: modules that are fetched from their repositories: corp.example.com/* (~/.config/go/env): " + repository,
		},
		"go: credentials that are not served": {
			files: map[string]string{".netrc": "default login a password b\n"},
			env:   []string{"GOPROXY=direct", "GOSUMDB=off", "GOAUTH=off;git /dir;/bin/helper secret"},
			want: npm + pip + uv +
				"unserved pip: the entry \"default\", a password for every host (~/.netrc): name the registry's host: \"machine HOST login USER password …\"\n" +
				"unserved go: credentials from a program: git (GOAUTH): put the proxy's user and password into ~/.netrc\n" +
				"unserved go: credentials from a program: /bin/helper (GOAUTH): put the proxy's user and password into ~/.netrc\n" +
				"unserved go: modules straight from their repositories (\"direct\") (GOPROXY): " + repository,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := source(t, c.files, c.env...)
			if diff := cmp.Diff(c.want, describe(load(t, src), src.Home)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A file that cannot be understood is an error with a hint that tells no secret: without
// it the wrong registry could be asked.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool  Tool
		files map[string]string
		env   []string
	}{
		"registry":  {tool: NPM, files: map[string]string{".npmrc": "registry=not an s3cret address\n"}},
		"ssh":       {tool: NPM, files: map[string]string{".npmrc": "registry=ssh://git:s3cret@example.com/x\n"}},
		"variable":  {tool: NPM, files: map[string]string{".npmrc": "registry=https://${NO_SUCH}/s3cret\n"}},
		"token":     {tool: NPM, files: map[string]string{".npmrc": "//registry.npmjs.org/:_authToken=\"s3cret\\nX: y\"\n"}},
		"password":  {tool: NPM, files: map[string]string{".npmrc": "//registry.npmjs.org/:username=a\n//registry.npmjs.org/:_password=s3cret!\n"}},
		"pip.conf":  {tool: Pip, files: map[string]string{".config/pip/pip.conf": "[global]\ns3cret\n"}},
		"index":     {tool: Pip, env: []string{"PIP_INDEX_URL=https://user:s3cret@exa mple.com/"}},
		"uv.toml":   {tool: UV, files: map[string]string{".config/uv/uv.toml": "index-url = s3cret\n"}},
		"authority": {env: []string{"SSL_CERT_FILE=/no/such/s3cret"}},
		"GOPROXY":   {tool: Go, env: []string{"GOPROXY=ftp://user:s3cret@example.com"}},
		"GOSUMDB":   {tool: Go, env: []string{"GOSUMDB=sum.golang.org ftp://user:s3cret@example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := source(t, c.files, c.env...)
			s, err := Load(src)
			if err == nil {
				var p *Proxy
				if p, err = NewProxy(s, Options{Tools: []Tool{c.tool}}); err == nil {
					p.Close()
					t.Fatal("it is taken")
				}
				for _, other := range []Tool{NPM, Pip, UV, Go} {
					if other == c.tool {
						continue
					}
					p, err := NewProxy(s, Options{Tools: []Tool{other}})
					if err != nil {
						t.Fatalf("%s cannot be used because of %s: %v", other, c.tool, err)
					}
					p.Close()
				}
			}
			own, ok := err.(*Error) //nolint:errorlint // it is to be the outermost
			if !ok || own.Hint == "" {
				t.Fatalf("error %#v", err)
			}
			if strings.Contains(err.Error()+own.Hint, "s3cret") {
				t.Errorf("it tells a secret: %v", err)
			}
		})
	}
	src := source(t, map[string]string{".npmrc/x": ""})
	if err := os.Mkdir(filepath.Join(src.Home, "pipe"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(src); err != nil {
		t.Errorf("a directory in the place of a file: %v", err)
	}
}

// No way of printing settings shows a credential.
func TestSettingsPrintNoSecret(t *testing.T) {
	t.Parallel()
	src := source(t, map[string]string{
		".npmrc":               "//registry.npmjs.org/:_authToken=s3cret\nproxy=http://u:s3cret@proxy.example.com/\n",
		".config/pip/pip.conf": "[global]\nindex-url=https://u:s3cret@pypi.example.com/simple\nproxy=http://u:s3cret@proxy.example.com\n",
		".netrc":               "machine proxy.golang.org login u password s3cret\n",
	}, "GOPROXY=https://u:s3cret@a.example.com,https://proxy.golang.org", "HTTPS_PROXY=http://u:s3cret@proxy.example.com", "UV_DEFAULT_INDEX=https://u:s3cret@uv.example.com/simple")
	s := load(t, src)
	encoded, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%v %+v %#v %s %+v %#v", s, s, s, encoded, s.Registries, s.Registries)
	p, err := NewProxy(s, Options{Tools: []Tool{NPM, Pip, UV, Go, Git}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, tool := range []Tool{NPM, Pip, UV, Go, Git} {
		text += fmt.Sprintf("%+v", p.Client(tool, "127.0.0.1:3128", "/config"))
		for _, f := range p.Client(tool, "127.0.0.1:3128", "/config").Files {
			text += string(f.Data)
		}
	}
	for _, secret := range []string{"s3cret", basic("u", "s3cret")[len("Basic "):]} {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("…%s…", text[max(0, i-80):i])
		}
	}
}

// The configuration of each tool, but for the authority's certificate.
func TestClient(t *testing.T) {
	t.Parallel()
	src := source(t, map[string]string{
		".npmrc":       "@s:registry=https://s.example.com\nlegacy-peer-deps=true\nscript-shell=/bin/evil\n",
		"wheels/x.whl": "",
	}, "GOPROXY=http://127.0.0.1:3000/go,https://proxy.golang.org,direct", "GOPRIVATE=corp.example.com", "PIP_EXTRA_INDEX_URL=http://plain.example.com:8080/simple")
	src.Env = append(src.Env, "PIP_FIND_LINKS="+filepath.Join(src.Home, "wheels"), "UV_INDEX=team=https://team.example.com/simple")
	p, err := NewProxy(load(t, src), Options{Tools: []Tool{NPM, Pip, UV, Go, Git}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var b strings.Builder
	for _, tool := range []Tool{NPM, Pip, UV, Go, Git} {
		fmt.Fprintf(&b, "== %s\n", tool)
		c := p.Client(tool, "127.0.0.1:3128", "/config")
		for _, v := range c.Env {
			fmt.Fprintln(&b, v)
		}
		for _, f := range c.Files {
			fmt.Fprintf(&b, "-- %s %v\n", f.Path, f.Mode)
			if !strings.HasSuffix(f.Path, ".pem") {
				b.Write(f.Data)
			}
		}
	}
	got := strings.ReplaceAll(b.String(), src.Home, "~")
	const golden = "testdata/client.txt"
	if os.Getenv("COALMINE_UPDATE") == "1" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got; COALMINE_UPDATE=1 writes it)\n%s", diff)
	}
}
