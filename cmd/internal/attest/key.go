package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// The types of PEM blocks (RFC 7468, sections 10 and 13).
const (
	pemPrivate = "PRIVATE KEY"
	pemPublic  = "PUBLIC KEY"
)

// NewKey makes a pair of keys as PEM: PKCS #8 and SubjectPublicKeyInfo.
func NewKey() (private, public []byte, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		return nil, nil, err
	}
	shown, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: shown}), nil
}

// Signer signs with a private key.
type Signer struct {
	key ed25519.PrivateKey
	id  string
}

// Verifier checks with a public key.
type Verifier struct {
	key ed25519.PublicKey
	id  string
}

// ParseSigner reads a private key. Its errors say nothing of what the text holds.
func ParseSigner(text []byte) (*Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemPrivate {
		return nil, errors.New("it holds no PEM block \"PRIVATE KEY\"")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("it holds no ed25519 key in PKCS #8")
	}
	public, _ := key.Public().(ed25519.PublicKey)
	id, err := keyID(public)
	return &Signer{key, id}, err
}

// ParseVerifiers reads the public keys of a file, at least one.
func ParseVerifiers(text []byte) ([]*Verifier, error) {
	var out []*Verifier
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type == pemPrivate {
			return nil, errors.New("it holds a private key; name the file of the public one")
		}
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		key, ok := parsed.(ed25519.PublicKey)
		if err != nil || !ok || block.Type != pemPublic {
			return nil, errors.New("it holds a PEM block that is no ed25519 public key")
		}
		id, err := keyID(key)
		if err != nil {
			return nil, err
		}
		out = append(out, &Verifier{key, id})
	}
	if len(out) == 0 {
		return nil, errors.New("it holds no PEM block \"PUBLIC KEY\"")
	}
	return out, nil
}

// keyID names a key by the SHA-256 of its SubjectPublicKeyInfo.
func keyID(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("name a key: %w", err)
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), nil
}

// Sign implements dsse.Signer.
func (s *Signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(s.key, data), nil
}

// KeyID implements dsse.Signer.
func (s *Signer) KeyID() (string, error) { return s.id, nil }

// Verify implements dsse.Verifier.
func (v *Verifier) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(v.key, data, sig) {
		return errors.New("the signature is not this key's")
	}
	return nil
}

// KeyID implements dsse.Verifier.
func (v *Verifier) KeyID() (string, error) { return v.id, nil }

// Public implements dsse.Verifier.
func (v *Verifier) Public() crypto.PublicKey { return v.key }
