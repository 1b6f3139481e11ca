package rules

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

var cm216 = Rule{Rule: cm216Doc, Check: checkCM216}

var cm216Doc = finding.Rule{
	ID: "CM216", Name: "CredentialSearch", Title: "Undeclared search for credentials", Severity: finding.High, Family: finding.FamilyDeclared,
	Advice: finding.Advice{Why: "A search for credentials precedes their theft.", Fix: fixSecret},
	CWE:    []string{"CWE-522", "CWE-200", "CWE-668"}, OWASP: []string{"MCP01"},
	Help: "The server connected to the socket of an agent or an engine that acts for the user (ssh, GnuPG, the keyring, Docker, containerd, Podman), opened the environment or the memory of a process that is not its own, " +
		"asked a program for the credentials that it keeps (`gh auth token`, `git credential fill`, `pass show`), for what the user copied (`wl-paste`), or for what the user's screen, camera or microphone shows (`scrot`, `arecord`), opened `/etc/shadow`, listed a directory of credentials, " +
		"or looked for credentials that are not in this sandbox (`~/.vault-token`, `~/.azure`): on a user's machine they may be there. " +
		"Outside calls fewer than three places are medium, and nothing in a build.\n\n" +
		"**Evidence.** The kernel's record of the connection, the open, the question whether a file is there, or the attempt to run the program; whether it succeeded does not matter. " +
		"A tool or server that names the thing (Docker, ssh, processes, GitHub and its program) or the file is quiet, and so are a directory that the call names, a walk through all of HOME, a question about a file whose directory was listed just before, what git, ssh and their like do in their own directories, what a browser looks for in its own profile, what stands below a directory that the server itself made, and files that libraries look up by themselves. The environment of process 1 is low where it was refused to a program that had just looked for other marks of a container.\n\n" +
		"**False positive when** the server's documentation, not its declaration, explains it.",
}

// agentSockets are the sockets of agents and engines that act for the user, by a part of
// their path, with the words by which a server declares to use them.
var agentSockets = []struct {
	part  string
	words []string
}{
	{"docker.sock", []string{"docker", "podman", "dockerfile"}}, {"containerd.sock", []string{"containerd", "docker"}},
	{"podman.sock", []string{"podman", "docker"}}, {"crio.sock", []string{"crio", "cri", "kubernetes"}},
	{"S.gpg-agent", []string{"gpg", "gnupg", "pgp"}}, {"S.keyboxd", []string{"gpg", "gnupg", "pgp"}}, {"ssh-agent", []string{"ssh"}}, {"/ssh-", []string{"ssh"}},
	{"agent.", []string{"ssh"}}, {"keyring", []string{"keyring", "keychain", "password", "passwords"}}, {"1password", []string{"1password", "password", "passwords"}},
}

// busPrograms are programs that speak to the user's session by themselves.
var busPrograms = []string{"chrome", "chromium", "headless_shell", "chrome-headless-shell", "msedge", "firefox", "electron", "xdg-open", "gio", "notify-send", "systemctl", "dbus-send", "busctl", "gdbus"}

// busWords are those by which a server declares to speak to the programs of the user's session.
var busWords = []string{"dbus", "desktop", "notification", "notifications", "notify", "systemd", "bluetooth", "player", "volume", "screenshot", "brightness", "keyring", "keychain", "battery"}

// agentPrograms are the programs whose agents these are, with further words by which a server
// declares to have them used: git signs and asks remotes by them.
var agentPrograms = map[string][]string{
	"ssh": {"git", "remote", "sftp", "scp", "repository"}, "ssh-add": {"git"}, "gpg": {"git", "sign", "signs", "signature", "encrypt", "encrypts"}, "gpgsm": {"sign", "signs"}, "gpgconf": {"sign", "git"},
}

// helperWords are the words by which a server declares to ask a program for credentials.
var helperWords = map[string][]string{
	"gh": {"github", "gh"}, "hub": {"github"}, "glab": {"gitlab", "glab"}, "aws": {"aws", "amazon", "s3"}, "gcloud": {"gcloud", "gcp", "google"}, "az": {"azure"},
	"kubectl": {"kubernetes", "kubectl", "kubeconfig", "k8s"}, "oc": {"openshift"}, "npm": {"npm"}, "heroku": {"heroku"}, "fly": {"fly"}, "flyctl": {"fly"}, "doctl": {"digitalocean", "doctl"},
	"vault": {"vault"}, "databricks": {"databricks"}, "doppler": {"doppler"}, "infisical": {"infisical"}, "ssh-add": {"ssh"}, "gpg": {"gpg", "pgp", "gnupg"}, "gpg2": {"gpg", "pgp", "gnupg"}, "snyk": {"snyk"},
}

