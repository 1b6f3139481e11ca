package rules

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// lookups are kinds of file that libraries and programs open by themselves: opening one
// proves little where it is one of these that does so.
var lookups = map[string]struct {
	// programs are those whose own file it is, atStart libraries that look it up before any
	// call, as those that ask for updates do, and overHTTP those that look it up for a request.
	programs          []string
	atStart, overHTTP bool
	// words are those of which the server has to say one, where there are any, and asks is a part
	// of the name of the host for which libraries look the file up before any call.
	words []string
	asks  string
}{
	"netrc": {programs: []string{"curl", "wget", "git", "git-remote-http", "git-remote-https", "ftp", "hg", "go"}, atStart: true, overHTTP: true},
	"npm":   {programs: []string{"npm", "npx", "pnpm", "yarn", "bun"}, atStart: true, asks: "registry"},
	"ssh":   {programs: []string{"ssh", "scp", "sftp"}, words: []string{"git", "ssh", "remote", "remotes", "repository", "repositories"}},
	"pypi":  {programs: []string{"twine", "pip", "pip3", "uv", "poetry", "flit"}},
	"git":   {programs: []string{"git", "git-remote-http", "git-remote-https", "git-credential-store"}},
}

// businesses are words that make a kind of secret the server's own declared business.
var businesses = map[string][]string{
	"aws": {"aws", "amazon", "s3", "ec2", "lambda"}, "kube": {"kubernetes", "kubectl", "k8s", "helm", "kubeconfig", "openshift", "pods"},
	"docker": {"docker", "podman", "dockerfile"}, "github": {"github"}, "gh": {"github"}, "ssh": {"ssh", "sftp", "scp"},
	"npm": {"npm"}, "pypi": {"pypi"}, "gcloud": {"gcloud", "gcp"}, "firebase": {"firebase"}, "git": {"git"}, "env": {"dotenv"},
	"browser": {"browser", "cookies"}, "history": {"history"},
}

// googleServices are words for services of Google's that take the credentials of its cloud; its fonts and its
// search take none.
var googleServices = []string{
	"cloud", "drive", "sheet", "sheets", "spreadsheet", "spreadsheets", "docs", "slides", "calendar", "gmail", "bigquery", "firestore", "firebase", "vertex", "gemini", "storage",
	"workspace", "analytics", "ads", "youtube", "pubsub", "adc", "compute", "translate", "translation", "speech", "vision",
}

// isBusiness reports whether the server or the tool says that it deals with
// this kind of secret.
func (r *Run) isBusiness(kind, tool string) bool {
	return r.shown(tool, businesses[kind]) || kind == "gcloud" && r.shown(tool, []string{"google"}) && r.shown(tool, googleServices) || isClientConfig(kind) && r.managesClients(tool)
}

// dealsWith reports whether the server or the tool says that it deals with this kind of secret,
// or names its very file as one that it works with.
func (r *Run) dealsWith(c canaries.Canary, tool string) bool {
	return r.isBusiness(c.Kind, tool) || r.namesFile(c, tool)
}

// denial is a word of a sentence that rules something out.
var denial = lazyregexp.New(`(?i)\b(?:not|never|no|none|without|except|neither|nor|cannot|avoids?|ignores?|protects?|\w+n['’]t)\b`)

// namesFile reports whether the tool, or the server's own text, names the path of a secret in
// a sentence that denies nothing. A hidden file of the working directory needs its name alone: ".env".
func (r *Run) namesFile(c canaries.Canary, tool string) bool {
	where, base := c.Where(r.Home), path.Base(c.Path)
	switch {
	case c.Path != "" && r.inWorkspace(c) && strings.HasPrefix(base, "."):
		where = base
	case c.Path == "" || !strings.HasPrefix(where, "~/"):
		return false
	}
	about := [2]string{where, tool}
	named, known := r.named[about]
	if !known {
		named = r.textNames(where, tool)
		if r.named != nil {
			r.named[about] = named
		}
	}
	return named
}

