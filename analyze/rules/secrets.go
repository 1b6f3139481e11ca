package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// lookups are kinds of file that honest HTTP and package libraries open by
// themselves: opening one proves little.
var lookups = map[string]bool{"netrc": true, "npm": true, "pypi": true, "gitconfig": true, "git": true, "history": false}

// businesses are words that make a kind of secret the server's own declared business.
var businesses = map[string][]string{
	"aws": {"aws", "amazon", "s3", "ec2", "lambda"}, "kube": {"kubernetes", "kubectl", "k8s", "helm", "cluster"},
	"docker": {"docker", "container", "containers"}, "github": {"github"}, "gh": {"github"}, "ssh": {"ssh", "sftp", "scp"},
	"npm": {"npm"}, "pypi": {"pypi"}, "gcloud": {"gcloud", "gcp", "google"}, "git": {"git"}, "env": {"dotenv"},
	"browser": {"browser", "cookies"}, "history": {"history"},
}

// isBusiness reports whether the server or the tool says that it deals with
// this kind of secret.
func (r *Run) isBusiness(kind, tool string) bool {
	return r.says(tool, businesses[kind])
}

// returnsEnvironment reports whether a tool declares to return environment variables.
func returnsEnvironment(t *scope.Tool) bool { return len(t.Environment) > 0 }

// where names a secret's place.
func (r *Run) where(id string) string {
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
		if c, ok := r.Canaries[e.Target]; ok && c.Env == "" && e.Rung.Rank() >= least.Rank() {
			out = append(out, e)
		}
	}
	return out
}

// egressIn returns the undeclared egress of a call (or of a phase outside calls), nil for none.
func (r *Run) egressIn(e *finding.Effect) *finding.Effect {
	t := r.Scope.Tool(e.Tool)
	if e.Call > 0 && (len(t.URLs) > 0 || (len(t.Network) > 0 && !t.ClaimsLocal())) {
		return nil
	}
	for _, n := range r.effects(finding.NetConnect) {
		if leaving(n) && n.Call == e.Call && n.Phase == e.Phase {
			return n
		}
	}
	return nil
}