// keeperWords declare that a tool needs the credentials of any such program.
var keeperWords = []string{"credential", "credentials", "login", "logins", "password", "passwords", "keychain", "keyring", "authenticate", "authentication"}

// handed are what helpers hand out, in words, with the words by which a server declares to have it.
var handed = map[profile.Handed]struct {
	what  string
	words []string
}{
	profile.HandedCredentials: {"the user's credentials", keeperWords},
	profile.HandedCopied:      {"what the user copied", append([]string{"clipboard", "clipboards", "paste", "pastes", "pasteboard", "copied"}, keeperWords...)},
	profile.HandedObserved: {"what the user sees or says", []string{"screenshot", "screenshots", "screen", "screens", "capture", "captures", "record", "records", "recording", "camera", "webcam", "microphone",
		"desktop", "window", "windows", "photo", "audio", "voice", "dictation", "video", "ffmpeg"}},
}

// minPlaces is how many places of credentials are a search.
const minPlaces = 3

func checkCM216(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.UnixSocket, finding.FileRead) {
		words, what := r.actsForUser(e)
		if what == "" || r.shown(e.Tool, words) {
			continue
		}
		f := r.of(&cm216Doc, e, subject(e)+" "+what)
		if e.Target == profile.InitEnviron {
			// A library that looks so in each call is one habit of the server's.
			f.Severity, f.Fingerprint = finding.Low, finding.Fingerprint("CM216", e.Target)
		}
		out = append(out, f)
	}
	out = append(out, r.listings()...)
	return append(append(first(out), r.asksHelpers()...), r.searches()...)
}

// actsForUser says what an effect reached that acts for the user, or is another's, and the
// words that declare it; what is "" for anything else.
func (r *Run) actsForUser(e *finding.Effect) (words []string, what string) {
	if e.Kind == finding.FileRead {
		if strings.HasPrefix(e.Target, "/proc/PID/") {
			return otherProcessWords[path.Base(e.Target)], "opened " + path.Base(e.Target) + " of another process"
		}
		if e.Target == profile.InitEnviron {
			return otherProcessWords["environ"], "was refused the environment of process 1 when it looked whether it runs in a container"
		}
		if profile.SystemSecret(e.Target) {
			return []string{"account", "accounts", "passwd", "shadow", "hardening", "audit", "sudo", "sudoers"}, "opened " + e.Target
		}
		return nil, ""
	}
	if strings.HasSuffix(e.Target, "/bus") && !slices.Contains(busPrograms, e.Actor) {
		return busWords, "connected to " + r.stable(e.Target) + ", by which programs of the user's session are told what to do"
	}
	for _, s := range agentSockets {
		if strings.Contains(e.Target, s.part) {
			return slices.Concat(s.words, agentPrograms[e.Actor]), "connected to " + r.stable(e.Target) + ", which acts with the user's authority"
		}
	}
	return nil, ""
}

// otherProcessWords are the words that declare a look into another process, by the file in /proc. Its variables
// hold credentials, which nobody needs who explains or counts processes.
var otherProcessWords = map[string][]string{
	"environ": {"environ", "environment", "env", "variables", "debugger"},
	"mem":     {"memory", "heap", "debugger", "debug"},
}

// says reports whether the tool or the server names one of some words.
func (r *Run) says(tool string, words []string) bool {
	t := r.Scope.Tool(tool)
	return slices.ContainsFunc(words, func(w string) bool { return t.Says(w) || r.Scope.Purpose.Says(w) })
}

// shown is says for what a client shows: a file that nobody is shown gives leave for no secret.
func (r *Run) shown(tool string, words []string) bool {
	t := r.Scope.Tool(tool)
	return slices.ContainsFunc(words, func(w string) bool { return t.Shows(w) || r.Scope.Purpose.Shows(w) })
}

// asksHelpers are the commands that ask a program for the credentials that it keeps.
func (r *Run) asksHelpers() []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if e.Asks == "" || r.allowed != nil && r.allowed[i] {
			continue
		}
		program, _, _ := strings.Cut(e.Asks, " ")
		of := handed[profile.HandedBy(e.Asks)]
		if r.shown(e.Tool, helperWords[program]) || r.shown(e.Tool, of.words) {
			continue
		}
		f := r.of(&cm216Doc, e, subject(e)+" asked a program for "+of.what+": "+e.Asks)
		f.Fingerprint = finding.Fingerprint("CM216", e.Tool, "helper", e.Asks)
		out = append(out, f)
	}
	return first(out)
}

// ownDirectories are the programs that read directories of credentials as their own.
var ownDirectories = map[string]string{"ssh": ".ssh", "ssh-keygen": ".ssh", "scp": ".ssh", "sftp": ".ssh", "gpg": ".gnupg", "gpg2": ".gnupg", "gpgsm": ".gnupg", "git": ".config/git", "docker": ".docker", "kubectl": ".kube", "aws": ".aws"}

