package sinkhole

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// Authority is the certificate authority of one run, as DER.
type Authority struct {
	Cert []byte `json:"cert"`
	Key  []byte `json:"key"` // PKCS #8
}

var (
	firstWords  = []string{"Northfield", "Halden", "Meridian", "Castlegate", "Westbrook", "Arden", "Lindholm", "Quaystone"}
	secondWords = []string{"Trust Services", "Trust Network", "Certification Services", "Digital Identity"}
)

// NewAuthority makes an authority whose subject looks like any other's.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	var draw [3]byte
	_, _ = rand.Read(draw[:])
	org := firstWords[int(draw[0])%len(firstWords)] + " " + secondWords[int(draw[1])%len(secondWords)]
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{Country: []string{"US"}, Organization: []string{org}, CommonName: fmt.Sprintf("%s Root R%d", org, 1+draw[2]%4)},
		NotBefore:    now.AddDate(-3, -int(draw[0]%12), -int(draw[1]%28)),
		NotAfter:     now.AddDate(12, int(draw[2]%12), 0),
		IsCA:         true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority's certificate: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the authority's key: %w", err)
	}
	return &Authority{Cert: der, Key: pkcs8}, nil
}

// PEM is the certificate as a trust store wants it.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Cert})
}

func serial() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return n.Add(n, big.NewInt(1))
}

// maxLeaves bounds the certificates kept; a client may ask for any number of names.
const maxLeaves = 1024

// Issuer makes and keeps the certificates of servers. It may be used from many goroutines.
type Issuer struct {
	ca     *x509.Certificate
	caKey  any
	key    *ecdsa.PrivateKey
	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

// NewIssuer returns an issuer whose certificates the authority signs.
func NewIssuer(a *Authority) (*Issuer, error) {
	ca, err := x509.ParseCertificate(a.Cert)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	caKey, err := x509.ParsePKCS8PrivateKey(a.Key)
	if err != nil {
		return nil, fmt.Errorf("read the authority's key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the servers' key: %w", err)
	}
	return &Issuer{ca: ca, caKey: caKey, key: key, leaves: map[string]*tls.Certificate{}}, nil
}

// Certificate is the certificate of a name or of an address.
func (m *Issuer) Certificate(name string) (*tls.Certificate, error) {
	if m == nil {
		return nil, errors.New("no authority")
	}
	m.mu.Lock()
	c, ok := m.leaves[name]
	m.mu.Unlock()
	if ok {
		return c, nil
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: serial(), NotBefore: now.AddDate(0, 0, -17), NotAfter: now.AddDate(0, 0, 73),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if len(name) <= 64 { // X.520 allows a common name no more
		t.Subject.CommonName = name
	}
	if ip := net.ParseIP(name); ip != nil {
		t.IPAddresses = []net.IP{ip}
	} else {
		t.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, m.ca, m.key.Public(), m.caKey)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for %q: %w", name, err)
	}
	c = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: m.key}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.leaves) >= maxLeaves {
		clear(m.leaves)
	}
	m.leaves[name] = c
	return c, nil
}
