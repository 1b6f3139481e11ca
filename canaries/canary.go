package canaries

import (
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Canary is one decoy secret: a value that exists nowhere else in the world.
type Canary struct {
	// ID names it in reports, where its value never appears ("ssh-key", "aws-secret").
	ID string `json:"id"`
	// Kind is what it pretends to be ("ssh", "aws", "github", "npm", "netrc" …).
	Kind string `json:"kind"`
	// Value is the secret itself, as it stands in the file or the variable.
	Value string `json:"value"`
	// Path is the absolute path of the file that holds it, "" for none.
	Path string `json:"path,omitempty"`
	// Env is the variable that holds it, "" for none.
	Env string `json:"env,omitempty"`
	// URL is where a service hands it out, "" for none.
	URL string `json:"url,omitempty"`
	// Issuers are the hosts at which using it is honest, "*.amazonaws.com" included.
	Issuers []string `json:"issuers,omitempty"`
}

// equal says whether two canaries are the same in all that is recorded.
func (c Canary) equal(d Canary) bool {
	return c.ID == d.ID && c.Kind == d.Kind && c.Value == d.Value && c.Path == d.Path && c.Env == d.Env && c.URL == d.URL && slices.Equal(c.Issuers, d.Issuers)
}

// Where names the canary's place for a reader: "~/.ssh/id_rsa", "$GITHUB_TOKEN".
// home is the decoy HOME.
func (c Canary) Where(home string) string {
	switch {
	case c.Env != "":
		return "$" + c.Env
	case c.Path == "":
		return c.URL
	}
	if rest, ok := strings.CutPrefix(c.Path, strings.TrimSuffix(home, "/")+"/"); ok && home != "" {
		return "~/" + rest
	}
	return c.Path
}

// File is one file or directory of the decoy HOME.
type File struct {
	// Path is absolute.
	Path string
	Mode fs.FileMode
	Data []byte
	Dir  bool
	// ModTime lies in a plausible past.
	ModTime time.Time
}
