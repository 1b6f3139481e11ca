package canaries

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FindDNS looks for canaries in names that were asked for, as a zone file has
// them and in the order in which they were asked for: in one name's labels, or over the names below one domain,
// with or without labels that count, and in whatever case. An Offset is the
// index of the name in which a canary starts.
func (s *Set) FindDNS(names []string) []Hit {
	c := collector{set: s, name: "labels"}
	for _, d := range domains(names) {
		picks := []func([]string) string{
			func(labels []string) string { return strings.Join(labels, "") },
			func(labels []string) string { return slices.MaxFunc(labels, byLength) },
			func(labels []string) string { return labels[0] },
			func(labels []string) string { return labels[len(labels)-1] },
		}
		for _, pick := range picks {
			c.join(d.pick(nil, pick), false)
		}
		for _, k := range d.counters() {
			for _, pick := range append(picks, k.without) {
				c.join(d.pick(k.order, pick), false)
			}
		}
	}
	return c.hits()
}

// FindURLs looks for canaries over the parameters and the paths of URLs that
// were asked for, in the order in which they were. An Offset is the index of
// the URL in which a canary starts.
func (s *Set) FindURLs(urls []string) []Hit {
	c := collector{set: s, name: "parameters"}
	byKey := map[string][]piece{}
	var all, last, paths []piece
	for i, u := range urls {
		u, _, _ = strings.Cut(u, "#")
		where, query, _ := strings.Cut(u, "?")
		if _, rest, ok := strings.Cut(where, "://"); ok {
			where = rest
		}
		_, where, _ = strings.Cut(where, "/")
		paths = append(paths, piece{strings.ReplaceAll(where, "/", ""), i})
		last = append(last, piece{where[strings.LastIndexByte(where, '/')+1:], i})
		for field := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
			key, value, _ := strings.Cut(field, "=")
			all = append(all, piece{value, i})
			byKey[key] = append(byKey[key], piece{value, i})
		}
	}
	c.join(all, false)
	c.join(last, true)
	c.join(paths, false)
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		c.join(byKey[key], true)
	}
	return c.hits()
}

// FindSplit looks for canaries over values that messages had at one place, in the order
// in which they came: as they are, without what all of them begin and end with, and over
// the longest word of each. An Offset is the index of the value in which a canary starts.
func (s *Set) FindSplit(values []string) []Hit {
	c := collector{set: s, name: "split"}
	if len(values) < 2 || len(slices.Compact(slices.Clone(values))) < 2 {
		return nil
	}
	c.join(number(values), true)
	c.join(number(withoutFrame(values)), true)
	c.join(number(each(values, longestWord)), true)
	return c.hits()
}

// withoutFrame takes away what all values begin and end with, but for digits of a word
// that goes on.
func withoutFrame(values []string) []string {
	first := values[0]
	before, after := len(first), len(first)
	for _, v := range values[1:] {
		n := 0
		for n < min(before, len(v)) && v[n] == first[n] {
			n++
		}
		before, n = n, 0
		for n < min(after, len(v)) && v[len(v)-1-n] == first[len(first)-1-n] {
			n++
		}
		after = n
	}
	for before > 0 && isDigit(first[before-1]) {
		before--
	}
	for after > 0 && isDigit(first[len(first)-after]) {
		after--
	}
	return each(values, func(v string) string { return v[min(before, len(v)):max(min(before, len(v)), len(v)-after)] })
}

// longestWord is the longest run of digits of base 64 in a text, the first of equals.
func longestWord(text string) string {
	best := ""
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= utf8.RuneSelf || !isDigit(byte(r)) }) {
		if len(word) > len(best) {
			best = word
		}
	}
	return best
}

// piece is a part of a text that was sent with the index-th message.
type piece struct {
	text  string
	index int
}

func number(list []string) []piece {
	out := make([]piece, len(list))
	for i, text := range list {
		out[i] = piece{text, i}
	}
	return out
}

func byLength(a, b string) int { return cmp.Compare(len(a), len(b)) }

// domain is the names below one domain, each once.
type domain struct {
	names [][]string // their labels, without those that all have at the end
	index []int
}

// domains are the names by their last two labels, in the order of the first.
func domains(names []string) []*domain {
	byEnd := map[string]*domain{}
	known := map[string]bool{}
	var out []*domain
	for i, name := range names {
		name = strings.Trim(name, ".")
		if low := strings.ToLower(name); name == "" || known[low] {
			continue // a second kind of record, or another try
		} else {
			known[low] = true
		}
		labels := labelsOf(name)
		end := strings.ToLower(strings.Join(labels[max(0, len(labels)-2):], "."))
		d := byEnd[end]
		if d == nil {
			d = &domain{}
			byEnd[end] = d
			out = append(out, d)
		}
		d.names, d.index = append(d.names, labels), append(d.index, i)
	}
	for _, d := range out {
		d.trim()
	}
	return out
}

