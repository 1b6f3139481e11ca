package canaries

import (
	"math/big"
	"sync"
)

// rsaKey is what an OpenSSH file holds of an RSA key.
type rsaKey struct{ n, e, d, iqmp, p, q *big.Int }

const (
	primeBytes  = 128 // of a 2048-bit modulus
	rsaExponent = 65537
)

// newRSAKey makes the 2048-bit key that the two seeds lead to, or nil where they
// lead to one prime twice. The standard
// library's generator takes no source of randomness any more, and a decoy needs
// none of its hardening: it needs to be quick, and the same for the same seeds.
func newRSAKey(seedP, seedQ []byte) *rsaKey {
	var p, q *big.Int
	var wg sync.WaitGroup
	wg.Go(func() { q = primeFrom(seedQ) })
	p = primeFrom(seedP)
	wg.Wait()
	switch p.Cmp(q) {
	case 0:
		return nil
	case -1:
		p, q = q, p
	}
	one := big.NewInt(1)
	p1, q1 := new(big.Int).Sub(p, one), new(big.Int).Sub(q, one)
	gcd := new(big.Int).GCD(nil, nil, p1, q1)
	lcm := new(big.Int).Mul(p1, new(big.Int).Div(q1, gcd))
	e := big.NewInt(rsaExponent)
	return &rsaKey{
		n: new(big.Int).Mul(p, q), e: e,
		d:    new(big.Int).ModInverse(e, lcm),
		iqmp: new(big.Int).ModInverse(q, p),
		p:    p, q: q,
	}
}

// smallPrimes are the odd primes below 2^15: dividing by them first leaves one
// candidate in twenty for the costly check.
var smallPrimes = sync.OnceValue(func() []uint64 {
	const limit = 1 << 15
	composite := make([]bool, limit)
	var out []uint64
	for i := 3; i < limit; i += 2 {
		if composite[i] {
			continue
		}
		out = append(out, uint64(i))
		for j := i * i; j < limit; j += 2 * i {
			composite[j] = true
		}
	}
	return out
})

// primeFrom is the first prime at or after the seed, with its two top bits set
// so that the product of two has its full length.
func primeFrom(seed []byte) *big.Int {
	start := new(big.Int).SetBytes(seed)
	start.SetBit(start, 8*primeBytes-1, 1).SetBit(start, 8*primeBytes-2, 1).SetBit(start, 0, 1)
	const span = 8192 // odd numbers looked at in one go; a prime comes every 355
	for {
		composite := make([]bool, span)
		rem, div := new(big.Int), new(big.Int)
		for _, s := range smallPrimes() {
			r := rem.Mod(start, div.SetUint64(s)).Uint64()
			// start + 2i divisible by s: i = -r / 2 mod s, and 1/2 = (s+1)/2.
			for i := (s - r) % s * ((s + 1) / 2) % s; i < span; i += s {
				composite[i] = true
			}
		}
		candidate := new(big.Int)
		for i, no := range composite {
			if no {
				continue
			}
			candidate.Add(start, big.NewInt(int64(2*i)))
			if rem.Mod(candidate, div.SetUint64(rsaExponent)).Uint64() != 1 && candidate.ProbablyPrime(0) {
				return candidate
			}
		}
		start.Add(start, big.NewInt(2*span))
	}
}
