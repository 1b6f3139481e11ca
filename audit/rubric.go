package audit

import (
	"reflect"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// RubricVersion changes whenever a score may change.
const RubricVersion = "coalmine/rubric/v10"

// The rules of the audit that no other package names.
const (
	SecretHardcoded = "secret-hardcoded"
	DependencyCount = "dep-surface"
	NoLicense       = "no-license"
	ScannerSilenced = "scanner-silenced"
)

// Rules lists the rules of the static audit, sorted by ID.
func Rules() []finding.Rule {
	list := slices.Concat(weaknesses(), installations(), ofEffects(), provenances(), []finding.Rule{
		{ID: DependencyCount, Name: "DependencySurface", Title: "Many direct dependencies", Severity: finding.Medium, CWE: []string{"CWE-1395"}, OWASP: []string{"MCP04"},
			Advice: finding.Advice{Why: "Each dependency runs with the rights of the server.", Fix: "Remove dependencies that the server does not need."},
			Help:   "Each dependency runs with the server's rights. More than 50 direct ones are medium, 21 to 50 are low. The manifests of the root count together: package.json, pyproject.toml, the core metadata of a package of PyPI, requirements*.txt, go.mod and Cargo.toml, without what is for development alone."},
		{ID: EncodedCode, Name: "EncodedCode", Title: "Encoded code in the source", Severity: finding.Medium, CWE: []string{"CWE-506"}, OWASP: []string{"MCP04"},
			Help: "A text of base64 or hexadecimal digits, an escaped or reversed one, or a list of characters' numbers decodes to code or to orders to a model, also through compression; or the source has code in the form that a packer or an obfuscator of JavaScript writes, or a blob of pickle or marshal: what runs is hidden from whoever reads it. Low is a text that decodes to an address.\n\n**False positive when** a tool carries a script for another machine this way."},
		{ID: EnvCredential, Name: "EnvironmentCredential", Title: "Credential of the environment is read", Severity: finding.Info, CWE: []string{"CWE-526", "CWE-522"}, OWASP: []string{"MCP01"},
			Advice: finding.Advice{Why: "Whoever starts the server hands it the credentials of the shell, for services that it does not speak of.", Fix: "Read a variable of the server's own name, or say in the instructions which service it is for."},
			Help:   "The source reads a variable in which a well-known service keeps its credential (`GITHUB_TOKEN`, `OPENAI_API_KEY`, `DATABASE_URL` …), or picks variables by names that end like those of credentials. A probe raises it to high where neither the server nor a tool speaks of the service, no manifest lists the variable, and no call of the file names a host of the service. It costs no points.\n\n**False positive when** the variable is only checked for, or taken out of what a child process gets."},
		{ID: GuardedSink, Name: "GuardedSink", Title: "A hidden word opens what acts on the world", Severity: finding.Low, CWE: []string{"CWE-912"}, OWASP: []string{"MCP02"},
			Help: "The code of a tool starts a program, opens a file, asks a host or runs text only where a parameter is a text or a number that stands nowhere else in the package, has a digest that the source names, or where the clock shows a time that the source names. No list, schema or description tells a caller of it. The literal is not printed. A probe calls the tool with it.\n\n**False positive when** the description comes from another file or a service."},
		{ID: NoLicense, Name: "NoLicense", Title: "Missing licence", Severity: finding.Info,
			Help: "Neither a licence file nor a licence in the manifest was found. It costs no points."},
		{ID: ScannerSilenced, Name: "ScannerSilenced", Title: "Scanner suppression comment", Severity: finding.Info,
			Help: "A comment in the source (`gitleaks:allow`, `coalmine:ignore`) asks a scanner to report nothing of its line. It is not obeyed: only your own policy and baseline suppress a finding. It costs no points."},
		{ID: SecretHardcoded, Name: "SecretHardcoded", Title: "Hard-coded credential", Severity: finding.Critical, CWE: []string{"CWE-798"}, OWASP: []string{"MCP01"},
			Advice: finding.Advice{Why: "Everybody who has the source has the credential.", Fix: "Revoke the credential, and read it from the environment."},
			Help:   "A credential of a known shape stands in a file of the server. Its value is never printed. Low is a key that every copy of an application carries and that its issuer restricts by caller (a Google API key, a map's public one), a token that may as well be a sample (a JWT, the one in a curl command), a key of a test mode (`sk_test_…`), and what only looks like a key. A sample that its issuer publishes is informational.\n\n**False positive when** it is a documented sample; suppress it in your policy, by its fingerprint."},
		{ID: text.Poisoning, Name: "ToolPoisoning", Title: "Tool poisoning in the source", Severity: finding.Critical, CWE: []string{"CWE-94"}, OWASP: []string{"MCP03"},
			Advice: finding.Advice{Why: "The model follows instructions that the user does not see.", Fix: "Remove the instructions."},
			Help:   "A file, also the README of the root, holds text that orders a model to read secrets, to keep silent before the user or to disregard its instructions. An order within a tag, as templates of prompts have it, or of what not to show, is low where no other stands near it.\n\n**False positive when** the text is quoted by a scanner, a test or documentation of such attacks."},
		{ID: ToolUnlisted, Name: "ToolUnlisted", Title: "A tool is answered and not listed", Severity: finding.Medium, CWE: []string{"CWE-912"}, OWASP: []string{"MCP02"},
			Help: "The handler of `tools/call` compares the tool's name with a text that stands nowhere else in the package, while most of its names do: `tools/list` cannot name it, so nobody sees or approves it.\n\n**False positive when** the list is made from parts of the name."},
		{ID: WeakRandom, Name: "WeakRandom", Title: "Predictable generator for a secret", Severity: finding.High, CWE: []string{"CWE-338", "CWE-330"}, OWASP: []string{"MCP02"},
			Advice: finding.Advice{Why: "Whoever knows when a value was made, or sees others, can tell it.", Fix: "Draw from `secrets`, `crypto.randomInt` or `crypto/rand`."},
			Help:   "A tool that makes a password, a PIN, a token or another secret by its name draws it from `random`, `Math.random` or `math/rand`, whose values follow from a seed or from earlier ones. Low is one that draws from a secure source as well."},
		{ID: text.Hidden, Name: "UnicodeHidden", Title: "Hidden characters in the source", Severity: finding.High, CWE: []string{"CWE-451"}, OWASP: []string{"MCP03"},
			Advice: finding.Advice{Why: "A reviewer does not see what runs or what the model reads.", Fix: "Remove the characters."},
			Help:   "A file holds tag characters, bidirectional overrides or long runs of zero-width characters: what a reviewer sees is not what runs or what a model reads."},
	})
	for i := range list {
		list[i].Family = finding.FamilyStatic
	}
	slices.SortFunc(list, func(a, b finding.Rule) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// free are the rules that are informational whatever they find. They cost no points, as do those of --online.
var free = words(CommandExec + " " + EnvCredential + " " + FileWrite + " " + NoLicense + " " + ScannerSilenced + " " + ToolCapability)

// IsFree reports whether findings of a rule never cost points.
func IsFree(rule string) bool {
	return free[rule] || slices.ContainsFunc(provenances(), func(r finding.Rule) bool { return r.ID == rule })
}

// Fields are the members of an audit in JSON, in the order in which they are written; those of a member stand behind a dot.
func Fields() []string { return fieldsIn(reflect.TypeFor[Report](), "") }

func fieldsIn(t reflect.Type, before string) (out []string) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		out = append(append(out, before+name), fieldsIn(f.Type, before+name+".")...)
	}
	return out
}

// weights are the points that the worst finding of a rule costs, each rule once.
var weights = map[finding.Severity]int{finding.Critical: 25, finding.High: 15, finding.Medium: 8, finding.Low: 3}

// Points are what the worst finding of a rule costs by its severity.
func Points(s finding.Severity) int { return weights[s] }

// Deduction is what one rule cost.
type Deduction struct {
	Rule     string           `json:"rule"`
	Severity finding.Severity `json:"severity"`
	Points   int              `json:"points"`
	Hits     int              `json:"hits"`
}

// score deducts each rule once, by its worst finding.
func score(fs []finding.Finding) (int, string, []Deduction) {
	by := map[string]*Deduction{}
	var order []string
	for _, f := range fs {
		d := by[f.Rule]
		if d == nil {
			d = &Deduction{Rule: f.Rule, Severity: finding.Info}
			by[f.Rule] = d
			order = append(order, f.Rule)
		}
		d.Hits++
		if f.Severity.Rank() > d.Severity.Rank() {
			d.Severity = f.Severity
		}
	}
	slices.Sort(order)
	points, out := 100, []Deduction{}
	for _, id := range order {
		d := by[id]
		d.Points = weights[d.Severity]
		if d.Points > 0 {
			points -= d.Points
			out = append(out, *d)
		}
	}
	points = max(points, 0)
	return points, grade(points), out
}

// Threshold is a grade with the fewest points that it takes.
type Threshold struct {
	Grade  string
	Points int
}

// lowestA is the fewest points of the best grade.
const lowestA = 90

// Grades are the grades, the best first.
func Grades() []Threshold {
	return []Threshold{{"A", lowestA}, {"B", 80}, {"C", 70}, {"D", 60}, {"F", 0}}
}

func grade(points int) string {
	list := Grades()
	for _, t := range list {
		if points >= t.Points {
			return t.Grade
		}
	}
	return list[len(list)-1].Grade
}

// installations are the rules for commands of scripts, images and configurations.
func installations() []finding.Rule {
	return []finding.Rule{
		{ID: ConfigPlainHTTP, Name: "ConfigPlainHTTP", Title: "A server is reached over plain HTTP", Severity: finding.Medium, CWE: []string{"CWE-319"}, OWASP: []string{"MCP07"},
			Help: "A configuration names a server at an address of another machine without TLS: whoever is on the way reads and changes what is said, credentials too."},
		{ID: ConfigPrivileged, Name: "ConfigPrivileged", Title: "A container has the host's rights", Severity: finding.Medium, CWE: []string{"CWE-250"}, OWASP: []string{"MCP02"},
			Help: "A configuration starts a container with --privileged, with all capabilities, with the host's network or processes, or with the engine's socket, the root or the user's home in it: it keeps nothing from the server."},
		{ID: ConfigSecret, Name: "ConfigSecret", Title: "A secret stands in a configuration", Severity: finding.Low, CWE: []string{"CWE-256"}, OWASP: []string{"MCP01"},
			Help: "A configuration, a bundle's manifest or a server.json gives a server a secret by its value: in a variable, a header, an argument (`--api-key=…`, `--header`, `-e`) or an address (a password, or a parameter of the query). Every program of the user's can read it. coalmine never prints the value, and passes over references (`${VAR}`, `${input:…}`) and samples. Name a variable or an input instead, where the client knows them."},
		{ID: ContainerRoot, Name: "ContainerRoot", Title: "The image's server runs as root", Severity: finding.Low, CWE: []string{"CWE-250"}, OWASP: []string{"MCP02"},
			Help: "The last stage of a Dockerfile names no USER, or root. What runs a tool's code then may change all of the container.\n\n**False positive when** the image that it begins with names a user."},
		{ID: ContainerSecret, Name: "SecretInImage", Title: "A secret stays in the image", Severity: finding.Medium, CWE: []string{"CWE-798"}, OWASP: []string{"MCP01"},
			Help: "ENV or ARG gives a variable with the name of a secret a value, which whoever has the image can read. coalmine never prints the value. Give it when the container starts, or mount it (`--mount=type=secret`).\n\n**False positive when** the value is a sample."},
		{ID: DownloadRun, Name: "DownloadRun", Title: "What is downloaded is run", Severity: finding.High, CWE: []string{"CWE-494"}, OWASP: []string{"MCP04"},
			Help: "A command runs what it downloads, through a pipe, a substitution or a file. Whoever holds the address chooses what runs. Medium is a command of a Dockerfile, which whoever builds the image runs and no user of the server (low in `.devcontainer`), and a file for which nothing in the script compares a digest or a signature. Name a version, and compare its digest.\n\n**False positive when** the installer is the maker's own, and you trust the address as you trust the maker."},
		{ID: InstallScript, Name: "InstallScript", Title: "Installing the package runs a command", Severity: finding.Medium, CWE: []string{"CWE-506"}, OWASP: []string{"MCP04"},
			Help: "Code of the package runs with the user's rights before anybody has looked at it. Low: package.json has a `preinstall`, `install` or `postinstall` script, or npm builds a `binding.gyp` by itself; pyproject.toml names a build backend in the tree (`backend-path`) or a hook of Hatch, PDM or Poetry; `setup.py` or such code starts programs. Medium: such code uses the network, or a `.pth` file has a line that each start of Python runs. What a command downloads or installs is a finding of its own. Install with `--ignore-scripts` or `--only-binary :all:`, or probe the package: coalmine runs its scripts in a sandbox."},
		{ID: LockSource, Name: "LockSource", Title: "A locked package comes from elsewhere", Severity: finding.Medium, CWE: []string{"CWE-494"}, OWASP: []string{"MCP04"},
			Help: "A lockfile names a package that comes over plain HTTP (medium), out of a repository, or from a host that is not a public registry (low).\n\n**False positive when** the host is your own registry."},
		{ID: NameClose, Name: "NameClose", Title: "A package's name is close to a well-known one", Severity: finding.Medium, CWE: []string{"CWE-1357"}, OWASP: []string{"MCP04"},
			Help: "The name of the package, of a dependency in a manifest of the root, or of what a configuration or a script takes from npm or PyPI differs from that of a well-known MCP server or SDK by one letter, by its separators or by its scope, or says that it is the official one. Low is a reference server's name, or that of a maker's own word, without its scope or with more words that say what it is (`-server`, `node-`, `py`). The list is a part of coalmine and has a date.\n\n**False positive when** the maker of both is the same."},
		{ID: RemoteAdd, Name: "RemoteAdd", Title: "ADD takes a file from an address", Severity: finding.Medium, CWE: []string{"CWE-494"}, OWASP: []string{"MCP04"},
			Help: "ADD of a Dockerfile takes what the address serves on the day of the build. Give `--checksum=sha256:…`."},
		{ID: SecretUpload, Name: "SecretUpload", Title: "A command sends a file of secrets", Severity: finding.High, CWE: []string{"CWE-200", "CWE-522"}, OWASP: []string{"MCP01"},
			Help: "A command pipes a file of secrets (a private key, `~/.aws/credentials`, `.env`), or all variables of the environment, into a program that sends what it is given, or has curl or wget send the file. Public keys, and a key that only opens a connection (`ssh -i`), are no such file.\n\n**False positive when** the host is the service whose secret it is."},
		{ID: UnpinnedInstall, Name: "UnpinnedInstall", Title: "What is newest is installed", Severity: finding.Low, CWE: []string{"CWE-1357"}, OWASP: []string{"MCP04"},
			Help: "A command installs or runs a package, or begins an image, without a version: another day it is another program. Name the version, of an image its digest."},
	}
}