// listings are the directories of credentials with decoys in them that were opened.
func (r *Run) listings() []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.FileRead) {
		if e.Rung != finding.RungOpened || !secrets.Directory(e.Target) || !strings.HasPrefix(e.Target, r.Home+"/") || r.names(e) || r.isAllowedDirectory(e) || r.walks(e) {
			continue
		}
		f := r.of(&cm216Doc, e, subject(e)+" listed "+r.stable(e.Target)+", a directory of credentials")
		out = append(out, f)
	}
	return out
}

// walkTime is how far apart two listings of one walk may be where a call's walk went on after
// the call.
const walkTime = time.Minute

// walks reports whether a directory was listed on a walk through all of HOME, which has no
// eye for credentials: several of the directories that every user has were listed too.
func (r *Run) walks(e *finding.Effect) bool {
	listed := map[string]bool{}
	for i := range r.Profile.Effects {
		o := &r.Profile.Effects[i]
		if o.Kind == finding.FileRead && o.Rung == finding.RungOpened && path.Dir(o.Target) == r.Home && together(o, e) {
			listed[path.Base(o.Target)] = true
		}
	}
	return listed["Desktop"] && (listed["Downloads"] || listed["Documents"])
}

// together reports whether an effect belongs to the same work as e: to its call, or, where e is
// outside of calls and may be the rest of a call that was given up, to the time around it.
func together(o, e *finding.Effect) bool {
	if o.Call == e.Call && o.Phase == e.Phase {
		return true
	}
	return e.Call == 0 && len(o.Evidence) > 0 && len(e.Evidence) > 0 && (o.Evidence[0].Time-e.Evidence[0].Time).Abs() < walkTime
}

// isAllowedDirectory reports whether a directory of credentials holds no decoy, is that of
// the program that opened it, or is the server's declared business.
func (r *Run) isAllowedDirectory(e *finding.Effect) bool {
	if own := ownDirectories[e.Actor]; own != "" && strings.HasSuffix(e.Target, "/"+own) {
		return true
	}
	holds := false
	for _, c := range r.Canaries {
		if c.Path != "" && within(c.Path, e.Target) {
			holds = true
			if r.dealsWith(c, e.Tool) {
				return true
			}
		}
	}
	return !holds
}

// searches are the phases and the tools in which credentials were looked for in several places.
func (r *Run) searches() []finding.Finding {
	type where struct {
		tool  string
		phase finding.Phase
	}
	places := map[where][]*finding.Effect{}
	var order []where
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if e.Kind != finding.FileRead || e.Rung != finding.RungAttempted || !r.isCredential(e.Target) || r.placeDeclared(e) || r.ownPlace(e) || r.ownedBy(e.Actor, e.Target) || r.isVariant(e) {
			continue
		}
		at := where{e.Tool, e.Phase}
		if places[at] == nil {
			order = append(order, at)
		}
		if !slices.ContainsFunc(places[at], func(o *finding.Effect) bool { return r.samePlace(o.Target, e.Target) }) {
			places[at] = append(places[at], e)
		}
	}
	var out []finding.Finding
	for _, at := range order {
		list := places[at]
		few := len(list) < minPlaces
		if few {
			list = slices.DeleteFunc(list, r.speaksOfOwner)
		}
		if len(list) == 0 || few && at.phase == finding.PhaseBuild {
			continue // installers look for the settings of registries
		}
		f := r.of(&cm216Doc, list[0], "")
		if few && list[0].Call == 0 {
			f.Severity = finding.Medium // a library may look so as it is loaded
		}
		var names []string
		for _, e := range list {
			names = append(names, r.stable(e.Target))
			if e != list[0] && len(f.Evidence) < maxEvidence {
				f.Evidence = append(f.Evidence, e.Evidence...)
			}
		}
		f.Message = subject(list[0]) + " looked for credentials in " + plural(len(names), "place") + ": " + strings.Join(names[:min(len(names), 5)], ", ")
		f.Fingerprint = finding.Fingerprint("CM216", at.tool, "search")
		if at.tool == "" {
			f.Fingerprint = finding.Fingerprint("CM216", string(at.phase), "search")
		}
		out = append(out, f)
	}
	return first(out)
}

// isVariant reports whether an effect outside calls looked for a variant of the .env of the working directory, as
// libraries that load it do (.env.local, .env.production).
func (r *Run) isVariant(e *finding.Effect) bool {
	return e.Call == 0 && strings.HasPrefix(path.Base(e.Target), ".env.") && slices.Contains(r.Workspaces, path.Dir(e.Target))
}

