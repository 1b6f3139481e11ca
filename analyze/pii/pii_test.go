package pii

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Values are put together here, so that no scanner of sources takes them for real.
var (
	awsKey    = "AKIA" + "IOSFODNN7EXAMPLE"
	awsHidden = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX" + "AMPLEKEY"
	github    = "gh" + "p_" + strings.Repeat("aB3", 12)
	ant       = "sk-" + "ant-api03-" + strings.Repeat("x9", 12)
	openai    = "sk-" + "proj-" + strings.Repeat("Zk4", 12)
	stripe    = "sk" + "_live_" + strings.Repeat("4eC", 8)
	slack     = "xox" + "b-1234567890-1234567890123-" + strings.Repeat("q", 24)
	jwt       = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	pem       = "-----BEGIN RSA " + `PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\n-----END RSA ` + "PRIVATE KEY-----"
	pgp       = "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\\n" + strings.Repeat("lQOYBF", 6) + "\\n-----END PGP PRIVATE KEY BLOCK-----"
	dbURL     = "postgres://app:" + "hunter2@db.internal:5432/prod"
)

func scan(s string) string {
	sc := NewScanner(nil)
	var out []string
	for _, h := range sc.Scan([]byte(s)) {
		out = append(out, h.Category)
	}
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"PEM", `{"k": "` + pem + `"}`, "rsa_private_key"},
		{"PEM without an end", "-----BEGIN RSA " + "PRIVATE KEY-----" + strings.Repeat("A", 100), ""},
		{"PGP", pgp, "pgp_private_key"},
		{"anthropic", "key " + ant + ".", "anthropic_key"},
		{"openai", openai, "openai_key"},
		{"openai too short", "sk-abc", ""},
		{"aws id", "x=" + awsKey + ";", "aws_access_key"},
		{"aws id within a word", "Z" + awsKey, ""},
		{"aws secret", `"SecretAccessKey": "` + awsHidden + `"`, "aws_secret_key"},
		{"forty digits", `"` + awsHidden + `"`, ""},
		{"a path of forty characters", "usr/local/lib/Python3/site/packages/numx", ""},
		{"a commit's hash", "d4ce9fa3b1c2d4e5f60718293a4b5c6d7e8f9012", ""},
		{"github", github, "github_token"},
		{"stripe", stripe, "stripe_key"},
		{"slack", slack, "slack_token"},
		{"database", dbURL, "database_url email_address"}, // as glassport has it
		{"database without a password", "postgres://db.internal:5432/prod", ""},
		{"jwt", "Bearer " + jwt, "jwt_token"},
		{"three parts that are no token", "eyJxxxxxxxxxx.yyyyyyyyyy.zzzzzzzzzz", ""},
		{"named", `{"api_key": "q8Zr2LmX0vTb7NwK4sJd"}`, "generic_api_key"},
		{"named with little in it", `api-key='aaaaaaaaaaaaaaaaaaaaaaaa'`, ""},
		{"ssn", "SSN 078-05-1120.", "ssn"},
		{"ssn never issued", "000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000", ""},
		{"a date is none", "2026-11-21T10:32:07", ""},
		{"card", "4111111111111111", "credit_card"},
		{"card without its check digit", "4111111111111112", ""},
		{"card within an identifier", "a4111111111111111b", ""},
		{"amex", "378282246310005", "credit_card"},
		{"iban", "DE89370400440532013000", "iban"},
		{"iban with a wrong digit", "DE88370400440532013000", ""},
		{"email", "write to a.b+c@example.co.uk, please", "email_address"},
		{"no email", "user@host @decorator a@b", ""},
		{"private address", "at 192.168.1.20 and 10.0.0.1", strings.Repeat("private_ip ", 2)[:21]},
		{"public address", "at 192.0.2.1, 172.32.0.1 or 110.1.1.1", ""},
		{"a version is none", "v1.10.0.0.1", ""},
		{"twice the same", awsKey + " " + awsKey, "aws_access_key"},
		{"zero width", awsKey[:6] + "\u200b" + awsKey[6:], "aws_access_key"},
		{"look-alikes", strings.Replace(awsKey, "A", "А", 1), "aws_access_key"},
		{"full width", "４１１１１１１１１１１１１１１１", "credit_card"},
		{"JSON escapes", `\u0041` + awsKey[1:], "aws_access_key"},
		{"marks", strings.Join(strings.Split(awsKey, ""), "\u0332"), "aws_access_key"},
		{"nothing", "The weather in Paris is sunny, 21 degrees.", ""},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := scan(c.text); got != c.want {
				t.Errorf("%q holds %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestValidators(t *testing.T) {
	for _, c := range []struct {
		name, good, bad string
	}{
		{"luhn", "5555555555554444", "5555555555554445"},
		{"ssn", "219-09-9999", "219-09-0000"},
		{"iban", "GB82 WEST 1234 5698 7654 32", "GB82WEST12345698765433"},
		{"aba", "021000021", "021000022"},
		{"base58", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"},
		{"jwt", jwt, "eyJhbGciOiJIUzI1NiJ9.x"},
		{"uuid4", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "f47ac10b-58cc-1372-a567-0e02b2c3d479"},
		{"entropy", "q8Zr2LmX0vTb7NwK", "aaaaaaaabbbbbbbb"},
		{"entropy_high", "q8Zr2LmX0vTb7NwK4sJdP9yH", "0123456789abcdef"},
		{"entropy_auto", "d4ce9fa3b1c2d4e5f60718", "aaaaaaaaaaaaaaaab"},
	} {
		v := validators[c.name]
		if v == nil || !v([]byte(c.good)) || v([]byte(c.bad)) || v(nil) {
			t.Errorf("%s does not tell %q from %q", c.name, c.good, c.bad)
		}
	}
	if len(validators) != 10 {
		t.Errorf("%d validators, 10 are tested", len(validators))
	}
}

// Of what is redacted nothing is left that could be turned back.
func TestRedactionKeepsNothing(t *testing.T) {
	sc := NewScanner(nil)
	for _, secret := range []string{awsKey, awsHidden, github, ant, openai, stripe, slack, jwt, dbURL, "4111111111111111", "DE89370400440532013000", "078-05-1120"} {
		got := sc.Redact("the secret before " + secret + " between " + secret + " after")
		for i := 0; i+6 <= len(secret); i++ {
			if strings.Contains(got, secret[i:i+6]) {
				t.Errorf("%q shows %q", got, secret[i:i+6])
			}
		}
		if !strings.Contains(got, "redacted") || !strings.HasPrefix(got, "the secret before ") {
			t.Errorf("%q", got)
		}
	}
	if got := sc.Redact(awsKey[:6] + "\u200b" + awsKey[6:]); strings.Contains(got, "AKIA") {
		t.Errorf("%q", got)
	}
	if got := sc.Redact("mail a@example.com"); got != "mail a@example.com" {
		t.Errorf("%q", got)
	}
}

func TestOwnPatterns(t *testing.T) {
	own, err := Parse([]byte(`[
		{"category": "routing", "severity": 3, "pattern": "(?<!\\d)(\\d{9})(?!\\d)", "description": "a routing number", "validator": "aba"},
		{"category": "ticket", "severity": 1, "pattern": "TICKET-(\\d+)", "description": "a ticket"}]`))
	if err != nil {
		t.Fatal(err)
	}
	sc := NewScanner(own)
	text := "é? pay 021000021 not 021000022, TICKET-77, " + awsKey
	var got []string
	for _, h := range sc.Scan([]byte(text)) {
		got = append(got, h.Category+"="+string(sc.Value(h)))
	}
	if diff := cmp.Diff([]string{"aws_access_key=" + awsKey, "routing=021000021", "ticket=77"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBadPatterns(t *testing.T) {
	for _, bad := range []string{
		``, `{}`, `[{}]`, `[{"category":"a","severity":4,"pattern":"x","description":"d"}]`, `[{"category":"a","severity":1.5,"pattern":"x","description":"d"}]`,
		`[{"category":"a","severity":1,"pattern":"(","description":"d"}]`, `[{"category":"a","severity":1,"pattern":"x","description":"d","validator":"none"}]`,
		`[{"category":"a","severity":1,"pattern":"x","description":"d"},{"category":"b"}]`,
	} {
		if own, err := Parse([]byte(bad)); err == nil || own != nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is taken")
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(large); err == nil {
		t.Error("a file beyond the bound is taken")
	}
}

// An expression that would run for ever is given up, and the others go on.
func TestRunawayPattern(t *testing.T) {
	own, err := Parse([]byte(`[{"category":"slow","severity":1,"pattern":"(?=(a+)+$)(a+)+b","description":"d"}]`))
	if err != nil {
		t.Fatal(err)
	}
	sc := NewScanner(own)
	if hits := sc.Scan([]byte(strings.Repeat("a", 5000) + "! " + awsKey)); len(hits) != 1 || hits[0].Category != "aws_access_key" {
		t.Errorf("%v", hits)
	}
}

// What stands before a secret does not hide it, however much it is.
func TestNothingCrowdsASecretOut(t *testing.T) {
	var mails strings.Builder
	for i := range 3 * maxHits {
		fmt.Fprintf(&mails, "user%d@example.com ", i)
	}
	for name, before := range map[string]string{
		"a long text":    strings.Repeat("and so on ", 7<<20/10),
		"other hits":     mails.String(),
		"letters beyond": strings.Repeat("é ", 1<<20),
	} {
		if got := scan(before + awsKey); !strings.Contains(got, "aws_access_key") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A search takes time in proportion to the text: one that is quadratic does not end.
func TestTheSearchIsLinear(t *testing.T) {
	const long = 8 << 20
	for _, part := range []string{
		"eyJ", "ghp_", "ghp_-", "sk-ant-api03-", "sk_live_", "xoxb-1234567890-", "redis://a:", `"api_key": "`, "a@b.", "-----BEGIN RSA " + "PRIVATE KEY-----",
		"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dE6gH9jK2/ ", "10.10.", "078-05-", "eyJ" + strings.Repeat("eyJ", 1300) + ".", "\\u0041", "é",
	} {
		NewScanner(nil).Scan([]byte(strings.Repeat(part, long/len(part))))
	}
	NewScanner(nil).Scan([]byte(strings.Repeat("eyJ", long/6) + ".aaaaaaaaaa" + strings.Repeat("eyJ", long/6) + ".aaaaaaaaaa"))
}

// A secret is found wherever it stands among ordinary words.
func TestFoundAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom([]string{awsKey, github, stripe, "4111111111111111", "DE89370400440532013000", "078-05-1120", jwt}).Draw(t, "secret")
		word := rapid.StringMatching(`[ ,;{}\[\]"a-z]{0,40}[ ,;"]`)
		text := word.Draw(t, "before") + secret + ` "` + word.Draw(t, "after")
		if scan(text) == "" {
			t.Fatalf("%q hides %q", text, secret)
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{pem, awsKey, dbURL, jwt, slack, `api_key="` + awsHidden + `"`, "a@b.cc", "192.168.1.1", "\u200b\\u0041", "xoxb-", "-----BEGIN "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sc := NewScanner(nil)
		for _, h := range sc.Scan([]byte(s)) {
			if h.Start < 0 || h.End > len(sc.plain) || h.Start >= h.End {
				t.Fatalf("%+v of %q", h, s)
			}
		}
		once := sc.Redact(s)
		for _, h := range sc.Scan([]byte(once)) {
			// Numbers may come together anew where a value was taken out; no value stays.
			if h.Severity >= 2 && strings.Contains(s, string(sc.Value(h))) && len(sc.Value(h)) > 40 {
				t.Fatalf("%q leaves %s of %q", once, h.Category, s)
			}
		}
	})
}
