package plan

import (
	"os"

	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth/answers"
	"github.com/coalmine-dev/coalmine/synth/literals"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// maxWords bounds the names from the source that are tried as tools and
// arguments which nobody declared: each costs a call.
const maxWords = 24

// literalsOf are what the server's own source is written with, and the names in it;
// nothing where there is no source, or it cannot be read.
func literalsOf(source *os.Root) (schema.Literals, []string) {
	if source == nil {
		return schema.Literals{}, nil
	}
	found := literals.Read(source.FS())
	return schema.Literals{Texts: found.Texts, Numbers: found.Numbers, Lengths: found.Lengths}, found.Names[:min(len(found.Names), maxWords)]
}

// fitsOf are answers for what the source asks; nothing where there is no source.
func fitsOf(source *os.Root) []sinkhole.Fit {
	if source == nil {
		return nil
	}
	return answers.Read(source.FS())
}
