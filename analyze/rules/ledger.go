package rules

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// Class says what kind of reason explains an effect.
type Class string

// The classes of explanations.
const (
	// ClassOrdinary is what any program of its kind does: Effect.Noise says what.
	ClassOrdinary Class = "ordinary"
	// ClassPolicy is the user's own policy.
	ClassPolicy Class = "policy"
	// ClassArgument is an argument of the call that names the object.
	ClassArgument Class = "argument"
	// ClassOwn is the server's own directory, or a file that an explained effect made.
	ClassOwn Class = "own file"
	// ClassState is a directory of the server's own below the user's state,
	// configuration or cache, or a database's file beside it.
	ClassState Class = "own state"
	// ClassDefault is a hint that the tool leaves out: by the specification such a tool
	// may change its surroundings. It covers new files alone.
	ClassDefault Class = "default"
	// ClassClaim is something that the tool or the server declares.
	ClassClaim Class = "claim"
)

// Explanation is why an effect is no surprise.
type Explanation struct {
	Class Class `json:"class"`
	// Where and Text are the place and the words of a claim, or Text is the noise's kind.
	Where string `json:"where,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Explain is what explains the change of a file at an index of Profile.Effects; ok is
// false where nothing does. Other kinds of effects have no explanation but the ordinary
// and the policy's.
func (r *Run) Explain(i int) (x Explanation, ok bool) {
	e := &r.Profile.Effects[i]
	switch {
	case e.Noise != "":
		return Explanation{Class: ClassOrdinary, Text: e.Noise}, true
	case r.allowed != nil && r.allowed[i]:
		return Explanation{Class: ClassPolicy}, true
	case !isChange(e.Kind):
		return Explanation{}, false
	case r.names(e):
		return Explanation{Class: ClassArgument}, true
	}
	if at := r.placeOf(e.Target); at == placeObeyed {
		return r.business(e)
	}
	switch {
	case r.ServerDir != "" && within(e.Target, r.ServerDir), r.madeBefore(i):
		return Explanation{Class: ClassOwn}, true
	case e.Call > 0 && r.placeOf(e.Target) == placeNew && !r.readOnly(e.Tool):
		return Explanation{Class: ClassDefault, Text: "readOnlyHint"}, true
	case r.keeps(e.Target), r.isOwnFile(e.Target), r.besideDatabase(e.Target):
		return Explanation{Class: ClassState}, true
	}
	return r.claimed(e)
}

// surprises reports whether a change is of what other programs obey, and nothing explains it.
func (r *Run) surprises(e *finding.Effect) bool {
	if e.Rung == finding.RungAttempted || r.placeOf(e.Target) != placeObeyed || r.names(e) {
		return false
	}
	_, ok := r.business(e)
	return !ok
}

// minNamed is how long a file's name has to be to count where it stands amid other text.
const minNamed = 8

// readOnly reports whether a tool declares to read only.
func (r *Run) readOnly(tool string) bool {
	t := r.Scope.Tool(tool)
	return t.ClaimsReadOnly()
}

// names reports whether an argument of the effect's call names the changed file, or a
// directory around it that is no wider than a workspace or a directory of HOME. What
// others obey has to be named itself.
func (r *Run) names(e *finding.Effect) bool {
	var args any
	if e.Call == 0 || json.Unmarshal(r.Args[e.Call], &args) != nil {
		return false
	}
	at := r.placeOf(e.Target)
	if base := path.Base(e.Target); at == placeNew && len(base) >= minNamed && r.asked(e.Call, base) {
		return true // a name within a command, a query or code
	}
	obeyed := at == placeObeyed
	for _, text := range texts(args, nil) {
		if text == "" || len(text) > 4096 {
			continue
		}
		for _, w := range append([]string{r.Home}, r.Workspaces...) {
			p := resolve(w, strings.TrimPrefix(text, "file://"))
			if rest, ok := strings.CutPrefix(text, "~/"); ok {
				p = path.Join(r.Home, rest)
			}
			switch {
			case p == e.Target:
				return true
			case obeyed, p == r.Home, within(r.Home, p):
			case within(e.Target, p) && !slices.ContainsFunc(r.Workspaces, func(w string) bool { return p != w && within(w, p) }):
				return true
			}
		}
	}
	return false
}

// madeBefore reports whether an earlier effect, explained by itself, made the file or a
// directory around it.
func (r *Run) madeBefore(i int) bool {
	e := &r.Profile.Effects[i]
	for j := range r.Profile.Effects[:i] {
		o := &r.Profile.Effects[j]
		if o.Kind == finding.FileWrite && o.Rung == finding.RungOpened && !r.stood(o.Target) && within(e.Target, o.Target) && o.Call > 0 && r.explainedMaking(j) {
			return true
		}
	}
	return false
}

// explainedMaking reports whether an argument or a claim explains that a file was made.
func (r *Run) explainedMaking(i int) bool {
	e := &r.Profile.Effects[i]
	if r.names(e) {
		return true
	}
	_, ok := r.claimed(e)
	return ok
}

// isOwnFile reports whether a file of HOME or of a workspace has the server's own name:
// ".notes.json" of a server called notes.
func (r *Run) isOwnFile(p string) bool {
	return !r.stood(p) && slices.ContainsFunc(append([]string{r.Home}, r.Workspaces...), func(dir string) bool {
		rest, ok := strings.CutPrefix(p, dir+"/")
		first, _, _ := strings.Cut(rest, "/")
		name, _, _ := strings.Cut(strings.TrimPrefix(first, "."), ".")
		return dir != "" && ok && r.isOwnName(name)
	})
}

// sideFiles are what SQLite makes beside a database (sqlite.org/tempfiles.html).
var sideFiles = []string{"-wal", "-shm", "-journal"}

// besideDatabase reports whether a file is one that SQLite makes beside a database which
// the run used.
func (r *Run) besideDatabase(p string) bool {
	for _, s := range sideFiles {
		base, ok := strings.CutSuffix(p, s)
		if ok && slices.ContainsFunc(r.Profile.Effects, func(e finding.Effect) bool { return e.Target == base && e.Kind != finding.FileDelete }) {
			return true
		}
	}
	return false
}

// claimed is what the tool, or else the server, declares that covers a change. What is
// between calls may be the work of any tool. A tool that declares to read only claims nothing.
func (r *Run) claimed(e *finding.Effect) (Explanation, bool) {
	tools := []scope.Tool{r.Scope.Purpose}
	switch {
	case e.Tool != "":
		t := r.Scope.Tool(e.Tool)
		if t.ClaimsReadOnly() {
			return Explanation{}, false
		}
		tools = append([]scope.Tool{t}, tools...)
	case r.promisesReadOnly():
		return Explanation{}, false
	default:
		tools = append(tools, r.Scope.Tools...)
	}
	for i := range tools {
		claims := tools[i].Write
		if e.Kind == finding.FileDelete {
			claims = tools[i].Delete
		} else if len(claims) == 0 {
			claims = tools[i].Delete
		}
		if len(claims) > 0 && !tools[i].ClaimsReadOnly() {
			return Explanation{Class: ClassClaim, Where: claims[0].Where, Text: claims[0].Text}, true
		}
	}
	return Explanation{}, false
}

// obeyedWords are the words by which a tool or server declares to deal with a place that
// others obey, by a part of its path.
var obeyedWords = []struct {
	part  string
	words []string
}{
	{".git", []string{"git", "repository", "commit"}}, {".ssh", []string{"ssh"}}, {".kube", []string{"kubernetes", "kubectl", "kubeconfig"}}, {".docker", []string{"docker"}},
	{".vscode", []string{"vscode", "editor"}}, {"Code", []string{"vscode", "editor"}}, {".cursor", []string{"cursor"}}, {".claude", []string{"claude"}}, {"Claude", []string{"claude"}},
	{".npmrc", []string{"npm"}}, {"package.json", []string{"npm", "package"}}, {".aws", []string{"aws"}}, {"systemd", []string{"systemd"}}, {"cron", []string{"cron", "crontab"}},
	{".mcp.json", []string{"mcp.json"}}, {"Dockerfile", []string{"docker", "dockerfile"}}, {".github", []string{"workflow", "workflows", "github"}},
}

// business is the word by which the tool, or the server, declares to deal with a place
// that other programs obey. It also has to declare that it changes something.
func (r *Run) business(e *finding.Effect) (Explanation, bool) {
	if _, ok := r.claimed(e); !ok {
		return Explanation{}, false
	}
	t := r.Scope.Tool(e.Tool)
	for _, o := range obeyedWords {
		if !strings.Contains(e.Target, o.part) {
			continue
		}
		for _, w := range o.words {
			if t.Says(w) || r.Scope.Purpose.Says(w) {
				return Explanation{Class: ClassClaim, Where: "description", Text: w}, true
			}
		}
	}
	return Explanation{}, false
}