// labelsOf are a name's labels, with the bytes that a zone file writes as \. and
// \059.
func labelsOf(name string) []string {
	if !strings.ContainsRune(name, '\\') {
		return strings.Split(name, ".")
	}
	var out []string
	var label []byte
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '.':
			out, label = append(out, string(label)), nil
			continue
		case c == '\\' && i+1 < len(name):
			i++
			c = name[i]
			if n, err := strconv.ParseUint(name[i:min(i+3, len(name))], 10, 8); err == nil && i+3 <= len(name) {
				c, i = byte(n), i+2
			}
		}
		label = append(label, c)
	}
	return append(out, string(label))
}

// trim takes the labels away that all names have at their end: two at least.
func (d *domain) trim() {
	shared := min(2, len(d.names[0]))
	if len(d.names) > 1 {
		first := d.names[0]
		shared = len(first)
		for _, labels := range d.names[1:] {
			n := 0
			for n < min(len(labels), shared) && strings.EqualFold(labels[len(labels)-1-n], first[len(first)-1-n]) {
				n++
			}
			shared = n
		}
	}
	for i, labels := range d.names {
		d.names[i] = labels[:max(0, len(labels)-shared)]
	}
}

// counter is a label that is a number in every name, or starts with one and a
// hyphen.
type counter struct {
	column int   // counts from the end where it is negative
	order  []int // the places of the names in the order of their numbers
}

// maxDigits is the length up to which a number may count.
const maxDigits = 6

// counters looks for them at the same place from the start, and from the end.
func (d *domain) counters() []counter {
	var out []counter
	for n := range 8 {
		for _, column := range []int{n, -1 - n} {
			if numbers, ok := d.numbers(column); ok {
				order := make([]int, len(numbers))
				for i := range order {
					order[i] = i
				}
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
				out = append(out, counter{column, order})
			}
		}
	}
	return out
}

// place is the index of a column in a name's labels.
func place(column int, labels []string) int {
	if column < 0 {
		return len(labels) + column
	}
	return column
}

// numbers are those of a column, if every name has one there.
func (d *domain) numbers(column int) ([]int, bool) {
	out := make([]int, 0, len(d.names))
	for _, labels := range d.names {
		at := place(column, labels)
		if at < 0 || at >= len(labels) {
			return nil, false
		}
		text, _, _ := strings.Cut(labels[at], "-")
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || len(text) > maxDigits {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// without joins a name's labels, but for the number.
func (k counter) without(labels []string) string {
	var out strings.Builder
	for i, label := range labels {
		if i == place(k.column, labels) {
			_, label, _ = strings.Cut(label, "-")
		}
		out.WriteString(label)
	}
	return out.String()
}

// pick is what a function makes of each name's labels, in the given order, or
// as the names came.
func (d *domain) pick(order []int, from func(labels []string) string) []piece {
	out := make([]piece, 0, len(d.names))
	for n := range d.names {
		i := n
		if order != nil {
			i = order[n]
		}
		p := piece{index: d.index[i]}
		if len(d.names[i]) > 0 {
			p.text = from(d.names[i])
		}
		out = append(out, p)
	}
	return out
}

// collector joins the hits of several searches.
type collector struct {
	set   *Set
	name  string
	list  []Hit
	known map[Hit]int // where in the list what is found stands
}

// join searches the joined pieces. Where each of them is of use alone, those
// of one message say nothing new.
func (c *collector) join(pieces []piece, several bool) {
	if len(pieces) == 0 || several && pieces[0].index == pieces[len(pieces)-1].index {
		return
	}
	sc := c.set.Scanner()
	starts := make([]int, len(pieces))
	size := 0
	for i, p := range pieces {
		starts[i] = size
		size += len(p.text)
		_, _ = sc.Write([]byte(p.text))
	}
	for _, h := range sc.Hits() {
		h.Encoding = inside(c.name, h.Encoding)
		// The last piece that starts no later: the ones before it may be empty.
		i := sort.SearchInts(starts, int(h.Offset)+1) - 1
		c.note(h, int64(pieces[i].index))
	}
}

func (c *collector) note(h Hit, at int64) {
	h.Offset = 0
	if c.known == nil {
		c.known = map[Hit]int{}
	}
	if i, ok := c.known[h]; ok {
		c.list[i].Offset = min(c.list[i].Offset, at)
		return
	}
	c.known[h] = len(c.list)
	h.Offset = at
	c.list = append(c.list, h)
}

func (c *collector) hits() []Hit {
	sortHits(c.list)
	return c.list
}
