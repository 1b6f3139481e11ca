package synth

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// A tool that encrypts gets texts of equal blocks, and one that decrypts, or does neither, none.
func TestCiphers(t *testing.T) {
	t.Parallel()
	const seals = `{"type":"object","properties":{"secret":{"type":"string"},"text":{"type":"string"}},"required":["secret","text"]}`
	for _, c := range []struct {
		name, says string
		want       []string
	}{{"seal_text", "Seals a text with a secret.", oracle.Plaintexts()}, {"unseal_text", "Opens what seal_text sealed; encrypts nothing.", nil}, {"show_text", "Shows a text.", nil}} {
		f := newFake(tool(c.name, seals))
		f.surface.Tools[0].Description = c.says
		var got []string
		drive(t, f, Config{Calls: 3, OnCall: func(call Call) {
			for _, in := range call.Oracles {
				if in.Oracle == session.OracleCipher && in.At == "/text" {
					got = append(got, in.Text)
				}
			}
		}})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
