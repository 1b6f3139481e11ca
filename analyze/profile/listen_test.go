package profile

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const sock = "socket:[7]"

func made(kind string) trace.Record {
	return trace.Record{Op: trace.OpSocket, Call: "socket", Path: sock, Flags: kind + "|SOCK_CLOEXEC", Addr: &trace.Addr{Family: "inet"}}
}

func boundTo(host string, port int) trace.Record {
	return trace.Record{Op: trace.OpBind, Call: "bind", Path: sock, Addr: &trace.Addr{Family: "inet", Host: host, Port: port}}
}

func pipe(flags string) trace.Record {
	return trace.Record{Op: trace.OpMkdir, Call: "mknodat", Path: "/tmp/x.ctl", Flags: flags}
}

func mode(flags string) trace.Record {
	return trace.Record{Op: trace.OpAttr, Call: "chmod", Path: "/tmp/x.ctl", Flags: flags}
}

func TestListeners(t *testing.T) {
	listens := trace.Record{Op: trace.OpListen, Call: "listen", Path: sock}
	connects := trace.Record{Op: trace.OpConnect, Call: "connect", Path: sock, Addr: &trace.Addr{Family: "inet", Host: "192.0.2.1", Port: 80}}
	for name, c := range map[string]struct {
		records []trace.Record
		want    string
	}{
		"a port":                         {[]trace.Record{made("SOCK_STREAM"), boundTo("0.0.0.0", 8080), listens}, "0.0.0.0:8080"},
		"a drawn port":                   {[]trace.Record{made("SOCK_STREAM"), boundTo("0.0.0.0", 0), listens}, "0.0.0.0:0"},
		"a drawn port that waits for no": {[]trace.Record{made("SOCK_DGRAM"), boundTo("0.0.0.0", 0)}, ""},
		"no address":                     {[]trace.Record{made("SOCK_STREAM"), listens}, "0.0.0.0:0"},
		"a client":                       {[]trace.Record{made("SOCK_STREAM"), boundTo("0.0.0.0", 40000), connects}, ""},
		"a unix socket":                  {[]trace.Record{listens}, ""},
		"a pipe for everyone":            {[]trace.Record{pipe("S_IFIFO|0666"), mode("0666")}, "pipe:/tmp/x.ctl"},
		"a pipe for its user":            {[]trace.Record{pipe("S_IFIFO|0600"), mode("0620")}, ""},
		"a file for everyone":            {[]trace.Record{pipe("S_IFREG|0644"), mode("0666")}, ""},
	} {
		got := ""
		for _, e := range effects(c.records...) {
			if e.Kind == finding.NetListen {
				got += e.Target
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// To name a peer to a socket of datagrams sends nothing, where all that is sent is told.
func TestAPeerOfDatagramsIsNoTraffic(t *testing.T) {
	names := trace.Record{Op: trace.OpConnect, Call: "connect", Path: sock, Addr: &trace.Addr{Family: "inet", Host: "192.0.2.1", Port: 80}}
	sends := trace.Record{Op: trace.OpSend, Call: "sendto", Path: sock, Ret: 1}
	for name, c := range map[string]struct {
		flows   bool
		records []trace.Record
		want    bool
	}{
		"named":                     {true, []trace.Record{made("SOCK_DGRAM"), names}, false},
		"named and sent to":         {true, []trace.Record{made("SOCK_DGRAM"), names, withPeer(sends)}, true},
		"named, by a stream":        {true, []trace.Record{made("SOCK_STREAM"), names}, true},
		"named, where no flow told": {false, []trace.Record{made("SOCK_DGRAM"), names}, true},
	} {
		b := NewBuilder(Context{Home: "/home/dana", Flows: c.flows})
		for _, r := range c.records {
			r.Tid = 1
			b.Record(&r)
		}
		got := false
		for _, e := range b.Profile().Effects {
			got = got || e.Kind == finding.NetConnect
		}
		if got != c.want {
			t.Errorf("%s: told %v", name, got)
		}
	}
}

func withPeer(r trace.Record) trace.Record {
	r.Addr = &trace.Addr{Family: "inet", Host: "192.0.2.1", Port: 80}
	return r
}

func TestCredentialHelpers(t *testing.T) {
	for line, want := range map[string]string{
		"gh auth token": "gh auth token", "/usr/bin/git credential fill": "git credential fill", "gh auth status": "", "gh pr list": "", "git status": "", "git credential approve": "",
		"pass show git/token": "pass show", "pass --version": "", "aws --profile x configure get aws_secret_access_key": "aws configure get", "aws s3 ls": "",
		"docker-credential-desktop get": "docker-credential-desktop get", "npm config get //registry.npmjs.org/:_authToken": "npm config get //", "npm config get registry": "", "": "",
	} {
		if got := credentialHelper(strings.Fields(line), "/usr/bin/python3"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if got := credentialHelper([]string{"git", "credential-store", "get"}, "/usr/bin/git"); got != "" {
		t.Errorf("git's own question is %q", got)
	}
}

// Every helper is known by what it hands out: what its command asks leads back to its own list.
func TestHelpersByWhatTheyHandOut(t *testing.T) {
	for handed, list := range helpers {
		for _, h := range list {
			argv := append([]string{strings.ReplaceAll(h.program, "*", "x")}, strings.Fields(strings.ReplaceAll(h.words, "*", "x"))...)
			asks := credentialHelper(argv, "/usr/bin/python3")
			if got := HandedBy(asks); asks == "" || got != Handed(handed) {
				t.Errorf("%q asks %q, which hands out %d, want %d", argv, asks, got, handed)
			}
		}
	}
}

func TestPlacesThatAreAskedFor(t *testing.T) {
	for p, want := range map[string]bool{"/home/dana/.bitcoin/wallet.dat": true, "/home/dana/.config/gh/hosts.yml": true, "/home/dana/.config/notes.json": false, "/srv/notes/wallet.dat": false} {
		for _, err := range []string{"", "ENOENT"} {
			got := effects(trace.Record{Op: trace.OpStat, Call: "faccessat2", Path: p, Err: err})
			if (len(got) == 1 && got[0].Kind == finding.FileRead && got[0].Target == p && got[0].Noise != "") != want {
				t.Errorf("%s %s: %+v", p, err, got)
			}
		}
	}
}

// Every way to ask about a file counts, but where the name may come from a listing.
func TestQuestionsAboutPlaces(t *testing.T) {
	t.Parallel()
	const wallet = "/home/dana/.bitcoin/wallet.dat"
	ask := func(call, err string) trace.Record {
		return trace.Record{Op: trace.OpStat, Call: call, Path: wallet, Err: err}
	}
	list := trace.Record{Op: trace.OpOpen, Call: "openat", Path: "/home/dana/.bitcoin", Flags: "O_RDONLY|O_DIRECTORY"}
	for _, c := range []struct {
		name    string
		records []trace.Record
		want    string
	}{
		{"stat of nothing", []trace.Record{ask("newfstatat", "ENOENT")}, noiseAbsent},
		{"stat of what is there", []trace.Record{ask("statx", "")}, noiseLooked},
		{"readlink of a file", []trace.Record{ask("readlink", "EINVAL")}, noiseLooked},
		{"readlink of nothing", []trace.Record{ask("readlinkat", "ENOTDIR")}, noiseAbsent},
		{"after a listing", []trace.Record{list, ask("lstat", "")}, ""},
		{"long after a listing", []trace.Record{list, {Op: trace.OpStat, Call: "lstat", Path: wallet, Time: listingTime}}, noiseLooked},
		{"nothing, after a listing", []trace.Record{list, ask("lstat", "ENOENT")}, noiseAbsent},
		{"access, after a listing", []trace.Record{list, ask("access", "")}, noiseLooked},
	} {
		got := ""
		for _, e := range effects(c.records...) {
			if e.Target == wallet {
				got = e.Noise
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A word is found as it stands and in the encodings in which programs send texts, wherever
// it begins.
func TestWordsAreFound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z0-9]{10,30}`).Draw(r, "word")
		around := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(r, "before")
		whole := slices.Concat(around, []byte(word))
		for name, sent := range map[string]string{"plain": string(whole), "hex": hex.EncodeToString(whole), "base64": base64.StdEncoding.EncodeToString(whole)} {
			if !formsOf(word).in(sentOf([]byte("x=" + sent))) {
				r.Fatalf("%s of %q is not found in %q", name, word, sent)
			}
		}
		if other := strings.Map(func(c rune) rune { return c ^ 0x20 }, word); other != word && !strings.ContainsAny(word, "0123456789") && formsOf(word).in(sentOf([]byte(other))) {
			r.Fatalf("%q is found in %q", word, other)
		}
	})
}