// samePlace reports whether two files are of one program: those in one directory, but HOME itself.
func (r *Run) samePlace(a, b string) bool {
	program := func(p string) string {
		parts := strings.Split(strings.TrimPrefix(p, r.Home+"/"), "/")
		n := 1
		if parts[0] == ".config" || parts[0] == ".local" {
			n = min(len(parts), map[string]int{".config": 2, ".local": 3}[parts[0]])
		}
		return strings.Join(parts[:n], "/")
	}
	return program(a) == program(b)
}

// placeOwners are further words by which a declaration speaks of the program of a place: those that stand neither in its path
// nor in businesses.
var placeOwners = map[string][]string{
	".pgpass": {"postgres", "postgresql", "database", "databases", "sql"}, "pgpass.conf": {"postgres", "postgresql", "database", "sql"},
	".my.cnf": {"mysql", "mariadb", "database", "databases", "sql"}, ".mylogin.cnf": {"mysql", "mariadb", "database", "sql"},
	".s3cfg": {"s3", "aws"}, ".boto": {"aws", "s3", "gcloud", "gsutil"}, ".databrickscfg": {"databricks"}, ".snowsql": {"snowflake"},
	".terraformrc": {"terraform", "tofu"}, ".sentryclirc": {"sentry"}, ".azure": {"microsoft"}, "gcloud": {"google", "firebase"}, ".kube": {"cluster", "clusters"},
	".claude": {"anthropic"}, ".codex": {"openai"}, ".mozilla": {"browser", "firefox", "cookies"}, "google-chrome": {"browser", "cookies"}, "chromium": {"browser", "cookies"},
}

// anyPlace are words of paths that stand for credentials of any kind.
var anyPlace = []string{"token", "tokens", "credential", "credentials", "auth", "secret", "secrets", "accounts", "login", "master", "wallet", "access", "oauth", "creds"}

// speaksOfOwner reports whether a declaration speaks of the program whose place an effect is, or of credentials.
func (r *Run) speaksOfOwner(e *finding.Effect) bool {
	rest := strings.TrimPrefix(e.Target, r.Home+"/")
	names := slices.DeleteFunc(pathWords(strings.ToLower(rest)), func(w string) bool { return slices.Contains(anyPlace, w) })
	for part, owners := range placeOwners {
		if strings.Contains(strings.ToLower(rest), part) {
			names = append(names, owners...)
		}
	}
	return r.shown(e.Tool, names) || r.shown(e.Tool, keeperWords)
}

// placeDeclared reports whether the server's declared business is the program of a place, or a sentence that
// denies nothing names the place itself.
func (r *Run) placeDeclared(e *finding.Effect) bool {
	rest := strings.TrimPrefix(e.Target, r.Home+"/")
	for kind, words := range businesses {
		if strings.Contains(rest, kind) && r.shown(e.Tool, words) {
			return true
		}
	}
	return r.names(e) || r.textNames("~/"+rest, e.Tool)
}

// browserPlaces are below HOME what Chromium and Firefox look into as their own.
var browserPlaces = map[string][]string{
	"chrome": chromiumPlaces, "chromium": chromiumPlaces, "headless_shell": chromiumPlaces, "chrome-headless-shell": chromiumPlaces, "msedge": chromiumPlaces,
	"firefox": {".mozilla", ".pki", ".local/share/pki"},
}

var chromiumPlaces = []string{".config/chromium", ".config/google-chrome", ".config/google-chrome-for-testing", ".config/microsoft-edge", ".pki", ".local/share/pki"}

// ownPlace reports whether a place is below a directory that the server itself made in this
// run, or is a browser's own.
func (r *Run) ownPlace(e *finding.Effect) bool {
	if slices.ContainsFunc(r.Profile.Kept, func(k profile.Kept) bool { return k.Path != r.Home && within(e.Target, k.Path) }) {
		return true
	}
	return slices.ContainsFunc(browserPlaces[e.Actor], func(dir string) bool { return within(e.Target, r.Home+"/"+dir) })
}

// isCredential reports whether a path below HOME is a place of credentials, other than
// those that libraries look up by themselves.
func (r *Run) isCredential(p string) bool {
	if !strings.HasPrefix(p, r.Home+"/") || slices.Contains([]string{".netrc", ".npmrc", ".pypirc", ".gitconfig", ".env"}, path.Base(p)) || strings.HasSuffix(p, "_history") || strings.Contains(p, "/huggingface/") {
		return false // any program that loads a model looks for its token
	}
	if slices.Contains(browsersOwn, path.Base(p)) {
		return false // the script that starts a browser looks for old reports
	}
	return secrets.Named(p) || secrets.Directory(path.Dir(p)) || secrets.Directory(p)
}

// browsersOwn are the parts of a browser's profile that hold no data of the user's.
var browsersOwn = []string{"Crash Reports", "Crashpad", "ShaderCache", "GrShaderCache", "Dictionaries", "SingletonLock"}
