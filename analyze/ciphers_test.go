package analyze

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// What two texts become under one key shows how it was made, and a sound mode shows nothing.
func TestBrokenBy(t *testing.T) {
	t.Parallel()
	block, err := aes.NewCipher([]byte("a key of 16 byte"))
	if err != nil {
		t.Fatal(err)
	}
	stream := func(iv byte, plain []byte) []byte {
		out := make([]byte, len(plain))
		cipher.NewCTR(block, bytes.Repeat([]byte{iv}, aes.BlockSize)).XORKeyStream(out, plain)
		return out
	}
	nonce := byte(0)
	for name, c := range map[string]struct {
		make func(plain []byte) string
		want string
	}{
		"no encryption": {func(p []byte) string { return base64.StdEncoding.EncodeToString(p) }, rules.CipherPlain},
		"ECB": {func(p []byte) string {
			out := make([]byte, len(p))
			for i := 0; i < len(p); i += aes.BlockSize {
				block.Encrypt(out[i:], p[i:])
			}
			return hex.EncodeToString(out)
		}, rules.CipherBlocks},
		"one counter for all": {func(p []byte) string {
			nonce++
			return "v1." + base64.RawURLEncoding.EncodeToString(append(bytes.Repeat([]byte{nonce}, 16), stream(7, p)...))
		}, rules.CipherStream},
		"a counter for each": {func(p []byte) string {
			nonce++
			return base64.RawURLEncoding.EncodeToString(append(bytes.Repeat([]byte{nonce, 1}, 8), stream(nonce, p)...))
		}, ""},
		"no answer": {func([]byte) string { return "sealed" }, ""},
	} {
		var before cipherText
		got := ""
		for _, plain := range oracle.Plaintexts() {
			now := cipherText{plain, decodedRuns([]byte(`{"sealed":"` + c.make([]byte(plain)) + `"}`))}
			if how := brokenBy(now, before); how != "" {
				got = how
			}
			before = now
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
