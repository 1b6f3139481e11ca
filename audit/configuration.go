package audit

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// The rules for configurations of clients.
const (
	ConfigPrivileged = "config-privileged"
	ConfigPlainHTTP  = "config-plain-http"
	ConfigSecret     = "config-secret" //nolint:gosec // the name of a rule
)

// Server is a server of a configuration.
type Server struct {
	Name string
	// Command is the program with its arguments, nil for a server at URL.
	Command []string
	// Env are its variables. Their values are never printed.
	Env map[string]string
	URL string
	// Headers are sent to URL. Their values are never printed.
	Headers map[string]string
	Line    int
}

// Configuration audits a client's configuration: its text, and the servers that it names.
func Configuration(ctx context.Context, name string, data []byte, servers []Server) (*Report, error) {
	base := path.Base(filepath.ToSlash(name))
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: base, Method: zip.Store})
	if err == nil {
		_, err = f.Write(data)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("audit %s: %w", name, err)
	}
	files, err := openZip(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", name, err)
	}
	return run(ctx, files, name, lazyScanner{}, Options{}, func(a *auditor) {
		src := string(data)
		for _, s := range servers {
			a.server(base, src, lineOffset(src, s.Line), s)
		}
	})
}

// lineOffset is where a line begins, counted from 1.
func lineOffset(src string, line int) int {
	at := 0
	for range line - 1 {
		n := strings.IndexByte(src[at:], '\n')
		if n < 0 {
			return at
		}
		at += n + 1
	}
	return at
}

// clientFiles are the names of clients' configurations.
var clientFiles = words("mcp.json .mcp.json claude_desktop_config.json mcp_config.json cline_mcp_settings.json mcp_settings.json")

// hookFiles are the files in which clients and their plugins name commands of their own, beside servers.
var hookFiles = lazyregexp.New(`(?:^|/)(?:\.(?:claude|gemini|codex|cursor)/(?:settings(?:\.local)?|hooks)\.json|hooks/hooks\.json)$`)

// configurations judges the servers of a client's configuration that lies in the tree.
func (a *auditor) configurations(p, src string) {
	for _, s := range declaredServers(p, src) {
		a.server(p, src, s.at, s.Server)
	}
	if a.servers == nil || !clientFiles[path.Base(p)] && !hookFiles.MatchString(p) {
		return
	}
	for _, s := range a.servers(p, []byte(src)) {
		a.server(p, src, lineOffset(src, s.Line), s)
	}
}

func (a *auditor) server(p, src string, at int, s Server) {
	name := shown(s.Name)
	if u, err := url.Parse(s.URL); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		a.add(ConfigPlainHTTP, finding.Medium, p, src, at, name+" is reached over plain HTTP", s.Name)
	}
	if secret := credentials(&s); len(secret) > 0 {
		a.add(ConfigSecret, finding.Low, p, src, at, name+" gets secrets that stand in the file: "+strings.Join(secret[:min(len(secret), 5)], ", "), s.Name)
	}
	if len(s.Command) == 0 {
		return
	}
	list := launched(s.Command)
	a.closeStarted(p, src, at, name+" runs", list)
	if what := unpinned(list); what != "" {
		a.add(UnpinnedInstall, finding.Low, p, src, at, name+": "+what, s.Name)
	}
	if list[0] == "docker" || list[0] == "podman" {
		for _, why := range privileges(list[1:]) {
			a.add(ConfigPrivileged, finding.Medium, p, src, at, name+" "+why, s.Name+" "+why)
		}
	}
	if interpreters[list[0]] && len(list) > 2 && list[1] == "-c" {
		a.shellText(p, src, list[2], at, finding.High)
	}
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.") || strings.HasSuffix(host, ".localhost")
}

// privileges say by which options of docker run a container has the host's rights.
func privileges(args []string) []string {
	var out []string
	for i, w := range args {
		option, value, ok := strings.Cut(w, "=")
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		switch option {
		case "--privileged":
			if value != "false" || !ok {
				out = append(out, "runs a container with --privileged")
			}
		case "--network", "--net", "--pid", "--ipc", "--userns":
			if value == "host" {
				out = append(out, "runs a container with the host's "+strings.TrimLeft(option, "-"))
			}
		case "--cap-add":
			if v := strings.ToUpper(strings.TrimPrefix(strings.ToUpper(value), "CAP_")); v == "ALL" || v == "SYS_ADMIN" {
				out = append(out, "runs a container with the capability "+v)
			}
		case "-v", "--volume", "--mount":
			if why := hostMount(value); why != "" {
				out = append(out, "runs a container that sees "+why)
			}
		}
	}
	return out
}

// hostMount says what of the host a volume shows that is more than a project, "" for no more.
func hostMount(volume string) string {
	from, _, _ := strings.Cut(volume, ":")
	for part := range strings.SplitSeq(volume, ",") {
		if k, v, ok := strings.Cut(part, "="); ok && (k == "source" || k == "src") {
			from = v
		}
	}
	switch clean := path.Clean(strings.NewReplacer("${HOME}", "~", "$HOME", "~").Replace(from)); {
	case from == "":
	case clean == "/" || clean == "/etc" || clean == "/root" || clean == "/home":
		return clean
	case clean == "~":
		return "the user's whole home"
	case strings.HasSuffix(clean, "docker.sock"):
		return "the engine's socket"
	case clean == "~/.ssh" || clean == "~/.aws":
		return clean
	}
	return ""
}
