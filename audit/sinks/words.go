package sinks

import (
	"fmt"
	"slices"
	"strings"
)

// ReadTable reads an embedded table: lines "language what: word…", and comments that
// begin with #. add takes each line's words. An error names the line.
func ReadTable(text string, languages []string, add func(language, what string, words []string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, words, _ := strings.Cut(line, ": ")
		language, what, ok := strings.Cut(head, " ")
		if !ok || !slices.Contains(languages, language) {
			return fmt.Errorf("line %d of the table: %q begins with no language", n, head)
		}
		if err := add(language, what, strings.Fields(words)); err != nil {
			return fmt.Errorf("line %d of the table: %w", n, err)
		}
	}
	return nil
}
