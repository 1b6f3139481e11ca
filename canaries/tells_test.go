package canaries

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// tellsOfPrograms are what public malware and public scanners take for a sign of
// a decoy or of an analyst's machine, in small letters: parts of texts.
var tellsOfPrograms = []string{
	"akiaiosfodnn7example", "wjalrxutnfemi", "bpxrficyexamplekey", "canarytokens.com", "canarytokens.org", "canarytokens.net", "canarytoken", "thinkst",
	"honeytoken", "honeypot", "honeyd", "cowrie", "dionaea", "kippo", "spacesiren", "spacecrab", "decoy", "canary", "coalmine",
	"example", "fake", "dummy", "sample", "changeme", "placeholder", "your_", "<token>", "xxxxxxxx", "00000000", "deadbeef", "1234567890", "abcdefgh", "password123", "hunter2",
	"lorem ipsum", "foobar", "sandbox", "sandboxie", "cuckoo", "joebox", "any.run", "anyrun", "hybrid-analysis", "virustotal", "malware", "virus", "analysis", "vmware", "virtualbox", "vbox", "qemu",
	"wireshark", "burpsuite", "mitmproxy", "interactsh", "oast.", "burpcollaborator", "webhook.site", "requestbin",
	"sk_test_", "pk_test_", "glpat-example", "ghp_xxxx", "bait",
}

// analysts are users and hosts that public malware refuses to run for.
var analysts = []string{
	"sandbox", "malware", "maltest", "malnetvm", "virus", "virusclone", "test", "tester", "testuser", "john doe", "johndoe", "john", "user", "user1", "user01", "username", "admin", "administrator", "root",
	"currentuser", "emily", "hapubws", "hong lee", "it-admin", "johnson", "miller", "milozs", "peter wilson", "peterwilson", "pwilson", "timmy", "sand box", "wdagutilityaccount", "abby", "patex", "frank", "lisa",
	"george", "fred", "server", "julia", "heuerzl", "harry johnson", "lucas", "mike", "louise", "bruno", "robert", "phil", "paul jones", "janusz", "raj", "tim", "john-pc", "lisa-pc", "julia-pc", "wileypc", "ralphs-pc",
	"server1", "server-pc", "work", "archibaldpc", "nettypc", "orelleepc", "lucas-pc", "mike-pc", "louise-pc", "marci-pc", "acepc", "tequilaboomboom", "klone_x64-pc", "snort", "7silvia", "hanspeter-pc",
	"cuckoo", "remnux", "kali", "flare", "flarevm", "ubuntu", "debian", "vagrant", "localhost", "vm", "docker", "runner", "nobody", "demo", "guest", "analyst", "researcher", "lab",
}

// accounts are those of AWS whose keys scanners know for canaries.
var accounts = strings.Fields(`052310077262 171436882533 528757803018 534261010715 538784191382 595918472158 717712589309 729780141977 819147034852 893192397702 992382622183 730335385048 266735846894
	044858866125 251535659677 344043088457 351906852752 390477818340 426127672474 427150556519 439872796651 445142720921 465867158099 637958123769 693412236332 732624840810 735421457923 959235150393 982842642351`)

