package audit

import "github.com/coalmine-dev/coalmine/analyze/finding"

// The rules for what public services say of a package. They cost no points: another day they
// say something else.
const (
	VulnKnown            = "vuln-known"
	ProvNotInRegistry    = "prov-not-in-registry"
	ProvDeprecated       = "prov-deprecated"
	ProvStale            = "prov-stale"
	ProvRecent           = "prov-recent"
	ProvSingleMaintainer = "prov-single-maintainer"
	ProvMaintainers      = "prov-maintainers"
	ProvUnsigned         = "prov-unsigned"
	ProvMismatch         = "prov-mismatch"
	ProvRepository       = "prov-repository"
	ProvUnavailable      = "prov-unavailable"
)

// provenances are the rules of an audit with --online.
func provenances() []finding.Rule {
	const asked = " Only `--online` asks. It costs no points."
	return []finding.Rule{
		{ID: ProvDeprecated, Name: "ProvDeprecated", Title: "The version is deprecated", Severity: finding.Medium, CWE: []string{"CWE-1104"}, OWASP: []string{"MCP04"},
			Help: "The maker deprecated the version at npm, or yanked it at PyPI." + asked},
		{ID: ProvMaintainers, Name: "ProvMaintainers", Title: "The package's maintainers changed", Severity: finding.Medium, CWE: []string{"CWE-1357"}, OWASP: []string{"MCP04"},
			Help: "The version was published by somebody who was no maintainer of the version before. Low is a maintainer who is new and did not publish it. npm alone says so." + asked + "\n\n**False positive when** the project has a new maintainer or publishes from CI."},
		{ID: ProvMismatch, Name: "ProvMismatch", Title: "The provenance belongs to another archive", Severity: finding.High, CWE: []string{"CWE-345"}, OWASP: []string{"MCP04"},
			Help: "The digest in the provenance is not that of the archive in the registry. The signature of the provenance is not verified: `npm audit signatures` does that." + asked},
		{ID: ProvNotInRegistry, Name: "ProvNotInRegistry", Title: "The version is not in the registry", Severity: finding.High, CWE: []string{"CWE-1357"}, OWASP: []string{"MCP04"},
			Help: "npm or PyPI has no such version: it was removed, or was never there, and somebody else may publish it." + asked + "\n\n**False positive when** the version is not published yet, as in a checkout."},
		{ID: ProvRecent, Name: "ProvRecent", Title: "The version was published lately", Severity: finding.Low, CWE: []string{"CWE-1357"}, OWASP: []string{"MCP04"},
			Help: "The version is younger than `--recent` days. Most malicious versions are found and removed within days." + asked},
		{ID: ProvRepository, Name: "ProvRepository", Title: "The package was built from another repository", Severity: finding.Medium, CWE: []string{"CWE-345"}, OWASP: []string{"MCP04"},
			Help: "The provenance names another repository than the manifest." + asked + "\n\n**False positive when** the repository was renamed or moved."},
		{ID: ProvSingleMaintainer, Name: "ProvSingleMaintainer", Title: "The package has one maintainer", Severity: finding.Info,
			Help: "One account can publish the package. npm alone says so." + asked},
		{ID: ProvStale, Name: "ProvStale", Title: "The package is not maintained", Severity: finding.Low, CWE: []string{"CWE-1104"}, OWASP: []string{"MCP04"},
			Help: "The latest version is more than 730 days old." + asked},
		{ID: ProvUnavailable, Name: "ProvUnavailable", Title: "A service did not answer", Severity: finding.Info,
			Help: "coalmine could not ask a service, or could not read its answer, so the result is unknown. Check the network, or leave out `--online`."},
		{ID: ProvUnsigned, Name: "ProvUnsigned", Title: "The version has no provenance", Severity: finding.Info,
			Help: "The registry has no attestation that says from which source and by which build the version was made." + asked},
		{ID: VulnKnown, Name: "VulnKnown", Title: "A package has a known vulnerability", Severity: finding.High, CWE: []string{"CWE-1395"}, OWASP: []string{"MCP04"},
			Help: "OSV knows a vulnerability of the package, or of one that a lockfile names, in this version. The severity is that of its advisory, high at most, and medium where it names none; a package that is listed as malicious is critical." + asked + "\n\n**False positive when** the server does not use what is vulnerable."},
	}
}
