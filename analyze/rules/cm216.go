package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

var cm216 = Rule{Rule: cm216Doc, Check: checkCM216}

var cm216Doc = finding.Rule{
	ID: "CM216", Name: "CredentialSearch", Title: "The server looked for credentials that nothing declares", Severity: finding.Medium,
	CWE: []string{"CWE-522", "CWE-200", "CWE-668"}, OWASP: []string{"MCP01"},
	Help: "The server connected to the socket of an agent or an engine that acts for the user (ssh, GnuPG, the keyring, Docker, containerd, Podman), opened the environment or the memory of a process that is not its own, " +
		"or looked for credentials in several places in one call: nothing stands there in this sandbox, but on a user's machine something may.\n\n" +
		"**Evidence.** The kernel's record of the connection or the open; whether it succeeded does not matter. The socket of an agent or engine and another process's memory are high, three or more places of credentials are medium. " +
		"A tool or server that names the thing (Docker, ssh, processes) is quiet, and so are files that libraries look up by themselves.\n\n" +
		"**False positive when** the server's documentation, not its declaration, explains it.",
}

// agentSockets are the sockets of agents and engines that act for the user, by a part of
// their path, with the words by which a server declares to use them.
var agentSockets = []struct {
	part  string
	words []string
}{
	{"docker.sock", []string{"docker", "container", "containers"}}, {"containerd.sock", []string{"containerd", "container", "containers"}},
	{"podman.sock", []string{"podman", "container", "containers"}}, {"crio.sock", []string{"container", "containers"}},
	{"S.gpg-agent", []string{"gpg", "gnupg", "pgp", "sign"}}, {"S.keyboxd", []string{"gpg", "gnupg", "pgp"}}, {"ssh-agent", []string{"ssh", "git"}}, {"/ssh-", []string{"ssh", "git"}},
	{"agent.", []string{"ssh", "git"}}, {"keyring", []string{"keyring", "keychain", "password", "passwords"}}, {"1password", []string{"1password", "password", "passwords"}},
}

// minPlaces is how many places of credentials are a search.
const minPlaces = 3

func checkCM216(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.UnixSocket, finding.FileRead) {
		words, what := r.actsForUser(e)
		if what == "" || r.says(e.Tool, words) {
			continue
		}
		f := r.of(&cm216Doc, e, subject(e)+" "+what)
		f.Severity = finding.High
		out = append(out, f)
	}
	return append(first(out), r.searches()...)
}

// actsForUser says what an effect reached that acts for the user, or is another's, and the
// words that declare it; what is "" for anything else.
func (r *Run) actsForUser(e *finding.Effect) (words []string, what string) {
	if e.Kind == finding.FileRead {
		if strings.HasPrefix(e.Target, "/proc/PID/") {
			return []string{"process", "processes", "debugger"}, "opened " + path.Base(e.Target) + " of a process that is not its own"
		}
		return nil, ""
	}
	for _, s := range agentSockets {
		if strings.Contains(e.Target, s.part) {
			return s.words, "connected to " + r.stable(e.Target) + ", which acts for the user"
		}
	}
	return nil, ""
}

// says reports whether the tool or the server names one of some words.
func (r *Run) says(tool string, words []string) bool {
	t := r.Scope.Tool(tool)
	return slices.ContainsFunc(words, func(w string) bool { return t.Says(w) || r.Scope.Purpose.Says(w) })
}

// searches are the calls and phases in which credentials were looked for in several places.
func (r *Run) searches() []finding.Finding {
	type where struct {
		tool  string
		call  int
		phase finding.Phase
	}
	places := map[where][]*finding.Effect{}
	var order []where
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		if e.Kind != finding.FileRead || e.Rung != finding.RungAttempted || !r.isCredential(e.Target) {
			continue
		}
		at := where{e.Tool, e.Call, e.Phase}
		if places[at] == nil {
			order = append(order, at)
		}
		if !slices.ContainsFunc(places[at], func(o *finding.Effect) bool {
			return path.Dir(o.Target) == path.Dir(e.Target) && path.Dir(o.Target) != r.Home
		}) {
			places[at] = append(places[at], e)
		}
	}
	var out []finding.Finding
	for _, at := range order {
		list := places[at]
		if len(list) < minPlaces {
			continue
		}
		f := r.of(&cm216Doc, list[0], "")
		var names []string
		for _, e := range list {
			names = append(names, r.stable(e.Target))
			if e != list[0] && len(f.Evidence) < maxEvidence {
				f.Evidence = append(f.Evidence, e.Evidence...)
			}
		}
		f.Message = subject(list[0]) + " looked for credentials in " + plural(len(names), "place") + ": " + strings.Join(names[:min(len(names), 5)], ", ")
		f.Fingerprint = finding.Fingerprint("CM216", at.tool, "search")
		if at.call == 0 {
			f.Fingerprint = finding.Fingerprint("CM216", string(at.phase), "search")
		}
		out = append(out, f)
	}
	return first(out)
}

// isCredential reports whether a path below HOME is a place of credentials, other than
// those that libraries look up by themselves.
func (r *Run) isCredential(p string) bool {
	if !strings.HasPrefix(p, r.Home+"/") || slices.Contains([]string{".netrc", ".npmrc", ".pypirc", ".gitconfig", ".env"}, path.Base(p)) || strings.HasSuffix(p, "_history") {
		return false
	}
	return secrets.Named(p) || secrets.Directory(path.Dir(p)) || secrets.Directory(p)
}
