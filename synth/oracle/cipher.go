package oracle

import "strings"

// Plaintexts are texts of four equal blocks of 16 bytes, which is the block of AES (FIPS 197).
func Plaintexts() []string {
	return []string{strings.Repeat("plain blocks one", 4), strings.Repeat("other blocks two", 4)}
}
