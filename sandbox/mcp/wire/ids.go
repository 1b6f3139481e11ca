package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
)

// maxIDText is the longest id that is compared as it is written.
const maxIDText = 1 << 10

// key is a request's id as it is compared, within one exchange: the number 1 and
// the string "1" are two.
type key struct {
	n        int64
	s        string
	exchange string
}

// exactKey reads an id as JSON-RPC has it; ok is false for one that pairs nothing.
func exactKey(id json.RawMessage, exchange string) (k key, ok bool) {
	if len(id) == 0 || id[0] == 'n' || len(id) > maxIDText {
		return key{}, false
	}
	if n, ok := counted(id); ok {
		return key{n: n, exchange: exchange}, true
	}
	switch c := id[0]; {
	case c == '"', c == '-', c >= '0' && c <= '9':
		return key{s: string(id), exchange: exchange}, true
	}
	return key{}, false
}

// counted reads the ids that clients count: whole numbers of at most 18 digits.
func counted(id json.RawMessage) (n int64, ok bool) {
	if len(id) == 0 || len(id) > 18 {
		return 0, false
	}
	for _, c := range id {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	// 007 and 7 would share a number; only one of them is JSON.
	return n, id[0] != '0' || len(id) == 1
}

// generousKey reads an id as the most generous client compares it: 1, 1.0, 1e0
// and "1" are one, and null is an id.
func generousKey(id json.RawMessage, exchange string) (k key, ok bool) {
	if len(id) == 0 {
		return key{}, false
	}
	if n, _, ok := IDNumber(id); ok {
		return key{n: n, exchange: exchange}, true
	}
	text := idText(id)
	if f, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(f) <= 1<<53 {
		if f == math.Trunc(f) {
			return key{n: int64(f), exchange: exchange}, true
		}
		return key{s: strconv.FormatFloat(f, 'g', -1, 64), exchange: exchange}, true
	}
	if len(text) > maxIDText {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return key{s: `"` + text, exchange: exchange}, true
}

// idText is an id without its quotes; null has none.
func idText(id json.RawMessage) string {
	if s, ok := Text(id); ok {
		return s
	}
	if id[0] == 'n' {
		return ""
	}
	return string(id)
}

// maxNumberText is the longest id that IDNumber reads.
const maxNumberText = 64

// IDNumber reads an id that means a whole number. exact is false for one that is
// written in another way than as its digits: as a string, or with a fraction part.
func IDNumber(id json.RawMessage) (n int64, exact, ok bool) {
	if len(id) == 0 || len(id) > maxNumberText {
		return 0, false, false
	}
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return n, true, true
	}
	text := idText(id)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, false, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false, false
	}
	return int64(f), false, true
}
