package synth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// A tool that verifies tokens takes only what is signed, or also what is shorter.
func TestSignatures(t *testing.T) {
	t.Parallel()
	const makes = `{"type":"object","properties":{"claims":{"type":"object"},"key":{"type":"string"}},"required":["claims","key"]}`
	const checks = `{"type":"object","properties":{"token":{"type":"string"},"key":{"type":"string"}},"required":["token","key"]}`
	sign := func(signed, key string) string {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(signed))
		return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	for _, whole := range []bool{true, false} {
		f := newFake(tool("make_token", makes), tool("verify_token", checks))
		for i, text := range []string{"Makes a signed token.", "Verifies the signature of a token."} {
			f.surface.Tools[i].Description = text
		}
		f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
			var args struct{ Token, Key string }
			_ = json.Unmarshal(raw, &args)
			if name == "make_token" {
				signed := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ"
				return success(signed + "." + sign(signed, args.Key)), nil
			}
			at := strings.LastIndexByte(args.Token, '.')
			if at < 0 {
				return success("no token"), nil
			}
			right, given := sign(args.Token[:at], args.Key), args.Token[at+1:]
			if whole && given == right || !whole && strings.HasPrefix(right, given) {
				return success("valid"), nil
			}
			return success("not valid"), nil
		}
		took := map[string]bool{}
		context := ""
		cfg := Config{Calls: 3, OnCall: func(call Call) {
			context = ""
			for _, in := range call.Oracles {
				if in.Oracle == session.OracleSignature {
					context = in.Context
				}
			}
		}, OnReturn: func(_ Call, _ Outcome, r client.Result) {
			if context != "" && strings.Contains(string(r.Raw), `"valid"`) {
				took[context] = true
			}
		}}
		drive(t, f, cfg)
		want := []string{session.SignatureGenuine}
		if !whole {
			want = append(want, "no signature", "signature of four characters", "algorithm none")
		}
		for _, c := range want {
			if !took[c] {
				t.Errorf("whole %t: %s was not taken: %v", whole, c, took)
			}
		}
		if len(took) != len(want) {
			t.Errorf("whole %t: took %v", whole, took)
		}
	}
}

func TestSignatureForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signed string
		want   []string
	}{
		{"short", nil},
		{strings.Repeat("ab", 32), []string{"altered signature", "signature of four characters", "empty signature"}},
		{"ana:" + strings.Repeat("ab", 32), []string{"altered signature", "signature of four characters", "no signature"}},
		{oracle.JWT("key"), []string{"altered signature", "signature of four characters", "no signature", "algorithm none"}},
	} {
		var got, texts []string
		for _, in := range oracle.Signatures(c.signed) {
			if slices.Contains(texts, in.Text) {
				t.Errorf("%s: %q comes twice", c.signed, in.Text)
			}
			texts = append(texts, in.Text)
			if in.Context != session.SignatureGenuine && in.Context != session.SignatureNone {
				got = append(got, in.Context)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.signed, got, c.want)
		}
	}
}
