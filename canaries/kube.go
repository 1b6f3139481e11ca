package canaries

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// plantKube makes a kubeconfig of two clusters: one behind a proxy that wants a
// token, and one of the developer's own that wants a certificate.
func (h *home) plantKube() {
	m := h.mint
	const kube = ".kube/config"
	server, user := "rancher."+h.domain(), "u-"+m.chars(rancher, 10)
	cluster := "c-m-" + m.chars(rancher, 8)
	token := h.secret("kube-token", "kube", kube, m.prefixed("kubeconfig-"+user+":", rancher, 54), server)
	var ca, cert, key string
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	m.value(func() string {
		ca, cert, key = m.kubeCertificate(h.past(300))
		return b64(ca) + b64(cert) + b64(key)
	})
	h.secret("kube-key", "kube", kube, strings.TrimSpace(key))
	h.file(kube, 0o600, fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: staging
  cluster:
    server: https://%s/k8s/clusters/%s
- name: home
  cluster:
    certificate-authority-data: %s
    server: https://192.168.%d.%d:6443
users:
- name: staging
  user:
    token: %s
- name: home
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: staging
  context:
    cluster: staging
    namespace: %s
    user: staging
- name: home
  context:
    cluster: home
    user: home
current-context: staging
`, server, cluster, b64(ca), m.intn(200), 2+m.intn(250), token, b64(cert), b64(key), h.repo))
}

// kubeCertificate is an administrator's certificate as k3s makes it, with the
// authority that signed it and its key, all in PEM.
func (m *mint) kubeCertificate(made time.Time) (ca, cert, key string) {
	caKey, leafKey := m.ecdsaKey(), m.ecdsaKey()
	if m.err != nil {
		return "", "", ""
	}
	made = made.UTC()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(0), Subject: pkix.Name{CommonName: fmt.Sprintf("k3s-client-ca@%d", made.Unix())},
		NotBefore: made, NotAfter: made.AddDate(10, 0, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(m.bytes(8)), Subject: pkix.Name{Organization: []string{"system:masters"}, CommonName: "system:admin"},
		NotBefore: made, NotAfter: made.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	// Without a source of randomness the signatures follow from what is signed.
	var der [3][]byte
	var err error
	if der[0], err = x509.CreateCertificate(nil, authority, authority, caKey.Public(), caKey); err == nil {
		if der[1], err = x509.CreateCertificate(nil, leaf, authority, leafKey.Public(), caKey); err == nil {
			der[2], err = x509.MarshalECPrivateKey(leafKey)
		}
	}
	if err != nil {
		m.err = fmt.Errorf("canaries: making a certificate: %w", err)
	}
	text := func(kind string, b []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return text("CERTIFICATE", der[0]), text("CERTIFICATE", der[1]), text("EC PRIVATE KEY", der[2])
}

// ecdsaKey is a key of P-256. The library's generator takes no source of
// randomness any more; a number from the source is a key as it is.
func (m *mint) ecdsaKey() *ecdsa.PrivateKey {
	raw := m.bytes(32)
	raw[0] &= 0x7f // below the order of the curve, and not zero
	raw[31] |= 1
	k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("canaries: making a key: %w", err)
	}
	return k
}
