package canaries

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The kubeconfig is YAML whose certificate is signed by its authority and
// belongs to its key.
func TestKubeconfig(t *testing.T) {
	for seed := range uint64(4) {
		s := newSet(t, 30+seed)
		var doc struct {
			APIVersion     string `yaml:"apiVersion"`
			CurrentContext string `yaml:"current-context"`
			Clusters       []struct {
				Name    string
				Cluster map[string]string
			}
			Users []struct {
				Name string
				User map[string]string
			}
			Contexts []struct {
				Name    string
				Context map[string]string
			}
		}
		c := byID(t, s, "kube-key")
		if err := yaml.Unmarshal(fileOf(t, s, c.Path).Data, &doc); err != nil || doc.APIVersion != "v1" || len(doc.Users) != 2 || len(doc.Contexts) != 2 {
			t.Fatalf("%v: %+v", err, doc)
		}
		if doc.Users[0].User["token"] != byID(t, s, "kube-token").Value {
			t.Error("the token is elsewhere")
		}
		data := func(text string) []byte {
			b, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		cert, key := data(doc.Users[1].User["client-certificate-data"]), data(doc.Users[1].User["client-key-data"])
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			t.Error(err)
		}
		if strings.TrimSpace(string(key)) != c.Value {
			t.Error("the canary is not the key")
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(data(doc.Clusters[1].Cluster["certificate-authority-data"])) {
			t.Fatal("no authority")
		}
		block, _ := pem.Decode(cert)
		leaf, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, CurrentTime: leaf.NotBefore.Add(1)}); err != nil {
			t.Error(err)
		}
		if hits := s.Find(cert); hits != nil {
			t.Errorf("the certificate counts as %v", hits)
		}
		for how, text := range map[string][]byte{"PEM": key, "a line": []byte(strings.Split(string(key), "\n")[1])} {
			if !has(s.Find(text), c.ID) {
				t.Errorf("the key as %s is not found", how)
			}
		}
	}
}

// Each client's configuration has servers, whose keys are the canaries.
func TestClientConfigs(t *testing.T) {
	s := newSet(t, 24)
	for id, key := range map[string]string{
		"claude-desktop-github": "mcpServers", "claude-desktop-slack": "mcpServers", "cursor-linear": "mcpServers", "cursor-postgres": "mcpServers", "vscode-notion": "servers",
	} {
		c := byID(t, s, id)
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(fileOf(t, s, c.Path).Data, &doc); err != nil {
			t.Fatal(err)
		}
		var servers map[string]struct {
			Command, URL string
			Args         []string
			Env          map[string]string
		}
		if err := json.Unmarshal(doc[key], &servers); err != nil || len(servers) < 2 {
			t.Fatalf("%s: %v: %v", c.Path, servers, err)
		}
		found := false
		for _, server := range servers {
			for _, v := range server.Env {
				found = found || v == c.Value
			}
			found = found || strings.Contains(strings.Join(server.Args, " "), c.Value)
		}
		if !found {
			t.Errorf("%s is no server's key", id)
		}
	}
	docker := byID(t, s, "docker-token")
	var doc struct {
		Auths map[string]struct{ Auth string }
	}
	if err := json.Unmarshal(fileOf(t, s, docker.Path).Data, &doc); err != nil {
		t.Fatal(err)
	}
	auth, err := base64.StdEncoding.DecodeString(doc.Auths["https://index.docker.io/v1/"].Auth)
	if err != nil || string(auth) != s.User()+":"+docker.Value {
		t.Errorf("docker's login is %q, %v", auth, err)
	}
}
