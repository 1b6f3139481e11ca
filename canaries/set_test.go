package canaries

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// seeded is a source of randomness that is the same every time.
func seeded(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

func newSet(t testing.TB, seed uint64) *Set {
	t.Helper()
	s, err := New(seeded(seed), Options{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func byID(t testing.TB, s *Set, id string) Canary {
	t.Helper()
	for _, c := range s.Canaries() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no canary %q", id)
	return Canary{}
}

func TestSameSourceSameSet(t *testing.T) {
	a, b := newSet(t, 1), newSet(t, 1)
	if !slices.EqualFunc(a.Canaries(), b.Canaries(), func(x, y Canary) bool { return x.ID == y.ID && x.Value == y.Value }) {
		t.Error("the same source led to other values")
	}
	if !slices.EqualFunc(a.Files(), b.Files(), func(x, y File) bool { return x.Path == y.Path && bytes.Equal(x.Data, y.Data) }) {
		t.Error("the same source led to other files")
	}
	if !slices.Equal(a.Env(), b.Env()) || a.Hostname() != b.Hostname() {
		t.Error("the same source led to another environment")
	}
}

func TestValuesAreUnique(t *testing.T) {
	ids, values := map[string]bool{}, map[string]bool{}
	for seed := range uint64(8) {
		for _, c := range newSet(t, seed).Canaries() {
			if values[c.Value] {
				t.Errorf("%s: value seen before", c.ID)
			}
			values[c.Value] = true
			if seed == 0 && ids[c.ID] {
				t.Errorf("id %s given twice", c.ID)
			}
			ids[c.ID] = true
			if places := slices.DeleteFunc([]string{c.Path, c.Env, c.URL}, func(p string) bool { return p == "" }); len(places) != 1 {
				t.Errorf("%s is at %q: want exactly one place", c.ID, places)
			}
		}
	}
}

func TestNothingTells(t *testing.T) {
	for seed := range uint64(scale.N(4, 16)) {
		s := newSet(t, seed)
		all := append(s.Env(), s.User(), s.Home(), s.Hostname())
		for _, f := range s.Files() {
			all = append(all, f.Path, string(f.Data))
		}
		for _, text := range all {
			if hasTelltale(text) {
				t.Errorf("seed %d: a telltale word in %q", seed, text)
			}
		}
	}
}

// shapes are what the issuers' own scanners look for.
var shapes = map[string]string{
	"aws-key-id": `^AKIA[A-Z2-7]{16}$`, "env-aws-key-id": `^AKIA[A-Z2-7]{16}$`,
	"aws-secret": `^[A-Za-z0-9/+]{40}$`, "env-aws-secret": `^[A-Za-z0-9/+]{40}$`,
	"gcloud-client-secret": `^GOCSPX-[\w-]{28}$`, "gcloud-refresh-token": `^1//0[\w-]{98}$`, "firebase-refresh-token": `^1//0[\w-]{98}$`,
	"kube-token":     `^kubeconfig-u-[b-df-hj-np-tv-xz2-9]{10}:[b-df-hj-np-tv-xz2-9]{54}$`,
	"netrc-password": `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
	"npm-token":      `^npm_[A-Za-z0-9]{36}$`, "env-npm": `^npm_[A-Za-z0-9]{36}$`,
	"pypi-token":     `^pypi-AgEIcHlwaS5vcmc[\w-]{50,}$`,
	"docker-token":   `^dckr_pat_[\w-]{27}$`,
	"git-credential": `^ghp_[A-Za-z0-9]{36}$`, "env-github": `^ghp_[A-Za-z0-9]{36}$`, "gh-token": `^gho_[A-Za-z0-9]{36}$`,
	"dotenv-stripe": `^sk_live_[A-Za-z0-9]{24}$`, "dotenv-sendgrid": `^SG\.[\w-]{22}\.[\w-]{43}$`, "dotenv-session": `^[0-9a-f]{64}$`,
	"history-gitlab": `^glpat-[\w-]{20}$`, "history-mysql": `^[A-Za-z0-9]{24}$`,
	"claude-desktop-github": `^github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}$`,
	"claude-desktop-slack":  `^xoxb-[0-9]{12}-[0-9]{13}-[A-Za-z0-9]{24}$`, "env-slack": `^xoxb-[0-9]{12}-[0-9]{13}-[A-Za-z0-9]{24}$`,
	"cursor-linear": `^lin_api_[A-Za-z0-9]{40}$`, "cursor-postgres": `^[A-Za-z0-9]{24}$`,
	"chrome-login": `^[A-Za-z0-9]{24}$`, "firefox-login": `^MEIEEPgA{19}EwFAYIKoZIhvcNAwcEC[A-P][A-Za-z0-9+/]+={0,2}$`, "ethereum-key": `^[0-9a-f]{64}$`,
	"vscode-notion": `^ntn_[0-9]{11}[A-Za-z0-9]{35}$`, "argocd-jwt": `^eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJ[\w-]+\.[\w-]{43}$`,
	"metadata-aws-key-id": `^ASIA[A-Z2-7]{16}$`, "metadata-aws-secret": `^[A-Za-z0-9/+]{40}$`,
	"metadata-aws-session": `^IQoJb3JpZ2luX2VjE[A-Za-z0-9/+]{240}$`, "metadata-token": `^ya29\.c\.[A-Za-z0-9]{140}$`,
	"env-openai": `^sk-proj-[\w-]{74}T3BlbkFJ[\w-]{74}$`, "env-anthropic": `^sk-ant-api03-[\w-]{93}AA$`, "env-database": `^[A-Za-z0-9]{24}$`,
}

func TestShapes(t *testing.T) {
	for seed := range uint64(4) {
		for _, c := range newSet(t, seed).Canaries() {
			if strings.HasPrefix(c.Value, "-----BEGIN ") {
				continue
			}
			shape, ok := shapes[c.ID]
			if !ok {
				t.Fatalf("%s: no shape is known", c.ID)
			}
			if !regexp.MustCompile(shape).MatchString(c.Value) {
				t.Errorf("%s: %q is not of the shape %s", c.ID, c.Value, shape)
			}
			for _, prefix := range []string{"ghp_", "gho_", "npm_"} {
				if rest, ok := strings.CutPrefix(c.Value, prefix); ok && checksum62(rest[:30]) != rest[30:] {
					t.Errorf("%s: wrong checksum", c.ID)
				}
			}
		}
	}
}

// The checksum of a text whose CRC-32 is known: 0x414FA339, "The quick brown fox…".
func TestChecksum62(t *testing.T) {
	if got := checksum62("The quick brown fox jumps over the lazy dog"); got != reference62(0x414FA339) {
		t.Errorf("got %s", got)
	}
	if got := checksum62(""); got != "000000" {
		t.Errorf("of nothing: %s", got)
	}
}

func reference62(n int64) string {
	s := big.NewInt(n).Text(62) // digits, lower, upper
	swap := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 32
		case r >= 'A' && r <= 'Z':
			return r + 32
		}
		return r
	}
	return strings.Repeat("0", 6-len(s)) + strings.Map(swap, s)
}

// An access key id tells the number of its account: twelve digits.
func TestAWSAccount(t *testing.T) {
	m := newMint(seeded(3))
	for range 200 {
		id := m.awsKeyID("AKIA")
		var bits big.Int
		for _, r := range id[4:] {
			bits.Lsh(&bits, 5).Or(&bits, big.NewInt(int64(strings.IndexRune(upper+"234567", r))))
		}
		account := bits.Rsh(&bits, 32).Uint64() & 0x7fffffffff80 >> 7
		if account < 100_000_000_000 || account > 999_999_999_999 {
			t.Fatalf("%s: account %d", id, account)
		}
	}
}

func TestFilesHoldTheirCanaries(t *testing.T) {
	s := newSet(t, 5)
	files := map[string]File{}
	for _, f := range s.Files() {
		files[f.Path] = f
	}
	for _, c := range s.Canaries() {
		switch {
		case c.URL != "":
		case c.Env != "":
			if !slices.ContainsFunc(s.Env(), func(kv string) bool {
				return strings.HasPrefix(kv, c.Env+"=") && strings.Contains(kv, c.Value)
			}) {
				t.Errorf("%s is not in $%s", c.ID, c.Env)
			}
			if s.Value(c.ID) != c.Value {
				t.Errorf("%s has the value %q", c.ID, s.Value(c.ID))
			}
		default:
			f, ok := files[c.Path]
			if !ok || f.Mode.Perm()&0o077 != 0 {
				t.Errorf("%s: no private file %s", c.ID, c.Path)
			}
			if !slices.ContainsFunc(s.Find(f.Data), func(h Hit) bool { return h.ID == c.ID }) {
				t.Errorf("%s is not found in %s", c.ID, c.Path)
			}
			if !slices.Contains(s.Watch(), c.Path) {
				t.Errorf("%s is not watched", c.Path)
			}
		}
	}
	for _, f := range s.Files() {
		if len(s.Find(f.Data)) > 0 && !slices.Contains(s.Watch(), f.Path) {
			t.Errorf("%s holds a canary and is not watched", f.Path)
		}
	}
}

func TestTree(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, opts := range []Options{{Now: now}, {Now: now, User: "kim", Home: "/srv/kim/"}, {Now: now, User: "kim", Home: "/"}} {
		s, err := New(seeded(9), opts)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, f := range s.Files() {
			if i == 0 && (f.Path != s.Home() || !f.Dir) {
				t.Errorf("the first file is %s, not HOME", f.Path)
			}
			if i > 0 && !seen[path.Dir(f.Path)] {
				t.Errorf("%s comes before its directory", f.Path)
			}
			if seen[f.Path] {
				t.Errorf("%s comes twice", f.Path)
			}
			seen[f.Path] = f.Dir
			if age := now.Sub(f.ModTime); age < time.Hour || age > 401*24*time.Hour {
				t.Errorf("%s is %v old", f.Path, age)
			}
		}
		if opts.User != "" && s.User() != opts.User || opts.Home != "" && s.Home() != path.Clean(opts.Home) {
			t.Errorf("options %+v gave %s, %s", opts, s.User(), s.Home())
		}
	}
}

func TestConfigsAreJSON(t *testing.T) {
	for _, f := range newSet(t, 2).Files() {
		if strings.HasSuffix(f.Path, ".json") && !json.Valid(f.Data) {
			t.Errorf("%s is not JSON:\n%s", f.Path, f.Data)
		}
	}
}

func TestWhere(t *testing.T) {
	s := newSet(t, 2)
	if got := byID(t, s, "ssh-key").Where(s.Home()); got != "~/.ssh/id_rsa" {
		t.Error(got)
	}
	if got := byID(t, s, "env-github").Where(s.Home()); got != "$GITHUB_TOKEN" {
		t.Error(got)
	}
	if got := byID(t, s, MetadataToken).Where(s.Home()); !strings.HasPrefix(got, "http://metadata.google.internal/") {
		t.Error(got)
	}
	for home, want := range map[string]string{"/home/kim": "~/.env", "/home/kim/": "~/.env", "/home/ki": "/home/kim/.env", "": "/home/kim/.env"} {
		if got := (Canary{Path: "/home/kim/.env"}).Where(home); got != want {
			t.Errorf("from %q: %s, want %s", home, got, want)
		}
	}
}

func TestBadSources(t *testing.T) {
	broken := errors.New("broken")
	if _, err := New(iotest.ErrReader(broken), Options{}); !errors.Is(err, broken) {
		t.Errorf("broken source: %v", err)
	}
	if _, err := New(io.LimitReader(seeded(1), 3000), Options{}); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Errorf("short source: %v", err)
	}
	if _, err := New(zeros{}, Options{}); !errors.Is(err, errStuck) {
		t.Errorf("stuck source: %v", err)
	}
	if _, err := New(nil, Options{}); err == nil {
		t.Error("no source: no error")
	}
	if _, err := New(seeded(1), Options{Home: "home/kim"}); err == nil {
		t.Error("relative home: no error")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestRSAKey(t *testing.T) {
	seed := func(n uint64) []byte {
		b := make([]byte, primeBytes)
		_, _ = io.ReadFull(seeded(n), b)
		return b
	}
	for i := range uint64(3) {
		k := newRSAKey(seed(2*i), seed(2*i+1))
		if k.n.BitLen() != 2048 || !k.p.ProbablyPrime(20) || !k.q.ProbablyPrime(20) {
			t.Fatal("not a key of 2048 bits")
		}
		text := big.NewInt(0xC0FFEE)
		c := new(big.Int).Exp(text, k.e, k.n)
		if new(big.Int).Exp(c, k.d, k.n).Cmp(text) != 0 {
			t.Fatal("the two exponents do not undo each other")
		}
		if r := new(big.Int).Mul(k.iqmp, k.q); r.Mod(r, k.p).Cmp(big.NewInt(1)) != 0 {
			t.Fatal("iqmp is not q's inverse")
		}
	}
}

// The range that counts as secret holds what ssh calls the private key, and nothing public.
func TestSSHSecretRange(t *testing.T) {
	s := newSet(t, 11)
	for _, c := range s.Canaries() {
		if c.Kind != "ssh" {
			continue
		}
		body := strings.NewReplacer(sshBegin, "", sshEnd, "", "\n", "").Replace(c.Value)
		blob, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		from, to, ok := sshSecret(blob)
		if !ok || to <= from {
			t.Fatalf("%s: no secret range", c.ID)
		}
		if c.ID == "ssh-key-ed25519" {
			k := ed25519.NewKeyFromSeed(blob[from:to])
			if !bytes.Contains(blob, k.Public().(ed25519.PublicKey)) {
				t.Errorf("%s: the range is not the seed", c.ID)
			}
		} else if to-from < 256+128*3 {
			t.Errorf("%s: only %d secret bytes", c.ID, to-from)
		}
	}
	for _, f := range s.Files() {
		if strings.HasSuffix(f.Path, ".pub") {
			if hits := s.Find(f.Data); hits != nil {
				t.Errorf("%s: a public key counts as %v", f.Path, hits)
			}
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		if _, err := New(seeded(uint64(i)), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The first decoys of a set are found and redacted as in a set of their own, the others not at all.
func TestFirstOfASet(t *testing.T) {
	whole := FromCanaries([]Canary{
		{ID: "a", Value: "Kx92hTq0LmVb7Zr4"}, {ID: "b", Value: "Wp31cYs8NdGf6Je5"}, {ID: "more", Value: "Uo74iRz2BvXk9Ha6"},
	})
	first, alone := whole.First(2), FromCanaries(whole.Canaries()[:2])
	if got, want := first.Canaries(), alone.Canaries(); !slices.EqualFunc(got, want, Canary.equal) {
		t.Fatalf("the set has %v, want %v", got, want)
	}
	for _, c := range whole.Canaries() {
		for _, s := range []string{c.Value, reversed(c.Value), hex.EncodeToString([]byte(c.Value)), base64.StdEncoding.EncodeToString(gzipped([]byte(c.Value)))} {
			if got, want := first.Find([]byte(s)), alone.Find([]byte(s)); !slices.Equal(got, want) {
				t.Errorf("%s in %q: found %v, want %v", c.ID, s, got, want)
			}
			if got, want := first.Redact(s), alone.Redact(s); got != want {
				t.Errorf("%s: %q is redacted to %q, want %q", c.ID, s, got, want)
			}
		}
		if len(whole.Find([]byte(c.Value))) == 0 {
			t.Errorf("the whole set does not find %s", c.ID)
		}
	}
}
