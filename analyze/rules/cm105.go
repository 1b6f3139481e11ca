package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

var cm105 = Rule{Rule: cm105Doc, Check: checkCM105}

var cm105Doc = finding.Rule{
	ID: "CM105", Name: "ClientConfigurationRead", Title: "Access to another MCP client's configuration", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "The file lists other MCP servers and their credentials.", Fix: "Do not read the configuration of clients. Take settings from arguments or the server's own environment variables."},
	CWE:    []string{"CWE-200", "CWE-668"}, OWASP: []string{"MCP01", "MCP03"},
	Help: "The server opened or read the configuration file of an MCP client. Such a file names other servers and their keys.\n\n" +
		"**Evidence.** The kernel's record of the open with the real path. A failed open is low. A server or tool that names MCP or such a client and its settings is informational.\n\n" +
		"**False positive when** managing client configurations is the server's declared purpose.",
}

func isClientConfig(kind string) bool { return strings.HasPrefix(kind, "mcp") }

func checkCM105(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.secretFiles(finding.RungAttempted) {
		c := r.Canaries[e.Target]
		if !isClientConfig(c.Kind) || e.Via == viaFile || e.Rung.Rank() >= finding.RungReturned.Rank() {
			continue
		}
		where, place := r.secretLocation(e.Target), c.Path
		if e.Elsewhere != "" {
			where, place = e.Elsewhere, e.Elsewhere
		}
		f := r.of(&cm105Doc, e, subject(e)+" opened "+where+", the configuration of an MCP client")
		f.Fingerprint = finding.Fingerprint("CM105", e.Tool, r.stable(place))
		switch {
		case r.dealsWith(c, e.Tool) || r.wasAsked(e, c):
			f.Severity = finding.Info
			f.Message += ", which its declaration covers"
		case e.Rung == finding.RungAttempted:
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(out)
}

// clientWords name MCP clients, settingWords what is managed of them.
var (
	clientWords  = []string{"cursor", "claude", "windsurf", "vscode"}
	settingWords = []string{"config", "configs", "configuration", "configurations", "configure", "configures", "settings", "client", "clients", "server", "servers", "install", "installs", "manage", "manages", "register", "registers"}
)

// managesClients reports whether the tool or the server says that it deals with the
// configurations of MCP clients: it names one and settings, or a tool says so of MCP.
func (r *Run) managesClients(tool string) bool {
	tools := r.Scope.Tools
	if tool != "" {
		tools = []scope.Tool{r.Scope.Tool(tool)}
	}
	return r.shown(tool, clientWords) && r.shown(tool, settingWords) ||
		slices.ContainsFunc(tools, func(t scope.Tool) bool { return t.Shows("mcp") && slices.ContainsFunc(settingWords, t.Shows) })
}
