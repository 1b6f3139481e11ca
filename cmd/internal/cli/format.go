package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

// maxListed bounds the entries of a list that the terminal shows.
const maxListed = 50

// maxLines bounds the entries of a list that have a line each.
const maxLines = 10

// listed joins what a list holds.
func listed[T any](list []T, none string, show func(T) string) string {
	return joined(list, maxListed, ", ", none, show)
}

// lines is listed with a line for each entry.
func lines[T any](list []T, none string, show func(T) string) string {
	return joined(list, maxLines, "\n"+strings.Repeat(" ", 17), none, show)
}

func joined[T any](list []T, most int, between, none string, show func(T) string) string {
	if len(list) == 0 {
		return none
	}
	var out []string
	for _, v := range list[:min(len(list), most)] {
		out = append(out, show(v))
	}
	if len(list) > most {
		out = append(out, fmt.Sprintf("and %d more; --json has them", len(list)-most))
	}
	return strings.Join(out, between)
}

// counted are the names of a list, each once and with how often it is there.
func counted(list []string) []string {
	times := map[string]int{}
	for _, s := range list {
		times[s]++
	}
	var out []string
	for _, s := range slices.Sorted(maps.Keys(times)) {
		if n := times[s]; n > 1 {
			s += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, s)
	}
	return out
}

// plain is any text within a line, of a terminal or of a job's log.
func plain(s string) string { return report.Escape(s, 400) }