// textNames is namesFile for a path below "~/", or a name.
func (r *Run) textNames(where, tool string) bool {
	return slices.ContainsFunc(r.sentences(), func(s sentence) bool {
		return s.owner.Speaks(tool) && !s.denies && s.mentions(where)
	})
}

// returnsEnvironment reports whether a tool declares to return environment variables.
func returnsEnvironment(t *scope.Tool) bool { return len(t.Environment) > 0 }

// environmentAsked is a command, or code, that reads the environment.
var environmentAsked = lazyregexp.New(`(?:^|[^\w./-])(?:(?:/usr)?/bin/)?(?:printenv|env|export|declare|set)\s*(?:-\w+\s*)*(?:$|[|;&>)"'\n])` +
	`|\b(?:process|Deno|Bun)\.env\b|\bENV(?:\[|\.|$)|\b(?:environb?|Environ|getenv|Getenv|LookupEnv)\b`)

// orderedEnvironment reports whether a call told a tool, which declares to run what it is given, to
// print the environment or this variable, and the tool answered with it.
func (r *Run) orderedEnvironment(e *finding.Effect, c canaries.Canary) bool {
	var args map[string]any
	if c.Env == "" || e.Call == 0 || e.Rung != finding.RungReturned || json.Unmarshal(r.Args[e.Call], &args) != nil {
		return false
	}
	t := r.Scope.Tool(e.Tool)
	for name, value := range args {
		if runsCommands(&t, "/"+session.EscapePointer(name)) && slices.ContainsFunc(texts(value, nil), func(arg string) bool {
			return strings.Contains(arg, c.Env) || environmentAsked.MatchString(arg)
		}) {
			return true
		}
	}
	return false
}

// secretLocation names a secret's place.
func (r *Run) secretLocation(id string) string {
	c, ok := r.Canaries[id]
	if !ok {
		return id
	}
	return c.Where(r.Home)
}

// secretFiles returns the effects on decoys that live in files, or that a
// service of the network gives away, by rung at least.
func (r *Run) secretFiles(least finding.Rung) []*finding.Effect {
	var out []*finding.Effect
	for _, e := range r.effects(finding.Secret) {
		if c, ok := r.Canaries[e.Target]; ok && c.Env == "" && !ofMachine(c.Kind) && e.Rung.Rank() >= least.Rank() {
			out = append(out, e)
		}
	}
	return out
}

// firstLeaving are the first undeclared efforts to leave, by call and phase.
func (r *Run) firstLeaving() map[moment]*finding.Effect {
	first := map[moment]*finding.Effect{}
	for _, n := range r.effects(finding.NetConnect) {
		at := moment{n.Call, n.Phase}
		if _, there := first[at]; there || !leaving(n) {
			continue
		}
		if t := r.Scope.Tool(n.Tool); n.Call > 0 && (len(t.URLs) > 0 || len(t.Network) > 0 && !t.ClaimsLocal()) {
			continue
		}
		first[at] = n
	}
	return first
}

// moment is a call, or a phase outside calls.
type moment struct {
	call  int
	phase finding.Phase
}

// showWords and shownWords are by which a tool declares to show what it is configured by.
var (
	showWords  = []string{"show", "shows", "return", "returns", "read", "reads", "get", "print", "prints", "display", "displays", "export", "exports", "list", "lists", "view"}
	shownWords = []string{"config", "configuration", "kubeconfig", "credential", "credentials", "settings", "file", "contents", "token", "tokens", "key", "keys"}
)

// shows reports whether a tool declares to show the configuration or the credentials of
// a secret's kind, which is its business.
func (r *Run) shows(e *finding.Effect, c canaries.Canary) bool {
	t := r.Scope.Tool(e.Tool)
	return e.Tool != "" && r.dealsWith(c, e.Tool) && slices.ContainsFunc(showWords, t.Says) && slices.ContainsFunc(shownWords, t.Says)
}
