package secrets

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"gha-creds-0123abcd.json": true, "a/terraform.tfstate": true, "x.tfstate.backup": true, "keys/release.JKS": true, "a.p12": true, "a.pfx": true, "kubeconfig": true,
		"my.kubeconfig": true, "kubeconfig-prod.yaml": true, ".env": true, "a/.env.production": true, "prod.env": true, ".netrc": true, ".npmrc": true, ".pypirc": true,
		"id_ed25519": true, "my-service-account.json": true, ".cargo/credentials.toml": true, ".m2/settings.xml": true, "secring.gpg": true,
		"server.js": false, "kubeconfig.js": false, "package.json": false, "environment.ts": false, "auth.json": false, "settings.xml": false, "config": false,
	} {
		if got := Named(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for dir, want := range map[string]bool{"home/u/.ssh": true, ".aws": true, "a/.config/gcloud": true, "a/.kube": true, "a/config": false, "ssh": false} {
		if got := Directory(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

// key is a private key's text, of no use to anybody.
func key(kind string) string {
	return "-----BEGIN " + kind + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj0Ab3\n", 8) + "-----END " + kind + "PRIVATE KEY-----\n"
}

// values are secrets of the shapes that their issuers give them.
func values(draw func(alphabet string, n int) string) map[string]string {
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return map[string]string{
		"github": "ghp_" + draw(word, 36), "fine": "github_pat_" + draw(word, 82), "npm": "npm_" + draw(word, 36), "aws": "AKIA" + draw("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
		"slack": "xoxb-" + draw("0123456789", 12) + "-" + draw("0123456789", 12) + "-" + draw(word, 24), "anthropic": "sk-ant-api03-" + draw(word, 90), "stripe": "sk_live_" + draw(word, 24),
		"google": "GOCSPX-" + draw(word, 28), "gitlab": "glpat-" + draw(word, 20), "age": "AGE-SECRET-KEY-1" + draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
		"jwt": "eyJ" + draw(word, 40) + "." + draw(word, 60) + "." + draw(word, 43),
	}
}

// Each value is found and masked wherever it stands, in what was installed too.
func TestValuesAreMasked(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := values(func(alphabet string, n int) string {
			return rapid.StringOfN(rapid.SampledFrom([]rune(alphabet)), n, n, n).Draw(r, "value")
		})
		for kind, value := range all {
			if kind != "aws" && !strings.ContainsAny(value[4:], "0123456789") {
				continue // at random they have one
			}
			around := rapid.SampledFrom([]string{"%", "const token = '%';\n", `{"a": "%"}`, "export T=%\n", "https://%@host/x", `"x\n%"`, "\x00\x01%\x00"}).Draw(r, "around")
			text := strings.ReplaceAll(around, "%", value)
			v, err := Read(context.Background(), "src/a.ts", []byte(text), Installed)
			if err != nil || v.Kind != Mixed {
				r.Fatalf("%s in %q: %v, %v", kind, text, v.Kind, err)
			}
			masked := v.Mask([]byte(text))
			if bytes.Contains(masked, []byte(value)) || len(masked) != len(text) {
				r.Fatalf("%s: masked as %q", kind, masked)
			}
		}
	})
}

// utf16Of is a text in UTF-16, with a byte order mark or without.
func utf16Of(text string, order binary.AppendByteOrder, mark bool) []byte {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// What an editor or a shell of Windows writes is searched like any other text.
func TestWideTextsAreRead(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6", 6)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []bool{true, false} {
			for _, c := range []struct {
				file, text string
				want       Kind
			}{
				{"a.ps1", "# schlüssel\r\n$env:GH = '" + token + "'\r\n", Mixed},
				{"config", "password = aB3dE6gH9jK2mN5pQ8sT1vW4yZ\r\n", Mixed},
				{"k", key("RSA "), Mixed},
				{"a.yaml", "kind: Secret\napiVersion: v1\ndata: {}\n", Whole},
				{"a.txt", "nothing of the kind stands in this text\n", Clean},
			} {
				data := utf16Of(c.text, order, mark)
				v, err := Read(context.Background(), c.file, data, Own)
				if err != nil || v.Kind != c.want {
					t.Errorf("%s, %v, mark %t: %v, %v", c.file, order, mark, v.Kind, err)
					continue
				}
				if c.want != Mixed {
					continue
				}
				masked := v.Mask(data)
				again, err := Read(context.Background(), c.file, masked, Own)
				if err != nil || len(masked) != len(data) || bytes.Equal(masked, data) || bytes.Contains(masked, utf16Of(token, order, false)) {
					t.Errorf("%s, %v, mark %t: masked as %q, %v, %v", c.file, order, mark, masked, again.Kind, err)
				}
				if strings.Contains(c.text, "schlüssel") && !bytes.Contains(masked, utf16Of("schlüssel", order, false)) {
					t.Errorf("%s: more than the secret is masked: %q", c.file, masked)
				}
			}
		}
	}
	if v, err := Read(context.Background(), "a.yaml", []byte("\xef\xbb\xbfkind: Secret\n"), Own); err != nil || v.Kind != Whole {
		t.Errorf("behind a mark of UTF-8: %v, %v", v.Kind, err)
	}
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		origin     Origin
		want       Kind
	}{
		"a private key":                     {"a.pem", key("RSA "), Installed, Mixed},
		"OpenSSH's":                         {"k", key("OPENSSH "), Installed, Mixed},
		"an encrypted one":                  {"k", key("ENCRYPTED "), Installed, Mixed},
		"PuTTY's":                           {"k", "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 14\n" + strings.Repeat("AAAAB3Nz\n", 14) + "Private-MAC: 00\n", Installed, Mixed},
		"a certificate":                     {"a.pem", strings.ReplaceAll(key(""), "PRIVATE KEY", "CERTIFICATE"), Own, Clean},
		"words about keys":                  {"a.js", `if (pem.startsWith("-----BEGIN PRIVATE KEY-----")) return`, Own, Clean},
		"code about keys":                   {"a.js", "if (k.indexOf(\"-----BEGIN PRIVATE KEY-----\") !== 0)\n    throw new TypeError('\"pkcs8\" must be PKCS#8 formatted string');\n" + strings.Repeat("const normalized = normalizeJwk(jwk);\n", 9) + "x(\"-----END PRIVATE KEY-----\")", Own, Clean},
		"names after a header":              {"a.js", `"-----BEGIN PRIVATE KEY-----", exportPrivateKey, importPublicKeyFile, normalizeJsonWebKey, validateExtractableOption, formatCertificate`, Own, Clean},
		"a key in a program":                {"a.go", "x = \"-----BEGIN PRIVATE KEY-----\\n\" +\n\t\"" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\" +\n\t\"", 3) + "AgEAAo==\\n-----END\"", Installed, Mixed},
		"a key on one line":                 {"a.env", "KEY=-----BEGIN PRIVATE KEY-----\\nMC4CAQAwBQYDK2VwBCIEIHZ0b3NlY3JldGtleWJvZHlmb3J0ZXN0aW5nMTIzNDU2\\n-----END PRIVATE KEY-----\\n", Installed, Mixed},
		"a service account":                 {"x.json", `{"type": "service_account", "private_key_id": "1"}`, Own, Whole},
		"a workload identity":               {"x.json", `{"type": "external_account"}`, Own, Whole},
		"a kubeconfig":                      {"cluster.yaml", "apiVersion: v1\nkind: Config\nusers:\n- name: a\n", Own, Whole},
		"Kubernetes' secret":                {"s.yaml", "kind: Secret\ndata:\n  a: aGk=\n", Own, Whole},
		"a Java key store":                  {"x.bin", "\xfe\xed\xfe\xed\x00\x00\x00\x02", Installed, Whole},
		"PKCS #12":                          {"x.bin", "\x30\x82\x0a\x01\x02\x01\x03\x30\x82", Installed, Whole},
		"a password in an address":          {"c.yaml", "db: postgres://app:Tr0ub4dor3@db/x\n", Own, Mixed},
		"AWS's secret key":                  {"c.ini", "aws_secret_access_key = wJalrXUtnFEMI0K7MDENGabPxRfiCYzzzzzzKEYX\n", Own, Mixed},
		"a token in a repository's setting": {"config", "[http]\n\textraheader = AUTHORIZATION: basic eDphY2Nlc3MtdG9rZW4tMTIz\n", Own, Mixed},
		"a header in a program":             {"a.js", "const headers = { Authorization: 'Basic eDphY2Nlc3MtdG9rZW4tMTIz' }", Own, Mixed},
		"an expression for a header":        {"a.js", "const authorization = token.startsWith('FlyV1 ') ? token : `Bearer ${token}`", Own, Clean},
		"a secret by its name":              {"c.json", `{"api_key": "q7Zp2LxV9mKt4RwB8sYd"}`, Own, Mixed},
		"a word that allows it":             {"c.json", `{"api_key": "q7Zp2LxV9mKt4RwB8sYd"} // gitleaks:allow`, Own, Mixed},
		"an identifier":                     {"a.js", "const npm_config_user_agent_of_this_package_manager = sk_live_view_component", Installed, Clean},
		"a constant":                        {"a.js", "NO_ACCEPTABLE_AUTH: SOCKS5_NO_ACCEPTABLE_AUTH,", Own, Clean},
		"a checksum":                        {"package-lock.json", `"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="`, Own, Clean},
	} {
		v, err := Read(t.Context(), c.file, []byte(c.text), c.origin)
		if err != nil || v.Kind != c.want {
			t.Errorf("%s: %v, want %v (%v)", name, v.Kind, c.want, err)
		}
	}
}

// Whatever a file holds, it can be read and masked, and keeps its length.
func FuzzRead(f *testing.F) {
	f.Add("a.json", []byte(`{"a": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}`), true)
	f.Add("k", []byte(key("RSA ")), false)
	f.Add("k", []byte("-----BEGIN PRIVATE KEY-----\n12"), false)
	f.Add("k", []byte("-----BEGIN PRIVATE KEY-----\nVersion: 1"), false)
	f.Add("c", []byte("x://a:bcdefgh@i \xfe\xed\xfe\xed"), true)
	f.Fuzz(func(t *testing.T, name string, data []byte, own bool) {
		origin := Installed
		if own {
			origin = Own
		}
		v, err := Read(t.Context(), name, data, origin)
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Mask(data)) != len(data) {
			t.Fatal("its length changes")
		}
	})
}
