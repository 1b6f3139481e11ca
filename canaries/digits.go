package canaries

import (
	"bytes"
	"math/big"
	"strings"
)

const (
	// leastDigits is the shortest run of digits of base 64 or 58 that holds a secret.
	leastDigits = 16
	// maxBase58 bounds the runs taken for one number: reading it takes the square of
	// its length.
	maxBase58 = 4 << 10
	// leastHex is how many digits of 16 make a run one of base 16 and of nothing else.
	leastHex = 32
)

const (
	base58Digits  = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	ascii85Digits = `!"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_` + "`abcdefghijklmnopqrstu"
	z85Digits     = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	base85Digits  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
)

// alphabet says which digits a base has.
type alphabet struct {
	name  string
	class *class
	value [256]byte
}

func newAlphabet(name string, digits ...string) *alphabet {
	a := &alphabet{name: name, class: classOf(strings.Join(digits, ""))}
	for _, list := range digits {
		for i := range len(list) {
			a.value[list[i]] = byte(i)
		}
	}
	return a
}

// runs are the runs of the alphabet in a run of another: the whole, or in a short one
// also parts of it.
func (a *alphabet) runs(b []byte, least int) func(yield func(from, to int) bool) {
	if len(b) <= maxTurned {
		return a.class.runs(b, least)
	}
	return func(yield func(from, to int) bool) {
		if a.class.holds(b) {
			yield(0, len(b))
		}
	}
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

var (
	base64Alphabet = func() *alphabet {
		const common = letters + "abcdefghijklmnopqrstuvwxyz0123456789"
		return newAlphabet("base64", common+"+/", common+"-_")
	}()
	hexAlphabet    = newAlphabet("hex", "0123456789abcdef", "0123456789ABCDEF")
	base58Alphabet = newAlphabet("base58", base58Digits)
	// Digits of base 32 are in one case, as everyone writes them.
	base32Alphabets = []*alphabet{
		newAlphabet("base32", letters+"234567"), newAlphabet("base32", strings.ToLower(letters)+"234567"),
		newAlphabet("base32hex", "0123456789"+letters[:22]), newAlphabet("base32hex", "0123456789"+strings.ToLower(letters[:22])),
	}
	base85Alphabets = []*alphabet{
		newAlphabet("ascii85", ascii85Digits+"z"), newAlphabet("z85", z85Digits), newAlphabet("base85", base85Digits),
	}
	// big58 has the digits that package math/big has in base 58, in the order of base58Digits.
	big58 = func() (t [256]byte) {
		for i := range len(base58Digits) {
			t[base58Digits[i]] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]
		}
		return t
	}()
)

// digits looks at what the digits in a run of visible characters stand for.
func (d *dive) digits(b []byte) {
	for from, to := range words.runs(b, leastRun) {
		d.word(b[from:to], countKinds(b[from:to]))
	}
	if !hasSymbols(b) {
		return
	}
	for _, a := range base85Alphabets {
		for from, to := range a.class.runs(b, leastRun) {
			run := b[from:to]
			if !hasSymbols(run) || !countKinds(run).dense() {
				continue
			}
			d.places85(run, a)
			if inner := bytes.Trim(run, `"`); len(inner) < len(run) { // quotes, and no digits
				d.places85(inner, a)
			}
		}
	}
}

// places85 looks at digits of base 85 at each of the places where a group may start.
func (d *dive) places85(b []byte, a *alphabet) {
	for skip := range min(5, len(b)) {
		d.shifted = skip > 0
		d.layer(a.name, decode85(d.room(len(b)), b[skip:], a), false)
	}
	d.shifted = false
}

// word looks at a run of digits in the bases up to 64, with so many of each kind.
func (d *dive) word(b []byte, n count) {
	if n.figures >= 2*shortest {
		d.numerals(b)
	}
	if !n.encoded() {
		return
	}
	hex := false
	for from, to := range hexAlphabet.runs(b, 2*shortest) {
		hex = hex || to-from == len(b) && len(b) >= leastHex
		d.digitsOf("hex", b[from:to], hexAlphabet, 4, 2)
	}
	if hex || len(b) < leastDigits {
		return
	}
	d.digitsOf("base64", b, base64Alphabet, 6, 4)
	for _, a := range base32Alphabets {
		if (n.small == 0 || n.capitals == 0) && a.class.holds(b) {
			d.digitsOf(a.name, b, a, 5, 8)
		}
	}
	if len(b) <= maxBase58 && base58Alphabet.class.holds(b) {
		d.layer("base58", base58(b), false)
	}
}

// digitsOf looks at digits of so many bits, at each of the places where a byte may start.
func (d *dive) digitsOf(name string, b []byte, a *alphabet, bits uint, places int) {
	for skip := range places {
		d.shifted = skip > 0
		d.layer(name, decodeBits(d.room(len(b)), b[skip:], a, bits), false)
	}
	d.shifted = false
}

// decodeBits appends the bytes of digits of so many bits each.
func decodeBits(out, b []byte, a *alphabet, bits uint) []byte {
	if bits == 6 {
		for ; len(b) >= 4; b = b[4:] {
			v := uint(a.value[b[0]])<<18 | uint(a.value[b[1]])<<12 | uint(a.value[b[2]])<<6 | uint(a.value[b[3]])
			out = append(out, byte(v>>16), byte(v>>8), byte(v))
		}
	}
	var acc, have uint
	for _, c := range b {
		acc = acc<<bits | uint(a.value[c])
		if have += bits; have >= 8 {
			have -= 8
			out = append(out, byte(acc>>have))
		}
	}
	return out
}

// base58 reads digits as one number, with a zero byte for each zero digit before it.
func base58(b []byte) []byte {
	rest := bytes.TrimLeft(b, base58Digits[:1])
	text := make([]byte, len(rest))
	for i, c := range rest {
		text[i] = big58[c]
	}
	out := make([]byte, len(b)-len(rest))
	if n, ok := new(big.Int).SetString(string(text), 58); ok {
		out = append(out, n.Bytes()...)
	}
	return out
}

// decode85 appends what groups of five digits are, four bytes each. A group that is no
// such number was not written as one, and stands for anything.
func decode85(out, b []byte, a *alphabet) []byte {
	const group = 5
	for len(b) > 0 {
		if b[0] == 'z' && a.name == "ascii85" {
			out, b = append(out, 0, 0, 0, 0), b[1:]
			continue
		}
		n := min(group, len(b))
		v := uint64(0)
		for i := range group {
			digit := uint64(84)
			if i < n {
				digit = uint64(a.value[b[i]])
			}
			v = v*85 + digit
		}
		b = b[n:]
		out = append(out, []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}[:min(4, n-1)]...)
	}
	return out
}
