package coverage

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Recording is what of a server's files ran, by the word of the recorders in its
// processes. The zero value holds nothing.
//
// A recording is a text of lines with tabs between their fields. Numbers of files hold for
// one text.
//
//	F n path    n means the file at path, from the root of the source
//	E n i name  a function of Python was entered that begins in line i
//	L n i       line i of Python ran
//	R n i j     the bytes from i to before j of JavaScript ran
//	X n         what ran in the file is unknown: it is translated when it is loaded
type Recording struct {
	files map[string]*ran
}

// ran is what ran of one file.
type ran struct {
	entered map[entry]bool
	lines   map[int]bool
	// ranges do not overlap and are sorted, once tidied.
	ranges [][2]int
	tidied bool
	unfit  bool
}

// entry is a function that was entered.
type entry struct {
	line int
	name string
}

// Bounds of a recording: its files, and what is kept of one.
const (
	maxRecorded = 10_000
	maxRan      = 200_000
)

// Add adds one text. Lines that mean nothing are passed over.
func (r *Recording) Add(data []byte) {
	if r.files == nil {
		r.files = map[string]*ran{}
	}
	numbers := map[string]*ran{}
	end := bytes.LastIndexByte(data, '\n') + 1 // what follows was cut off
	for line := range strings.Lines(string(data[:end])) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 2 {
			continue
		}
		if fields[0] == "F" {
			if len(fields) == 3 && fields[2] != "" && (r.files[fields[2]] != nil || len(r.files) < maxRecorded) {
				if r.files[fields[2]] == nil {
					r.files[fields[2]] = &ran{entered: map[entry]bool{}, lines: map[int]bool{}}
				}
				numbers[fields[1]] = r.files[fields[2]]
			}
			continue
		}
		if f := numbers[fields[1]]; f != nil {
			f.add(fields)
		}
	}
}

// Empty reports whether nothing was recorded.
func (r *Recording) Empty() bool { return len(r.files) == 0 }

// Size is how much ran: functions and lines of Python, and bytes of JavaScript. It never falls
// as texts are added.
func (r *Recording) Size() int {
	n := 0
	for _, f := range r.files {
		if !f.tidied {
			f.tidy()
		}
		n += len(f.entered) + len(f.lines)
		for _, span := range f.ranges {
			n += span[1] - span[0]
		}
	}
	return n
}

func (f *ran) add(fields []string) {
	if fields[0] == "X" {
		f.unfit = true
		return
	}
	if len(fields) < 3 || len(f.entered)+len(f.lines)+len(f.ranges) >= maxRan {
		return
	}
	i, err := strconv.Atoi(fields[2])
	if err != nil || i < 0 {
		return
	}
	switch {
	case fields[0] == "L":
		f.lines[i] = true
	case fields[0] == "E" && len(fields) == 4:
		f.entered[entry{i, fields[3]}] = true
	case fields[0] == "R" && len(fields) == 4:
		if j, err := strconv.Atoi(fields[3]); err == nil && j > i {
			f.ranges, f.tidied = append(f.ranges, [2]int{i, j}), false
		}
	}
}

// covers reports whether a byte of JavaScript ran.
func (f *ran) covers(offset int) bool {
	if !f.tidied {
		f.tidy()
	}
	i, found := slices.BinarySearchFunc(f.ranges, offset, func(r [2]int, at int) int { return cmp.Compare(r[0], at) })
	return found || i > 0 && offset < f.ranges[i-1][1]
}

// tidy sorts the ranges and joins those that overlap.
func (f *ran) tidy() {
	slices.SortFunc(f.ranges, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	out := f.ranges[:0]
	for _, r := range f.ranges {
		if n := len(out); n > 0 && r[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	f.ranges, f.tidied = out, true
}
