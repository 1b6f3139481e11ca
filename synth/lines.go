package synth

import (
	"maps"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/synth/oracle"
)

const (
	// maxLineCalls bounds the calls with a line break in a text, and lineTime their time.
	maxLineCalls = 24
	lineTime     = 6 * time.Second
	// longestField is the longest text that stands for a field of one line.
	longestField = 120
)

// lineFormats are words for files that have one field, or one record, in each line.
var lineFormats = []string{"mail", "email", "eml", "header", "env", "environment variable", "config", "configuration", "setting", "ini", "yaml", "frontmatter", "front matter", "ics", "vcard", "dotenv", "crontab", "properties", "journal", "log", "ledger", "audit", "register", "tsv"}

// lineBreaks gives each tool that may store something its short texts with a line break and another field after it
// (CWE-93): where the file that it writes has one field in each line, a field is there that nobody declared.
func (d *driver) lineBreaks() {
	if len(d.spokenOf(lineFormats)) == 0 {
		return
	}
	s := d.bounded(maxLineCalls, lineTime)
	for _, w := range d.writers() {
		args, _ := membersOf(w.base)
		chosen := map[string]bool{}
		if gen := d.generator(w); gen != nil {
			for _, c := range gen.Choices() {
				chosen[c.Name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(args)) {
			text, isText := args[name].(string)
			if !isText || chosen[name] || len(text) > longestField || !plainWord.MatchString(text) && !sentence.MatchString(text) {
				continue
			}
			in := oracle.Line(oracle.Token(d.seed(w), w.name+"\x00"+name, 0))
			s.callWith(w, args, name, in.In(text), in.Injection)
		}
	}
}
