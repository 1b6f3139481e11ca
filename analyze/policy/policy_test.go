package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

const example = `
schema: coalmine/policy/v1
server:
  allow:
    files: ["read:/etc/app.conf"]
    hosts: []
tools:
  fetch:
    allow:
      hosts: [api.example.com:443, "*.example.net", "[2001:db8::1]:80"]
      env: [API_KEY]
    deny:
      files: [~/.ssh/**]
      commands: [curl, /usr/bin/nc]
    arguments:
      url: https://[a-z.]+/.*
  "odd: name":
suppress:
  - fingerprint: "0123456789abcdef0123456789abcdef"
    reason: reads its own key
    owner: dana
    expires: 2027-01-31
accept_opaque: [pinned.example.org]
accept_unrun:
  - {function: "src/server.py:Server.handle", reason: read by dana, expires: 2027-01-31}
accept_gaps:
  - {code: credential-missing, tool: upload, reason: needs an account, expires: 2027-01-31}
  - {code: attacks-incomplete, reason: a slow machine, expires: 2027-01-31}
`

func TestParse(t *testing.T) {
	p, err := Parse("coalmine.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	fetch, ok := p.Tool("fetch")
	if !ok || len(fetch.Allow.Hosts) != 3 || fetch.Allow.Files != nil || fetch.Deny.Commands[1].Text != "/usr/bin/nc" {
		t.Errorf("fetch: %v %+v", ok, fetch)
	}
	if at := fetch.Deny.Commands[1].At; at != (Position{Line: 14, Column: 24}) {
		t.Errorf("/usr/bin/nc stands at %v", at)
	}
	if p.Server.Allow.Hosts == nil || p.Server.Allow.Commands != nil {
		t.Error("an empty list was given, and an absent one was not")
	}
	if _, ok := p.Tool("odd: name"); !ok {
		t.Error("a tool may be named without saying anything of it")
	}
	a := fetch.Arguments["url"]
	if !a.Match("https://example.com/x") || a.Match("file:///https://example.com/x") || a.Match("https://example.com/x\n") {
		t.Error("an argument must match as a whole")
	}
	last := time.Date(2027, 1, 31, 23, 59, 59, 0, time.UTC)
	if a, ok := p.AcceptsUnrun("src/server.py:Server.handle", last); !ok || a.Reason != "read by dana" {
		t.Errorf("the function is accepted until its day: %+v", a)
	}
	if _, ok := p.AcceptsUnrun("src/server.py:Server.handle", last.Add(time.Second)); ok {
		t.Error("the function is accepted after its day")
	}
	if len(p.Expired(last)) != 0 || len(p.Expired(last.Add(time.Second))) != 4 {
		t.Error("suppressions and acceptances hold to the end of their last day")
	}
	// A finding may be known by a fingerprint of the version before, too.
	for _, prints := range [][]string{{"0123456789abcdef0123456789abcdef"}, {"ffffffffffffffffffffffffffffffff", "0123456789abcdef0123456789abcdef"}} {
		if _, ok := p.Suppressed(prints, last); !ok {
			t.Errorf("the suppression does not hold for %q", prints)
		}
	}
	if _, ok := p.Suppressed([]string{"ffffffffffffffffffffffffffffffff"}, last); ok {
		t.Error("a suppression holds for another finding")
	}
}

func TestFaultsHaveTheirPlace(t *testing.T) {
	for in, want := range map[string]string{
		"tools: {x: {alow: {}}}":                                          `p.yaml:1:13: tool x: "alow" is not one of allow, deny, arguments`,
		"tools:\n  x:\n    allow:\n      files: [etc/x]":                  `p.yaml:4:15: tool x, allow, files: "etc/x" must begin with /, ~/, $SERVER/ or $WORKSPACE/`,
		"tools: {x: {allow: {files: ['/a/**/b']}}}":                       `p.yaml:1:29: tool x, allow, files: "/a/**/b" has ** elsewhere than as its last element`,
		"tools: {x: {allow: {files: ['/a/../b']}}}":                       `p.yaml:1:29: tool x, allow, files: "/a/../b" is not a clean path`,
		"tools: {x: {allow: {hosts: ['https://e.org/']}}}":                `p.yaml:1:29: tool x, allow, hosts: "https://e.org/" must be a host, or host:port, and no URL`,
		"tools: {x: {allow: {hosts: ['a.*.org']}}}":                       `p.yaml:1:29: tool x, allow, hosts: "a.*.org" may have * only as its first label`,
		"tools: {x: {allow: {env: ['A=b']}}}":                             `p.yaml:1:27: tool x, allow, env: "A=b" must be the name of a variable`,
		"tools: {x: {arguments: {u: '('}}}":                               "p.yaml:1:28: tool x, arguments, u: error parsing regexp: missing closing ): `(`",
		"tools: {x: {arguments: {u: 'a)|(?:b'}}}":                         "p.yaml:1:28: tool x, arguments, u: error parsing regexp: unexpected ): `a)|(?:b`",
		"tools: {x: {}, x: {}}":                                           `p.yaml:1:16: tools: "x" appears here twice`,
		"tools: []":                                                       "p.yaml:1:8: tools must be a mapping",
		"server: {allow: {hosts: e.org}}":                                 "p.yaml:1:25: server, allow, hosts must be a list",
		"server: {allow: {hosts: [[]]}}":                                  "p.yaml:1:26: server, allow, hosts must be a text",
		"environment: {HOME: /x, 1A: b}":                                  "p.yaml:1:15: environment: HOME is the sandbox's own\np.yaml:1:25: environment: \"1A\" is not a variable's name",
		"a: &x {}\ntools: *x":                                             "p.yaml:1:1: the policy: \"a\" is not one of schema, server, tools, suppress, accept_opaque, accept_unrun, accept_gaps, environment, services, defaults, rules\np.yaml:2:8: tools must be a mapping",
		"suppress: [{reason: x}]":                                         "p.yaml:1:12: a suppression needs fingerprint, reason, owner and expires",
		"suppress: [{fingerprint: abc, reason: x, owner: y, expires: z}]": "p.yaml:1:26: fingerprint \"abc\" is not 32 hexadecimal digits, as report.json has them\np.yaml:1:61: expires \"z\" is not a day, such as 2027-01-31",
		"rules: x.yaml":                                                   `p.yaml:1:8: rules must be a list of files and rules`,
		"rules: [../x.yaml]":                                              `p.yaml:1:9: rules: "../x.yaml" must be a clean path below the policy's directory`,
		"rules: [/x.yaml]":                                                `p.yaml:1:9: rules: "/x.yaml" must be a clean path below the policy's directory`,
		"rules: [a/./x.yaml]":                                             `p.yaml:1:9: rules: "a/./x.yaml" must be a clean path below the policy's directory`,
		"rules: [rules]":                                                  `p.yaml:1:9: rules: "rules" is not a file of rules: its name must end in .yaml or .yml`,
		"rules: [{id: !!binary x}]":                                       `p.yaml:1:14: rules: the tag "!!binary" is not read here`,
		"rules: [[a.yaml]]":                                               `p.yaml:1:9: rules must be a text`,
		"accept_unrun: [{function: f, reason: x, expires: z}]":            "p.yaml:1:27: function \"f\" is not a file and function, such as server.py:steal\np.yaml:1:50: expires \"z\" is not a day, such as 2027-01-31",
		"accept_unrun: [{function: \"a.py:\"}]":                           "p.yaml:1:16: an acceptance needs function, reason and expires",
		"accept_unrun: {}":                                                "p.yaml:1:15: accept_unrun must be a list",
		"schema: coalmine/policy/v9":                                      `p.yaml:1:9: schema "coalmine/policy/v9" is not coalmine/policy/v1`,
	} {
		_, err := Parse("p.yaml", []byte(in))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
	_, err := Parse("p.yaml", []byte("tools:\n  x: [\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:") {
		t.Errorf("a syntax error says %v", err)
	}
}

var places = Places{Home: "/home/dana", Server: "/srv/a*b", Workspaces: []string{"/data", "/w"}}

func TestFile(t *testing.T) {
	for _, c := range []struct {
		item, path  string
		read, write bool
	}{
		{"/etc/app.conf", "/etc/app.conf", true, true},
		{"read:/etc/app.conf", "/etc/app.conf", true, false},
		{"/etc/*.conf", "/etc/app.conf", true, true},
		{"/etc/*", "/etc/a/b", false, false},
		{"/etc/**", "/etc/a/b", true, true},
		{"/etc/**", "/etc", true, true},
		{"/etc/**", "/etcetera/a", false, false},
		{"/var/*/x/**", "/var/a/x/y/z", true, true},
		{"/**", "/a", true, true},
		{"~/.ssh/**", "/home/dana/.ssh/id_rsa", true, true},
		{"~/.ssh/**", "/home/eve/.ssh/id_rsa", false, false},
		{"$SERVER/cache/**", "/srv/a*b/cache/x", true, true},
		{"$SERVER/cache/**", "/srv/axb/cache/x", false, false},
		{"$WORKSPACE/**", "/w/x", true, true},
		{"$WORKSPACE/**", "/data/x", true, true},
		{"$WORKSPACE/**", "/x", false, false},
	} {
		l := List{{Text: c.item}}
		if r, w := l.File(places, c.path, false) != nil, l.File(places, c.path, true) != nil; r != c.read || w != c.write {
			t.Errorf("%s and %s: read %v, write %v", c.item, c.path, r, w)
		}
	}
}

func TestHost(t *testing.T) {
	for _, c := range []struct {
		item, peer string
		want       bool
	}{
		{"api.example.com", "api.example.com:443", true},
		{"API.example.com.", "api.Example.com", true},
		{"api.example.com:443", "api.example.com:443", true},
		{"api.example.com:443", "api.example.com:80", false},
		{"*.example.com", "a.b.example.com:80", true},
		{"*.example.com", "example.com:80", false},
		{"*.example.com", "evilexample.com:80", false},
		{"*", "anything:1", true},
		{"2001:db8::1", "[2001:db8:0::1]:80", true},
		{"[2001:db8::1]:81", "[2001:db8::1]:80", false},
		{"93.184.216.34", "[::ffff:93.184.216.34]:80", true},
		{"dns", "dns", true},
	} {
		if got := (List{{Text: c.item}}).Host(c.peer) != nil; got != c.want {
			t.Errorf("%s and %s: %v", c.item, c.peer, got)
		}
	}
}

func TestCommandAndEnvironment(t *testing.T) {
	for _, c := range []struct {
		item, program string
		want          bool
	}{{"git", "/usr/bin/git", true}, {"/usr/bin/git", "/usr/bin/git", true}, {"/usr/bin/git", "/tmp/git", false}, {"$SERVER/bin/**", "/srv/a*b/bin/x", true}, {"python3*", "/usr/bin/python3.11", true}} {
		if got := (List{{Text: c.item}}).Command(places, c.program) != nil; got != c.want {
			t.Errorf("%s and %s: %v", c.item, c.program, got)
		}
	}
	l := List{{Text: "AWS_*"}}
	if l.Environment("AWS_SECRET_ACCESS_KEY") == nil || l.Environment("NPM_TOKEN") != nil {
		t.Error("environment")
	}
}

// Whatever a path is, the item written for it names it, in every later run.
func TestContractNamesThePath(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root := rapid.SampledFrom([]string{"/home/dana", "/srv/a*b", "/data", "", "/home/danae"}).Draw(rt, "root")
		name := root + "/" + rapid.OneOf(rapid.StringMatching(`[a-z*?\[\\\]-]{1,8}`), rapid.StringN(1, 8, 8)).Draw(rt, "name")
		if strings.ContainsAny(name[len(root)+1:], "/") || strings.HasSuffix(name, "/.") || strings.HasSuffix(name, "/..") {
			rt.Skip("one element")
		}
		item := places.Contract(name)
		if err := checkFile(item); err != nil {
			rt.Fatalf("%q: %q %v", name, item, err)
		}
		if (List{{Text: item}}).File(places, name, true) == nil {
			rt.Fatalf("%q does not name %q", item, name)
		}
	})
}

// What is written is read as the same, whatever a server calls its tools.
func TestMarshalIsReadBack(t *testing.T) {
	name := rapid.OneOf(rapid.SampledFrom([]string{"a", "yes", "null", "1", "~", "a: b", "# x", "- x", "\x1b[31m", "a\nb", "\u202e", "{}", "&a", "*a", "!!x", "\"", "'"}), rapid.StringN(1, 20, 80))
	rapid.Check(t, func(rt *rapid.T) {
		items := func(what string) List {
			var l List
			for _, s := range rapid.SliceOfN(name, 0, 3).Draw(rt, what) {
				s = strings.ToValidUTF8(s, "?")
				if path := "/" + escapeGlob(strings.ReplaceAll(s, "/", "")); checkFile(path) == nil {
					l = append(l, Item{Text: path, Note: s})
				}
			}
			return l
		}
		e := Entry{Allow: Lists{Files: items("allow"), Commands: items("commands"), Hosts: List{}}, Deny: Lists{Files: items("deny")}}
		tool := strings.ToValidUTF8(name.Draw(rt, "tool"), "?")
		p := &Policy{File: "p.yaml", Server: e, Tools: map[string]Entry{tool: e, "none": {}}, Suppress: []Suppression{{
			Fingerprint: "0123456789abcdef0123456789abcdef", Reason: "a\nb: c", Owner: "~", Expires: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), Note: tool,
		}}, AcceptUnrun: []Acceptance{{Function: "src/a b.py:" + strings.ReplaceAll(tool, "\x00", ""), Reason: "a\nb: c", Expires: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)}}}
		if value := strings.ReplaceAll(tool, "\x00", ""); rapid.Bool().Draw(rt, "environment") {
			p.Environment = map[string]string{"A_KEY": value, "B": ""}
		}
		got, err := Parse("p.yaml", p.Marshal())
		if err != nil {
			rt.Fatalf("%v\n%s", err, p.Marshal())
		}
		if d := cmp.Diff(p, got, cmpopts.IgnoreTypes(Position{}), cmpopts.IgnoreFields(Policy{}, "Source"), cmpopts.IgnoreFields(Item{}, "Note"), cmpopts.IgnoreFields(Suppression{}, "Note"),
			cmpopts.IgnoreUnexported(Argument{})); d != "" {
			rt.Fatalf("%s\n%s", d, p.Marshal())
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("rules: [own/a.yaml, {id: ORG-001, n: 1.5, t: true, e: {m: [{a: b}], n: []}, z: ~, w: \"a\\nb\"}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("p.yaml", data)
		if (p == nil) == (err == nil) {
			t.Fatalf("policy %v, error %v", p, err)
		}
		if p == nil {
			return
		}
		if _, err := Parse("p.yaml", p.Marshal()); err != nil {
			t.Fatalf("%v\n%s", err, p.Marshal())
		}
	})
}
