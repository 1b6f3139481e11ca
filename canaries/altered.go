package canaries

import (
	"io"
	"slices"
	"strings"
)

// Altered is the same set with other values of the same lengths and shapes, and how a
// text that held the old ones reads with the new. Names, files, times and all that is no
// secret stay, so that what a server then does otherwise depends on the values. A value
// that a file holds encoded stays as it was there.
func (s *Set) Altered(rand io.Reader) (*Set, *strings.Replacer, error) {
	m := newMint(rand)
	list := slices.Clone(s.list)
	var pairs []string
	known := map[string]string{}
	// A longer value may hold a shorter one: it comes first.
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(list[b].Value) - len(list[a].Value) })
	for _, i := range order {
		old := list[i].Value
		if known[old] == "" {
			known[old] = strings.NewReplacer(pairs...).Replace(old)
			if known[old] == old {
				known[old] = m.alter(old)
			}
			pairs = append(pairs, old, known[old])
		}
		list[i].Value = known[old]
	}
	if m.err != nil {
		return nil, nil, m.err
	}
	change := strings.NewReplacer(pairs...)
	out := FromCanaries(list)
	out.user, out.home, out.host, out.workspaces = s.user, s.home, s.host, s.workspaces
	for _, f := range s.files {
		f.Data = []byte(change.Replace(string(f.Data)))
		out.files = append(out.files, f)
	}
	for _, kv := range s.env {
		out.env = append(out.env, change.Replace(kv))
	}
	return out, change, nil
}

// alter draws another character of the same class for each of a value, but for what every
// value of its shape begins with and the lines that frame a key.
func (m *mint) alter(value string) string {
	from := len(publicPart.FindString(value))
	lines := strings.SplitAfter(value[from:], "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "-----") {
			continue
		}
		b := []byte(line)
		for k, c := range b {
			for _, class := range []string{digits, lower, upper} {
				if strings.IndexByte(class, c) >= 0 {
					b[k] = class[m.intn(len(class))]
				}
			}
		}
		lines[i] = string(b)
	}
	return value[:from] + strings.Join(lines, "")
}
