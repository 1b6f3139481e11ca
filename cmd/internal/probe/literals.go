package probe

import (
	"os"

	"github.com/coalmine-dev/coalmine/synth/literals"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// maxWords bounds the names from the source that are tried as tools and
// arguments which nobody declared: each costs a call.
const maxWords = 24

// readSource takes in what the server's own source is written with; nothing
// where there is no source, or it cannot be read.
func (p *plan) readSource() {
	if p.audit == "" {
		return
	}
	root, err := os.OpenRoot(p.audit)
	if err != nil {
		return
	}
	found := literals.Read(root.FS())
	_ = root.Close() // it was only read
	p.hints.Literals = schema.Literals{Texts: found.Texts, Numbers: found.Numbers, Lengths: found.Lengths}
	p.words = found.Names[:min(len(found.Names), maxWords)]
}
