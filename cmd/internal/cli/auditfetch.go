package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
)

// Bounds of a fetch for an audit: a page of a registry in bytes, and all of it in time.
const (
	maxIndex  = 64 << 20
	fetchTime = 2 * time.Minute
)

// fetched is the archive of a package. It was compared with its hash and is in memory alone.
type fetched struct {
	name string
	data []byte
}

// fetchPackage takes a package's archive from the user's registries: nothing is unpacked
// to a disk, and no tool of npm or Python runs.
func fetchPackage(ctx context.Context, s install.Spec) (*fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	tool := registry.NPM
	if s.Kind == install.KindPyPI {
		tool = registry.Pip
	}
	home, _ := os.UserHomeDir()
	settings, err := registry.Load(registry.Source{Env: os.Environ(), Home: home, Prefixes: []string{"/usr", "/usr/local"}})
	if err != nil {
		return nil, plan.Mendable(err)
	}
	proxy, err := registry.NewProxy(settings, registry.Options{Tools: []registry.Tool{tool}})
	if err != nil {
		return nil, plan.Mendable(err)
	}
	defer func() { _ = proxy.Close() }() // what it fetched is here
	f := &packageFetcher{settings: settings, conf: proxy.Client(tool, "registry.invalid:3128", "/registries")}
	if f.http, err = throughProxy(proxy, f.conf); err != nil {
		return nil, err
	}
	defer f.http.CloseIdleConnections()
	if tool == registry.NPM {
		return f.npm(ctx, s)
	}
	return f.pypi(ctx, s)
}

// packageFetcher asks one registry through the proxy, which has the credentials.
type packageFetcher struct {
	http     *http.Client
	settings *registry.Settings
	conf     registry.Client
}

// throughProxy is a client whose connections lead into the proxy, within this process.
func throughProxy(proxy *registry.Proxy, conf registry.Client) (*http.Client, error) {
	roots := x509.NewCertPool()
	if len(conf.Files) == 0 || !roots.AppendCertsFromPEM(conf.Files[0].Data) {
		return nil, errors.New("the proxy to the registries has no authority")
	}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "registry.invalid:3128"}),
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			proxy.ServeConn(there)
			return here, nil
		},
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}, nil
}

// setting is a variable of the client's configuration.
func (f *packageFetcher) setting(name string) string {
	for _, kv := range f.conf.Env {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

func (f *packageFetcher) get(ctx context.Context, address, accept string, bound int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the registry names an invalid address")
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	res, err := f.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the registry: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	if res.StatusCode != http.StatusOK {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("the registry %s answers with status %d", req.URL.Host, res.StatusCode), Hint: "check the name and the version, and that the registry can be reached"}
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, bound+1))
	if err != nil {
		return nil, fmt.Errorf("read from the registry: %w", err)
	}
	if int64(len(data)) > bound {
		return nil, fmt.Errorf("the registry sends more than %d bytes", bound)
	}
	return data, nil
}

// npm takes the archive of a version, or of the one that is tagged "latest".
func (f *packageFetcher) npm(ctx context.Context, s install.Spec) (*fetched, error) {
	base := f.setting("npm_config_registry")
	if scope, _, ok := strings.Cut(s.Name, "/"); ok {
		for _, r := range f.settings.Registries {
			if r.Tool == registry.NPM && r.Scope == scope {
				base = r.URL.String()
			}
		}
	}
	page, err := f.get(ctx, strings.TrimSuffix(base, "/")+"/"+strings.ReplaceAll(s.Name, "/", "%2f"), "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8", maxIndex)
	if err != nil {
		return nil, err
	}
	v, err := decodeNPM(page, s)
	if err != nil {
		return nil, err
	}
	data, err := f.get(ctx, v.tarball, "", audit.MaxArchive)
	if err != nil {
		return nil, err
	}
	if !hasIntegrity(data, v.integrity) {
		return nil, fmt.Errorf("the archive of npm:%s@%s is not the one that the registry names: its hash differs", s.Name, v.version)
	}
	return &fetched{"npm:" + s.Name + "@" + v.version, data}, nil
}

// npmVersion is a version as npm's registry has it.
type npmVersion struct{ version, tarball, integrity string }

