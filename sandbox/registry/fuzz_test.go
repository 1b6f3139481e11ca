package registry

import (
	"bytes"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// npmrc's values as npm reads them.
func TestParseNPMRC(t *testing.T) {
	t.Parallel()
	got := parseNPMRC([]byte("\ufeff; c\n#c\n\na=1\r\n b = two words ; c\nc=\"q;#\\u0041\"\nd='s # x'\nflag\ne=a\\;b\\#c\\\\d\nca[]=one\nca[]=two\n=x\n//h/:_authToken=a=b==\n[s]\nz=1\n"))
	want := map[string][]string{
		"a": {"1"}, "b": {"two words"}, "c": {"q;#A"}, "d": {"s # x"}, "flag": {"true"}, "e": {`a;b#c\d`}, "ca": {"one", "two"}, "//h/:_authToken": {"a=b=="},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	env := environment{"A": "x$&", "E": ""}
	for in, want := range map[string][2]string{
		"${A}-${A}": {"x$&-x$&", ""}, "${E}": {"", ""}, "${NO}": {"${NO}", "NO"}, "${NO?}": {"", ""}, `\${A}`: {"${A}", ""}, `\\${A}`: {`\x$&`, ""}, "$A ${ } ${": {"$A ${ } ${", " "}, "": {"", ""},
	} {
		if got, unset := env.expand(in); got != want[0] || unset != want[1] {
			t.Errorf("%q: %q %q, want %q", in, got, unset, want)
		}
	}
}

func FuzzNPMRC(f *testing.F) {
	for _, s := range []string{"registry=https://r.example.com/\n", "a=\"x\n", "[x]\na=b", "k[]=1\nk[]=2", "//h/:_authToken=${T}\\", "a='\"'", "=\n==\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, values := range parseNPMRC(data) {
			if name == "" && !bytes.Contains(data, []byte("[]")) || len(values) == 0 {
				t.Errorf("%q: %q", name, values)
			}
			for _, v := range values {
				if strings.Contains(v, "\n") && !bytes.Contains(data, []byte(`\`)) {
					t.Errorf("a value goes over a line: %q", v)
				}
				environment{"T": "x"}.expand(v)
			}
		}
	})
}

func TestParsePipConf(t *testing.T) {
	t.Parallel()
	got, _, ok := parsePipConf([]byte("# c\n; c\n[global]\nIndex_URL = https://a:b@c/d#e\nextra-index-url =\n  one\n\n  # c\n  two ; x\n--No-Index: true\n[install]\nx=\n[global]\ny = 1\n"))
	want := map[string]map[string]string{
		"global":  {"index-url": "https://a:b@c/d#e", "extra-index-url": "\none\n\ntwo ; x", "no-index": "true", "y": "1"},
		"install": {"x": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v (-want +got)\n%s", ok, diff)
	}
	for bad, want := range map[string]int{"a=1\n": 1, "[g]\nword\n": 2, "[g\n": 1, "[g]\n=x": 2, "  x\n": 1} {
		if _, line, ok := parsePipConf([]byte(bad)); ok || line != want {
			t.Errorf("%q: line %d, %v", bad, line, ok)
		}
	}
}

func FuzzPipConf(f *testing.F) {
	for _, s := range []string{"[global]\nindex-url = https://x\n", "[a]\nb=\n c\n\n d\n", "a", "[", "[x]\n:", "\ufeff[x]\ny:z"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sections, line, ok := parsePipConf(data)
		if lines := bytes.Count(data, []byte("\n")) + 1; line > lines || !ok && line == 0 {
			t.Errorf("line %d of %d", line, lines)
		}
		for _, s := range sections {
			for name := range s {
				if name != pipName(name) && !strings.HasPrefix(name, "--") && !strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f }) {
					t.Errorf("name %q", name)
				}
			}
		}
	})
}

func TestParseNetrc(t *testing.T) {
	t.Parallel()
	got, hasDefault := parseNetrc([]byte("# machine no login no\nmachine A.example.com login dana password p#w\nmachine b login machine password \"a b\\\"c\" account x\nmacdef init\nmachine evil login x password y\n\nmachine c password only default login any password any\nmachine"))
	want := []login{{"a.example.com", "dana", "p#w"}, {"b", "machine", `a b"c`}, {"c", "", "only"}, {"", "", ""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(login{})); diff != "" || !hasDefault {
		t.Errorf("%v (-want +got)\n%s", hasDefault, diff)
	}
}

func FuzzNetrc(f *testing.F) {
	for _, s := range []string{"machine a login b password c\n", "default login a password b", "macdef x\ny\n\nmachine z", "machine \"", "# c\nmachine a", "machine a password \"\\"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		logins, _ := parseNetrc(data)
		if len(logins) > bytes.Count(data, []byte("machine")) {
			t.Errorf("%d entries", len(logins))
		}
		for _, l := range logins {
			if l.machine != strings.ToLower(l.machine) {
				t.Errorf("machine %q", l.machine)
			}
		}
	})
}

func TestParseGOPROXY(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]goHop{
		"https://a,https://b|direct": {{place: "https://a"}, {place: "https://b", always: true}, {place: "direct"}},
		"off,https://a":              {{place: "off"}}, "https://a , ,|": {{place: "https://a"}}, "": nil, ",": nil,
	} {
		if diff := cmp.Diff(want, parseGOPROXY(in), cmp.AllowUnexported(goHop{})); diff != "" {
			t.Errorf("%q (-want +got)\n%s", in, diff)
		}
	}
}

func FuzzGOPROXY(f *testing.F) {
	for _, s := range []string{"https://proxy.golang.org,direct", "a|b,c", "off", ",|,", "direct|x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		hops := parseGOPROXY(s)
		for i, h := range hops {
			if h.place == "" || strings.ContainsAny(h.place, ",|") || i < len(hops)-1 && (h.place == "direct" || h.place == "off") {
				t.Errorf("%q: %+v", s, hops)
			}
		}
	})
}

// A canonical address is its own canonical form, and lies below a directory only when
// no decoding of its path leads out of it.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://h/npm/a", "HTTPS://H:443/npm/../x", "http://h/npm/%2e%2e/x", "https://u:p@h/npm/a%2fb?q#f", "https://[::1]:8/x", "https://h./npm/..;/x", "https://h/npm/%25252e%25252e/x", "https://h\\@i/npm/", "//h/npm", "https://h:0/", "https://h/npm/..%5c..%5cx"} {
		f.Add(s)
	}
	base, err := parseAddress("https://h/npm/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := parseAddress(s)
		if err != nil {
			return
		}
		again, err := parseAddress(u.String())
		if err != nil || again.String() != u.String() || key(again) != key(u) {
			t.Fatalf("%q: %s, then %v %v", s, u, again, err)
		}
		if u.User != nil || u.Fragment != "" || u.Port() == "" || u.Host != strings.ToLower(u.Host) {
			t.Errorf("%q: %s", s, u)
		}
		if display, err := parseAddress(shown(u)); err != nil || display.String() != u.String() {
			t.Errorf("%q: shown as %s", s, shown(u))
		}
		if !below(u, base) {
			return
		}
		for path, n := u.EscapedPath(), 0; n < 3; n++ {
			for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
				if segment == ".." || segment == "." {
					t.Fatalf("%q leads out as %q", s, path)
				}
			}
			decoded, err := url.PathUnescape(path)
			if err != nil {
				break
			}
			path = decoded
		}
	})
}

// Whatever a registry answers, its links are plain addresses with whole digests.
func FuzzLinks(f *testing.F) {
	f.Add("application/json", []byte(packument("../a.tgz", "x")))
	f.Add("application/json", []byte(`{"versions":[{"dist":{"tarball":"x","shasum":"zz"}}],"files":{"a":{"url":"/b","hashes":{"sha256":"00"}}}}`))
	f.Add("text/html", []byte(`<base href="//x/"><a href="a.whl#sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad">`))
	f.Add("text/html", []byte(`<a href=javascript:x><a href="http://[::1"><a`))
	f.Add("application/vnd.pypi.simple.v1+json", []byte(strings.Repeat(`{"files":[`, 50)))
	base, err := parseAddress("https://h/simple/a/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		_ = readLinks(bytes.NewReader(data), kind, base, func(l link) {
			if again, err := canonical(l.url); err != nil || again.String() != l.url.String() {
				t.Errorf("link %s: %v", l.url, err)
			}
			if raw, err := hex.DecodeString(l.digest.sum); err != nil || l.digest.sum != "" && len(raw) != l.digest.hash().Size() {
				t.Errorf("digest %+v", l.digest)
			}
		})
	})
}
