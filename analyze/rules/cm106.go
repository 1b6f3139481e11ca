package rules

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm106 = Rule{Rule: cm106Doc, Check: checkCM106}

var cm106Doc = finding.Rule{
	ID: "CM106", Name: "MetadataServiceAsked", Title: "Access to a cloud metadata service", Severity: finding.Medium, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "On a cloud machine this address returns credentials of the machine.", Fix: "Disable the credential lookup of the cloud library (AWS_EC2_METADATA_DISABLED=true), or declare the cloud that the tool uses."},
	CWE:    []string{"CWE-918", "CWE-522"}, OWASP: []string{"MCP01"},
	Help: "The server connected to the address at which clouds hand out the credentials of an instance (169.254.169.254, `metadata.google.internal` and similar), although its declaration mentions no cloud.\n\n" +
		"**Evidence.** The kernel's record of the attempt and, in the sinkhole, the request itself. An attempt that got nowhere is low; a server or tool whose business is that cloud is informational. What the call's own input named is CM304's to judge; only what was asked beyond that counts here.\n\n" +
		"**False positive when** a cloud's own library looks for credentials by itself before a declared use.",
}

// metadataHosts are the metadata services' names and addresses.
var metadataHosts = []string{"169.254.169.254", "169.254.170.2", "fd00:ec2::254", "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "instance-data", "metadata"}

// isMetadata reports whether a host is a metadata service.
func isMetadata(host string) bool { return slices.Contains(metadataHosts, strings.Trim(host, "[]")) }

// reached is the host that an effect reached. Asking for a name alone is not asking it.
func reached(e *finding.Effect) string {
	return e.Target[:max(0, strings.LastIndexByte(e.Target, ':'))]
}

func checkCM106(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetConnect) {
		if !isMetadata(reached(e)) || r.wasNamed(e) {
			continue
		}
		f := r.of(&cm106Doc, e, subject(e)+" queried the cloud metadata service ("+e.Target+")")
		switch {
		case r.isOwnCloud(reached(e), e.Tool):
			f.Severity = finding.Info
		case e.Rung == finding.RungAttempted:
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(out)
}

// isOwnCloud reports whether a host is a metadata service, and its cloud the business of a tool.
func (r *Run) isOwnCloud(host, tool string) bool {
	return isMetadata(host) && (r.isBusiness("aws", tool) || r.isBusiness("gcloud", tool))
}

// ofAnyHost are the paths that clients of the web ask of every host by themselves.
var ofAnyHost = []string{"", "/", "/robots.txt", "/favicon.ico", "/sitemap.xml", "/llms.txt"}

// wasNamed reports whether inputs of the run named a metadata service, and all
// that an effect asked of it.
func (r *Run) wasNamed(e *finding.Effect) bool {
	named, paths := r.namedMetadata(e.Call)
	for _, q := range e.Requests {
		switch path, _, _ := strings.Cut(q.Path, "?"); {
		case q.Given:
			named = true
		case !slices.Contains(paths, q.Path) && !slices.Contains(ofAnyHost, path):
			return false
		}
	}
	return named
}

// namedMetadata reports whether a call's input names a metadata service, and with
// which paths where no token stands in them.
func (r *Run) namedMetadata(call int) (named bool, paths []string) {
	if c := r.callOf(call); c != nil {
		named = slices.ContainsFunc(c.Oracles, func(in session.Injection) bool { return in.Oracle == session.OracleFetch && isMetadata(in.Host) })
	}
	var args any
	if call == 0 || json.Unmarshal(r.Args[call], &args) != nil {
		return named, nil
	}
	for _, text := range texts(args, nil) {
		if u, err := url.Parse(text); err == nil && isMetadata(u.Hostname()) {
			named, paths = true, append(paths, u.RequestURI())
		}
	}
	return named, paths
}
