package canaries

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"
)

const (
	sshMagic = "openssh-key-v1\x00"
	sshBegin = "-----BEGIN OPENSSH PRIVATE KEY-----\n"
	sshEnd   = "-----END OPENSSH PRIVATE KEY-----"
	sshWidth = 70
)

// sshKey is a key pair as ssh-keygen writes it, without a passphrase.
type sshKey struct {
	private string // the PEM text, without a newline at its end
	public  string // the line of the .pub file, without its newline
}

// sshRSA makes an id_rsa.
func (m *mint) sshRSA(comment string) sshKey {
	return m.sshKey(func() sshKey {
		seedP, seedQ, check := m.bytes(primeBytes), m.bytes(primeBytes), m.bytes(4)
		if m.err != nil {
			return sshKey{}
		}
		k := newRSAKey(seedP, seedQ)
		if k == nil {
			m.err = errStuck
			return sshKey{}
		}
		public := join(text("ssh-rsa"), mpint(k.e), mpint(k.n))
		private := join(text("ssh-rsa"), mpint(k.n), mpint(k.e), mpint(k.d), mpint(k.iqmp), mpint(k.p), mpint(k.q))
		return newSSHKey("ssh-rsa", public, private, check, comment)
	})
}

// sshEd25519 makes an id_ed25519.
func (m *mint) sshEd25519(comment string) sshKey {
	return m.sshKey(func() sshKey {
		k := ed25519.NewKeyFromSeed(m.bytes(ed25519.SeedSize))
		pub := text(string(k[ed25519.SeedSize:]))
		public := join(text("ssh-ed25519"), pub)
		private := join(text("ssh-ed25519"), pub, text(string(k)))
		return newSSHKey("ssh-ed25519", public, private, m.bytes(4), comment)
	})
}

// sshKey draws until value accepts both halves.
func (m *mint) sshKey(draw func() sshKey) sshKey {
	var k sshKey
	m.value(func() string { k = draw(); return k.public + k.private })
	return k
}

func newSSHKey(kind string, public, private, check []byte, comment string) sshKey {
	secret := join(check, check, private, text(comment))
	for i := byte(1); len(secret)%8 != 0; i++ {
		secret = append(secret, i)
	}
	blob := join([]byte(sshMagic), text("none"), text("none"), text(""), []byte{0, 0, 0, 1}, text(string(public)), text(string(secret)))
	body := base64.StdEncoding.EncodeToString(blob)
	var b strings.Builder
	b.WriteString(sshBegin)
	for len(body) > 0 {
		n := min(sshWidth, len(body))
		b.WriteString(body[:n] + "\n")
		body = body[n:]
	}
	b.WriteString(sshEnd)
	return sshKey{
		private: b.String(),
		public:  kind + " " + base64.StdEncoding.EncodeToString(public) + " " + comment,
	}
}

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// text is a string as the SSH protocol writes it.
func text(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// mpint is a positive number as the SSH protocol writes it.
func mpint(n *big.Int) []byte {
	b := n.Bytes()
	if len(b) > 0 && b[0]&0x80 != 0 {
		b = append([]byte{0}, b...)
	}
	return text(string(b))
}

// sshSecret is the range of an OpenSSH blob that only the private half holds:
// what a .pub file holds too must never count as a leak. ok is false for what
// is not such a blob.
func sshSecret(blob []byte) (from, to int, ok bool) {
	if !strings.HasPrefix(string(blob), sshMagic) {
		return 0, 0, false
	}
	pos := len(sshMagic)
	skip := func(n int) bool {
		for range n {
			if len(blob)-pos < 4 {
				return false
			}
			size := binary.BigEndian.Uint32(blob[pos:])
			if uint64(size) > uint64(len(blob)-pos-4) {
				return false
			}
			pos += 4 + int(size)
		}
		return true
	}
	if !skip(3) {
		return 0, 0, false
	}
	pos += 4 // the number of keys
	if pos > len(blob) || !skip(1) {
		return 0, 0, false
	}
	pos += 4 + 8 // the private part's length, and its two check numbers
	kind := pos
	if pos > len(blob) || !skip(1) {
		return 0, 0, false
	}
	switch string(blob[kind+4 : pos]) {
	case "ssh-rsa":
		if !skip(2) { // n, e
			return 0, 0, false
		}
		from = pos
		if !skip(4) { // d, iqmp, p, q
			return 0, 0, false
		}
		return from, pos, true
	case "ssh-ed25519":
		if !skip(1) || len(blob)-pos < 4+ed25519.SeedSize {
			return 0, 0, false
		}
		return pos + 4, pos + 4 + ed25519.SeedSize, true
	}
	return 0, 0, false
}
