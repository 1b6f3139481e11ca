//go:build linux

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

// words give a sandbox away. strace is allowed to be seen: it cannot hide.
var words = []string{"coalmine", "canary", "canaries", "sink", "probe", "trace"}

// tell is one word that was found.
type tell struct {
	Word  string `json:"word"`
	Where string `json:"where"`
	Text  string `json:"text"`
}

// search collects what gives the sandbox away.
type search struct {
	looked int
	// certificates that were read, and servers of TLS that answered.
	certificates, served int
	found                []tell
	self                 []string // texts that the caller chose, such as this program's path
}

func tellsTool(s *stdio.Server) {
	var hello string
	s.Seen = func(r stdio.Request) {
		if r.Method == "initialize" || r.Method == "server/discover" {
			hello += string(r.Params)
		}
	}
	s.Tools = tools("tells")
	s.Call = func(string, map[string]any) (string, error) {
		t := &search{found: []tell{}}
		t.all(hello)
		raw, err := json.Marshal(map[string]any{"looked": t.looked, "found": t.found, "certificates": t.certificates, "served": t.served})
		return string(raw), err
	}
}

// look searches one text.
func (t *search) look(where, text string) {
	t.looked++
	plain := strings.ToLower(text)
	for _, own := range t.self {
		plain = strings.ReplaceAll(plain, own, "")
	}
	plain = strings.ReplaceAll(plain, "strace", "")
	for _, word := range words {
		if i := strings.Index(plain, word); i >= 0 {
			t.found = append(t.found, tell{word, where, plain[max(0, i-40):min(len(plain), i+40)]})
		}
	}
}

func (t *search) file(path string) {
	if data, err := os.ReadFile(path); err == nil {
		t.look(path, string(data))
	}
}

func (t *search) link(path string) {
	if text, err := os.Readlink(path); err == nil {
		t.look(path, text)
	}
}

// names searches the names of a directory.
func (t *search) names(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		t.look(dir, e.Name())
	}
}

// stores are where the system's trust may lie, and the variables that lead to more.
var stores = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem", "/run/tls/root-ca.pem", "/run/tls/ca-bundle.pem",
	os.Getenv("SSL_CERT_FILE"), os.Getenv("NODE_EXTRA_CA_CERTS"), os.Getenv("REQUESTS_CA_BUNDLE"), os.Getenv("CURL_CA_BUNDLE"),
}

// trust searches every name in every certificate that is trusted, and those that
// a server shows.
func (t *search) trust() {
	for _, path := range stores {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		t.look("the path of a trust store", path)
		for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
			t.certificate(path, block.Bytes)
		}
	}
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", "api.example.com:443", nil)
	if err != nil {
		t.look("an error of TLS", err.Error())
		return
	}
	defer func() { _ = c.Close() }()
	t.served++
	for _, one := range c.ConnectionState().PeerCertificates {
		t.certificate("the certificate of a server", one.Raw)
	}
}

func (t *search) certificate(where string, der []byte) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return
	}
	t.certificates++
	t.look(where, c.Subject.String()+"\n"+c.Issuer.String()+"\n"+strings.Join(c.DNSNames, "\n")+"\n"+strings.Join(c.CRLDistributionPoints, "\n")+
		"\n"+strings.Join(c.OCSPServer, "\n")+"\n"+strings.Join(c.IssuingCertificateURL, "\n")+"\n"+string(c.Raw))
}

func (t *search) all(hello string) {
	if exe, err := os.Executable(); err == nil {
		t.self = append(t.self, strings.ToLower(exe), strings.ToLower(filepath.Dir(exe)))
	}
	for _, kv := range os.Environ() {
		t.look("environment", kv)
	}
	if host, err := os.Hostname(); err == nil {
		t.look("hostname", host)
	}
	t.look("clientInfo", hello)
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		for _, name := range []string{"comm", "cmdline", "environ", "cgroup"} {
			t.file(p + "/" + name)
		}
		for _, name := range []string{"exe", "cwd", "root"} {
			t.link(p + "/" + name)
		}
		fds, _ := filepath.Glob(p + "/fd/*")
		for _, fd := range fds {
			t.link(fd)
		}
	}
	t.trust()
	for _, path := range []string{"/proc/self/mountinfo", "/proc/net/unix", "/etc/hosts", "/etc/hostname", "/etc/passwd", "/etc/group", "/etc/resolv.conf", "/etc/ld.so.preload"} {
		t.file(path)
	}
	cwd, _ := os.Getwd()
	for _, dir := range []string{"/", "/tmp", "/run", "/run/tls", "/var/tmp", "/dev/shm", "/home", os.Getenv("HOME")} {
		t.names(dir)
	}
	for dir := cwd; dir != "" && dir != "/"; dir = filepath.Dir(dir) {
		t.names(filepath.Dir(dir))
	}
}
