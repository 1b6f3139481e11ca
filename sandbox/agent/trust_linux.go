package agent

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// bundles are the places of the trust store in one file: Debian's and Alpine's,
// Fedora's twice, openSUSE's, and OpenSSL's own default.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
}

// anchor is where the authority stands alone, for programs that want it beside their own store.
const anchor = TrustDir + "/root-ca.pem"

// trustInBrowsers has browsers trust the authority.
func (a *agent) trustInBrowsers(authority []byte) error {
	block, _ := pem.Decode(authority)
	if block == nil {
		return errors.New("the authority is not a certificate")
	}
	policy, err := json.Marshal(map[string][][]byte{"CACertificates": {block.Bytes}})
	if err != nil {
		return err
	}
	files := []rootfs.File{{Path: browserPolicies + "/managed/certificates.json", Mode: 0o644, Data: policy, Root: true}}
	for _, f := range BrowserPolicies() {
		if _, err := os.Lstat(f.Path); err != nil && !a.cfg.HostFiles {
			files = append(files, f)
		}
	}
	return rootfs.Plant(files, 0, 0)
}

// trust makes the sinkhole's authority one of those that the system trusts.
func (a *agent) trust() error {
	authority := a.cfg.Network.Sinkhole.Authority.PEM()
	if err := rootfs.Plant([]rootfs.File{{Path: anchor, Mode: 0o644, Data: authority, Root: true}}, 0, 0); err != nil {
		return fmt.Errorf("plant the authority: %w", err)
	}
	if err := a.trustInBrowsers(authority); err != nil {
		a.emit(session.EventNote{Path: browserPolicies, Reason: fmt.Sprintf("browsers could not be told of the authority: %v", err)})
	}
	bundle := ""
	done := map[string]bool{}
	for _, name := range bundles {
		real, err := filepath.EvalSymlinks(name)
		if err != nil || done[real] {
			continue
		}
		done[real] = true
		if a.cfg.HostFiles {
			name, err = extendedCopy(real, authority)
		} else {
			err = extend(real, authority)
		}
		if err != nil {
			a.emit(session.EventNote{Path: name, Reason: fmt.Sprintf("the trust store %s could not be extended: %v", name, err)})
			continue
		}
		if bundle == "" {
			bundle = name
		}
	}
	if bundle == "" {
		bundle = anchor
	}
	a.trustVariables(bundle)
	return nil
}

func hasVariable(env []string, name string) bool {
	for _, kv := range env {
		if strings.HasPrefix(kv, name+"=") {
			return true
		}
	}
	return false
}

// extended is a trust store with one certificate more.
func extended(store string, authority []byte) (rootfs.File, error) {
	old, err := os.ReadFile(store)
	if err != nil {
		return rootfs.File{}, err
	}
	st, err := os.Stat(store)
	if err != nil {
		return rootfs.File{}, err
	}
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		old = append(old, '\n')
	}
	return rootfs.File{Path: store, Mode: 0o644, Data: append(old, authority...), ModTime: st.ModTime(), Root: true}, nil
}

// extendedCopy leaves a store that is not the sandbox's own as it is.
func extendedCopy(store string, authority []byte) (string, error) {
	whole, err := extended(store, authority)
	if err != nil {
		return "", err
	}
	whole.Path = filepath.Join(filepath.Dir(anchor), "ca-bundle.pem")
	return whole.Path, rootfs.Plant([]rootfs.File{whole}, 0, 0)
}

// extend appends a certificate to a trust store. Where that lies in a tree that
// may not be written, a longer file is put over it.
func extend(store string, authority []byte) error {
	whole, err := extended(store, authority)
	if err != nil {
		return err
	}
	err = rootfs.Plant([]rootfs.File{whole}, 0, 0)
	if !errors.Is(err, unix.EROFS) && !errors.Is(err, unix.EBUSY) {
		return err
	}
	whole.Path, err = extendedCopy(store, authority)
	if err != nil {
		return err
	}
	if err := unix.Mount(whole.Path, store, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("put a longer one over it: %w", err)
	}
	return os.Remove(whole.Path)
}

const resolvConf = "/etc/resolv.conf"

// resolve makes sure that the resolver asks an address that the sinkhole
// answers. A name server on the loopback address is one that is not here.
func (a *agent) resolve(nameserver netip.Addr) error {
	b, err := os.ReadFile(resolvConf)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "nameserver" {
			continue
		}
		if ip, err := netip.ParseAddr(f[1]); err == nil && !ip.IsLoopback() {
			return nil
		}
	}
	if a.cfg.HostFiles {
		return errors.New("the resolver's configuration names no server but on a loopback address, and is left as it is")
	}
	text := "nameserver " + nameserver.String() + "\n"
	if err := os.WriteFile(resolvConf, []byte(text), 0o644); err != nil {
		return fmt.Errorf("name a name server: %w", err)
	}
	return nil
}
