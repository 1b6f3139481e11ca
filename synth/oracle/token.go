package oracle

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// tokenLen is long enough that no two tokens of a run are the same and that
// none is met by chance: 14 of 31 characters.
const tokenLen = 14

const tokenAlphabet = "bcdfghjkmnpqrstvwxz23456789"

// Token is the text that an input's effect will show. The same seed, target and
// number give the same token.
func Token(seed int64, target string, n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%d", seed, target, n))
	out := make([]byte, tokenLen)
	for i := range out {
		v := binary.LittleEndian.Uint16(sum[2*i:])
		if i == 0 { // a letter: some programs take a leading digit otherwise
			out[i] = tokenAlphabet[v%19]
			continue
		}
		out[i] = tokenAlphabet[int(v)%len(tokenAlphabet)]
	}
	return string(out)
}

// halves are a token in two pieces, which only an interpreter joins.
func halves(token string) (a, b string) { return token[:tokenLen/2], token[tokenLen/2:] }
