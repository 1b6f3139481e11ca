package synth

import (
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

var (
	// unpacks matches what a tool says that takes an archive.
	unpacks = lazyregexp.New(`(?i)(?:^|[^a-z])(?:zip|unzip|zipped|tar|tgz|untar|tarballs?|archives?|gzip|gzipped)(?:$|[^a-z])|unpack|decompress`)
	// archivePlace and pathPlace are names of arguments that may be the archive, the better ones first.
	archivePlace = lazyregexp.New(`(?i)archive|zip|tar|bundle|backup`)
	pathPlace    = lazyregexp.New(`(?i)file|path|source|src|input|data|content|from`)
	// targetPlace is the name of one that says where the contents go.
	targetPlace = lazyregexp.New(`(?i)dest|target|output|out_|^out|^to|into|dir|folder`)
	inDigits    = lazyregexp.New(`(?i)base.?64`)
)

// relativeTarget is a directory for contents, in the directory in which a server works.
const relativeTarget = "unpacked"

// archiveInputs hand a tool that says that it takes archives those of which a member leads out of
// the directory into which they are unpacked. Where contents go is as it was in every other call, and
// else a directory below the working directory.
func (d *driver) archiveInputs(t *target, base json.RawMessage, places []oracle.Place) []probeInput {
	said := t.words()
	if !unpacks.MatchString(strings.ReplaceAll(said, "_", " ")) {
		return nil
	}
	place, ok := archiveAt(places)
	if !ok {
		return nil
	}
	elsewhere := base
	for _, p := range places {
		if p.At == place.At || !targetPlace.MatchString(p.Name) {
			continue
		}
		if args, ok := oracle.Put(elsewhere, p.At, relativeTarget); ok {
			elsewhere = args
		}
	}
	var out []probeInput
	for i := range d.cfg.World.Archives {
		in := d.cfg.World.Archives[i].Archived(inDigits.MatchString(said))
		in.At = place.At
		for _, with := range []json.RawMessage{elsewhere, base} {
			if args, ok := oracle.Put(with, place.At, in.Text); ok {
				out = append(out, probeInput{args: args, in: []session.Injection{in.Injection}})
			}
			if string(elsewhere) == string(base) {
				break
			}
		}
	}
	return out
}

// archiveAt is the place that most likely takes the archive.
func archiveAt(places []oracle.Place) (oracle.Place, bool) {
	for _, names := range []*lazyregexp.Regexp{archivePlace, pathPlace} {
		for _, p := range places {
			if names.MatchString(p.Name) && (names == archivePlace || !targetPlace.MatchString(p.Name)) {
				return p, true
			}
		}
	}
	return oracle.Place{}, false
}