// whole is a set with all that a home may hold.
func whole(t *testing.T, seed uint64) *Set {
	t.Helper()
	s, err := New(seeded(seed), Options{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Workspace: []string{"workspace", "/data"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNoProgramTells(t *testing.T) {
	for seed := range uint64(scale.N(6, 24)) {
		s := whole(t, 1000+seed)
		all := append(s.Env(), s.User(), s.Home(), s.Hostname())
		for _, f := range s.Files() {
			all = append(all, f.Path, string(f.Data))
		}
		for _, c := range s.Canaries() {
			all = append(all, c.Value)
		}
		for _, text := range all {
			low := strings.ToLower(text)
			for _, tell := range tellsOfPrograms {
				if i := strings.Index(low, tell); i >= 0 {
					t.Errorf("seed %d: %q in %q", seed, tell, low[max(0, i-30):min(len(low), i+40)])
				}
			}
		}
		for _, c := range s.Canaries() {
			if strings.HasPrefix(c.Value, "AKIA") || strings.HasPrefix(c.Value, "ASIA") {
				if a := account(c.Value); slices.Contains(accounts, a) {
					t.Errorf("%s is of the account %s", c.ID, a)
				}
			}
		}
	}
}

// account is the number that scanners read from the id of a key.
func account(id string) string {
	var bits big.Int
	for _, r := range id[4:] {
		bits.Lsh(&bits, 5).Or(&bits, big.NewInt(int64(strings.IndexRune(upper+"234567", r))))
	}
	n := bits.Rsh(&bits, 32).Uint64() & 0x7fffffffff80 >> 7
	return new(big.Int).SetUint64(n).String()
}

// No user and no host that can be drawn is one of an analyst's.
func TestNoAnalyst(t *testing.T) {
	var names []string
	for _, first := range firstNames {
		for _, last := range lastNames {
			users := []string{first, first[:1] + last, first + last[:1]}
			names = append(names, users...)
			names = append(names, first+" "+last, last)
			for _, m := range machines {
				names = append(names, first+"-"+m, last+"-"+m, users[1]+"-"+m, users[2]+"-"+m)
			}
		}
	}
	for _, a := range analysts {
		if slices.Contains(names, a) {
			t.Errorf("%q can be drawn", a)
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if hasTelltale(name) || slices.ContainsFunc(tellsOfPrograms, func(s string) bool { return strings.Contains(name, s) }) {
			t.Errorf("%q tells", name)
		}
	}
}

// What a value of one kind shares with another is what all secrets of its shape begin with.
func TestNoSharedPrefix(t *testing.T) {
	byKind := map[string][]string{}
	for seed := range uint64(6) {
		for _, c := range whole(t, 2000+seed).Canaries() {
			if strings.HasPrefix(c.Value, "-----BEGIN ") {
				byKind["PEM"] = append(byKind["PEM"], pemNeedles(c.Value)[0])
				continue
			}
			byKind[c.Kind] = append(byKind[c.Kind], c.Value[len(publicPart.FindString(c.Value)):])
		}
	}
	for kind, values := range byKind {
		slices.Sort(values)
		for i, v := range values[1:] {
			n := 0
			for n < min(len(v), len(values[i])) && v[n] == values[i][n] {
				n++
			}
			// Of some four hundred values of the smallest alphabet two share five by chance.
			if n > 7 {
				t.Errorf("%s: %q and %q share %d characters", kind, values[i], v, n)
			}
		}
	}
}

// Files are as old and as long as they grow on a machine that is used.
func TestTimesAndSizes(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	sizes := map[string]map[int]bool{}
	texts := map[string]map[string]bool{}
	const runs = 12
	for seed := range uint64(runs) {
		times := map[time.Time]int{}
		var oldest, newest time.Time
		for _, f := range whole(t, 3000+seed).Files() {
			if f.Dir {
				continue
			}
			times[f.ModTime]++
			if oldest.IsZero() || f.ModTime.Before(oldest) {
				oldest = f.ModTime
			}
			if f.ModTime.After(newest) {
				newest = f.ModTime
			}
			name := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
			if sizes[name] == nil {
				sizes[name], texts[name] = map[int]bool{}, map[string]bool{}
			}
			sizes[name][len(f.Data)], texts[name][string(f.Data)] = true, true
			if f.ModTime.Nanosecond() == 0 && f.ModTime.Equal(now) {
				t.Errorf("%s is of this second", f.Path)
			}
		}
		for when, n := range times {
			if n > 2 {
				t.Errorf("seed %d: %d files of one second %v", seed, n, when)
			}
		}
		if newest.Sub(oldest) < 90*24*time.Hour || now.Sub(newest) > 30*24*time.Hour {
			t.Errorf("seed %d: from %v to %v", seed, oldest, newest)
		}
	}
	for name, least := range map[string]int{
		".bash_history": 10, "known_hosts": 4, ".bashrc": 6, ".gitconfig": 4, "notes.md": 6, "package.json": 6, "server.js": 5,
		"config": 3, "credentials": 1, "hosts.yml": 3, ".git-credentials": 3, "mcp.json": 2, ".netrc": 2, "id_rsa": 1,
	} {
		if len(sizes[name]) < least {
			t.Errorf("%s has %d sizes in %d runs", name, len(sizes[name]), runs)
		}
	}
	// A file that is the same in all homes is one that programs bring along.
	brought := []string{".profile", ".bash_logout", "config.yml", "settings.json", "First Run", ".vimrc", ".nanorc", ".inputrc"}
	for _, name := range slices.SortedFunc(slices.Values(keys(texts)), cmp.Compare) {
		if len(texts[name]) == 1 && len(sizes[name]) == 1 && !slices.Contains(brought, name) && !strings.Contains(name, "-") {
			t.Errorf("%s is the same in every home", name)
		}
	}
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}