// decodeNPM finds a version, or the one that a tag names, in a registry's page.
func decodeNPM(page []byte, s install.Spec) (*npmVersion, error) {
	var p struct {
		Tags     map[string]string `json:"dist-tags"`
		Versions map[string]struct {
			Dist struct{ Tarball, Integrity string }
		}
	}
	if json.Unmarshal(page, &p) != nil {
		return nil, errors.New("the registry's answer is not a document of npm's")
	}
	version := s.Version
	if tag := p.Tags[version]; tag != "" {
		version = tag
	} else if version == "" {
		version = p.Tags["latest"]
	}
	v, ok := p.Versions[version]
	if !ok {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("npm:%s has no version %q", s.Name, version), Hint: "name a version that is published, npm:NAME@1.2.3"}
	}
	return &npmVersion{version, v.Dist.Tarball, v.Dist.Integrity}, nil
}

// hasIntegrity compares data with a subresource integrity of SHA-512.
func hasIntegrity(data []byte, integrity string) bool {
	for word := range strings.FieldsSeq(integrity) {
		if text, ok := strings.CutPrefix(word, "sha512-"); ok {
			want, err := base64.StdEncoding.DecodeString(text)
			got := sha512.Sum512(data)
			return err == nil && subtle.ConstantTimeCompare(got[:], want) == 1
		}
	}
	return false
}

// pypi takes a wheel of a version, or its source where there is none.
func (f *packageFetcher) pypi(ctx context.Context, s install.Spec) (*fetched, error) {
	if s.Version == "" {
		return nil, usage("pypi:NAME==1.2.3", "an audit wants the version of pypi:%s", s.Name)
	}
	name, _, _ := strings.Cut(s.Name, "[")
	name = normalized(name)
	at, err := url.Parse(strings.TrimSuffix(f.setting("PIP_INDEX_URL"), "/") + "/" + name + "/")
	if err != nil {
		return nil, errors.New("the index of packages has an invalid address")
	}
	page, err := f.get(ctx, at.String(), "application/vnd.pypi.simple.v1+json", maxIndex)
	if err != nil {
		return nil, err
	}
	best, link, err := decodePyPI(page, at, name, s)
	if err != nil {
		return nil, err
	}
	data, err := f.get(ctx, link.String(), "", audit.MaxArchive)
	if err != nil {
		return nil, err
	}
	want, err := hex.DecodeString(best.Hashes["sha256"])
	if sum := sha256.Sum256(data); err != nil || !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("the archive of pypi:%s==%s is not the one that the index names: its hash differs", s.Name, s.Version)
	}
	return &fetched{"pypi:" + name + "==" + s.Version, data}, nil
}

// decodePyPI finds the archive of a version, and its address, in an index's page.
func decodePyPI(page []byte, at *url.URL, name string, s install.Spec) (*pypiFile, *url.URL, error) {
	var p struct {
		Files []pypiFile `json:"files"`
	}
	if json.Unmarshal(page, &p) != nil {
		return nil, nil, &sandbox.UsageError{Err: errors.New("the index does not answer as PEP 691 has it"), Hint: "download the wheel, and audit the file"}
	}
	best := bestFile(p.Files, name, s.Version)
	if best == nil {
		return nil, nil, &sandbox.UsageError{Err: fmt.Errorf("pypi:%s has no archive of version %q that is read", s.Name, s.Version), Hint: "name a version that is published, pypi:NAME==1.2.3"}
	}
	link, err := at.Parse(best.URL)
	if err != nil {
		return nil, nil, errors.New("the index names an invalid address")
	}
	link.Fragment = ""
	return best, link, nil
}

// pypiFile is a file of an index (PEP 691).
type pypiFile struct {
	Filename, URL string
	Hashes        map[string]string
}

// bestFile is a wheel for all platforms, else another wheel, else the source.
func bestFile(files []pypiFile, name, version string) *pypiFile {
	rank := func(f *pypiFile) int {
		switch {
		case strings.HasSuffix(f.Filename, "-none-any.whl"):
			return 0
		case strings.HasSuffix(f.Filename, ".whl"):
			return 1
		case strings.HasSuffix(f.Filename, ".tar.gz"):
			return 2
		}
		return 3
	}
	var own []*pypiFile
	for i := range files {
		f := &files[i]
		if rank(f) < 3 && f.isOf(name, version) {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return nil
	}
	slices.SortStableFunc(own, func(a, b *pypiFile) int { return rank(a) - rank(b) })
	return own[0]
}

// isOf reports whether a file's name is that of a version of a package, whose name is normalized.
func (f *pypiFile) isOf(name, version string) bool {
	n, v := install.ArchiveOf(f.Filename)
	return n != "" && normalized(n) == name && strings.EqualFold(v, version)
}

// normalized is a package's name as PEP 503 compares it.
func normalized(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
}
