package pii

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math"
	"math/big"
)

// validators are those that a user's pattern can name.
var validators = map[string]func([]byte) bool{
	"luhn": validLuhn, "ssn": validSSN, "iban": validIBAN, "aba": validABA, "base58": validBase58, "jwt": validJWT, "uuid4": validUUID4,
	"entropy":      func(v []byte) bool { return entropy(v) > 3 },
	"entropy_high": func(v []byte) bool { return entropy(v) > 4 },
	"entropy_auto": entropyByAlphabet,
}

// entropy is Shannon's, in bits a byte.
func entropy(v []byte) float64 {
	var count [256]int
	for _, c := range v {
		count[c]++
	}
	h := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(v))
			h -= p * math.Log2(p)
		}
	}
	return h
}

// entropyByAlphabet has a threshold for each alphabet: hexadecimal digits hold
// four bits at most, base64 six.
func entropyByAlphabet(v []byte) bool {
	hex, alpha, base := true, true, true
	for _, c := range v {
		cl := classOf[c]
		hex = hex && (cl&digit != 0 || c|0x20 >= 'a' && c|0x20 <= 'f')
		alpha = alpha && cl&alnum != 0
		base = base && cl&key40 != 0
	}
	h := entropy(v)
	switch {
	case len(v) == 0:
		return false
	case hex:
		return h > 3
	case alpha:
		return h > 3.7
	case base:
		return h > 4.5
	}
	return h > 3
}

// isRandom tells forty random characters from a path or a name of that length:
// high entropy, and kinds of characters that change all the time.
func isRandom(v []byte) bool {
	changes, slashes := 0, 0
	for i, c := range v {
		if i > 0 && classOf[c] != classOf[v[i-1]] {
			changes++
		}
		if c == '/' {
			slashes++
		}
	}
	return changes >= 14 && slashes <= 5 && entropy(v) > 4
}

// validLuhn checks a number of at least 13 digits; other characters are passed over.
func validLuhn(v []byte) bool {
	sum, n := 0, 0
	for i := len(v) - 1; i >= 0; i-- {
		if classOf[v[i]]&digit == 0 {
			continue
		}
		d := int(v[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n >= 13 && sum%10 == 0
}

// cardShape knows the prefixes and lengths of issued cards.
func cardShape(v []byte) bool {
	n := len(v)
	switch v[0] {
	case '4':
		return n == 13 || n == 16
	case '5':
		return n == 16 && v[1] >= '1' && v[1] <= '5'
	case '3':
		return n == 15 && (v[1] == '4' || v[1] == '7')
	case '6':
		return n == 16 && (v[1] == '5' || string(v[1:4]) == "011")
	}
	return false
}

// validSSN refuses the numbers that are never issued.
func validSSN(v []byte) bool {
	if len(v) != 11 || v[3] != '-' || v[6] != '-' {
		return false
	}
	for i, c := range v {
		if i != 3 && i != 6 && classOf[c]&digit == 0 {
			return false
		}
	}
	area := string(v[:3])
	return area != "000" && area != "666" && v[0] != '9' && string(v[4:6]) != "00" && string(v[7:]) != "0000"
}

// validIBAN checks ISO 13616's remainder; blanks and case do not count.
func validIBAN(v []byte) bool {
	v = bytes.ToUpper(bytes.ReplaceAll(v, []byte(" "), nil))
	if len(v) < 15 || len(v) > 34 || classOf[v[0]]&upper == 0 || classOf[v[1]]&upper == 0 || classOf[v[2]]&digit == 0 || classOf[v[3]]&digit == 0 {
		return false
	}
	rest := 0
	for i := range v {
		c := v[(i+4)%len(v)]
		switch {
		case classOf[c]&digit != 0:
			rest = (rest*10 + int(c-'0')) % 97
		case classOf[c]&upper != 0:
			rest = (rest*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return rest == 1
}

// validABA checks a routing number's district and its check digit.
func validABA(v []byte) bool {
	if len(v) != 9 {
		return false
	}
	sum := 0
	for i, c := range v {
		if classOf[c]&digit == 0 {
			return false
		}
		sum += int(c-'0') * [3]int{3, 7, 1}[i%3]
	}
	district := int(v[0]-'0')*10 + int(v[1]-'0')
	issued := district <= 12 || district >= 21 && district <= 32 || district >= 61 && district <= 72 || district == 80
	return issued && sum%10 == 0
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// validBase58 checks the four bytes of checksum of an address in base58check.
func validBase58(v []byte) bool {
	if len(v) < 26 || len(v) > 35 {
		return false
	}
	n, zeros := new(big.Int), 0
	for _, c := range v {
		d := bytes.IndexByte([]byte(base58), c)
		if d < 0 {
			return false
		}
		if d == 0 && n.Sign() == 0 {
			zeros++
		}
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(d)))
	}
	raw := append(make([]byte, zeros), n.Bytes()...)
	if len(raw) < 5 {
		return false
	}
	payload, sum := raw[:len(raw)-4], raw[len(raw)-4:]
	one := sha256.Sum256(payload)
	two := sha256.Sum256(one[:])
	return bytes.Equal(two[:4], sum)
}

// validJWT wants three parts, the first of which is a header that names an algorithm.
func validJWT(v []byte) bool {
	parts := bytes.Split(v, []byte("."))
	return len(parts) == 3 && validJWTHead(parts[0])
}

func validJWTHead(head []byte) bool {
	if len(head) > 4<<10 {
		return false
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(bytes.TrimRight(head, "=")))
	var h map[string]json.RawMessage
	return err == nil && json.Unmarshal(raw, &h) == nil && h["alg"] != nil
}

// validUUID4 checks the form, the version and the variant.
func validUUID4(v []byte) bool {
	if len(v) != 36 || v[14] != '4' || bytes.IndexByte([]byte("89abAB"), v[19]) < 0 {
		return false
	}
	for i, c := range v {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if classOf[c]&digit == 0 && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// IsIBAN reports whether a text has the form and the check digits of an account's number.
func IsIBAN(s string) bool { return validIBAN([]byte(s)) }
