package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

var cm205 = Rule{Rule: cm205Doc, Check: checkCM205, Judges: Build}

var cm205Doc = finding.Rule{
	ID: "CM205", Name: "BuildEgress", Title: "Network access during the package build", Severity: finding.Low, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "What an install script downloads is in no lock file, so it can change at any time.", Fix: "Ship prebuilt files in the package, or verify downloads against a pinned hash."},
	CWE:    []string{"CWE-494", "CWE-829"}, OWASP: []string{"MCP04"},
	Help: "While the package was built (its own or a dependency's `preinstall`, `install`, `postinstall` or the like), something tried to reach addresses outside or asked a name server. " +
		"Honest scripts fetch prebuilt programs like this; what they fetch is in no lock file, and nothing came of it here: the sandbox has no network.\n\n" +
		"**Evidence.** The kernel's record of the attempt. All targets are one finding, since it is one habit. A decoy secret that was read or sent then is a finding of its own (CM101, CM103, CM108).\n\n" +
		"**False positive when** the download is documented and checked against a hash in the package.",
}

func checkCM205(r *Run) []finding.Finding {
	return r.egress(&cm205Doc, func(e *finding.Effect) bool {
		return e.Phase == finding.PhaseBuild
	}, func(targets string) string { return "the build of the package tried to reach " + targets })
}
