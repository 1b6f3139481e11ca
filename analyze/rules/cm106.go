package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm106 = Rule{Rule: cm106Doc, Check: checkCM106}

var cm106Doc = finding.Rule{
	ID: "CM106", Name: "MetadataServiceAsked", Title: "A cloud's metadata service was asked", Severity: finding.Medium,
	CWE: []string{"CWE-918", "CWE-522"}, OWASP: []string{"MCP01"},
	Help: "The server reached the address at which clouds hand out an instance's credentials (169.254.169.254, `metadata.google.internal` and their like), though nothing that it declares has to do with a cloud.\n\n" +
		"**Evidence.** The kernel's record of the attempt and, in the sinkhole, the request itself. An attempt that got nowhere is low; a server or tool whose business is that cloud is informational.\n\n" +
		"**False positive when** a cloud's own library looks for credentials by itself before a declared use.",
}

// metadataHosts are the metadata services' names and addresses.
var metadataHosts = []string{"169.254.169.254", "169.254.170.2", "[fd00:ec2::254]", "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "instance-data", "metadata"}

// isMetadata reports whether an effect's peer is a metadata service. Asking for
// its name alone is not asking it.
func isMetadata(e *finding.Effect) bool {
	for _, h := range metadataHosts {
		if strings.HasPrefix(e.Target, h+":") {
			return true
		}
	}
	return false
}

func checkCM106(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.NetConnect) {
		if !isMetadata(e) {
			continue
		}
		f := r.of(&cm106Doc, e, subject(e)+" asked a cloud's metadata service ("+e.Target+")")
		switch {
		case r.isBusiness("aws", e.Tool) || r.isBusiness("gcloud", e.Tool):
			f.Severity = finding.Info
		case e.Rung == finding.RungAttempted:
			f.Severity = finding.Low
		}
		out = append(out, f)
	}
	return first(out)
}
