package canaries

import "bytes"

const (
	// leastPart is how long a part is at least of a text that is cut, in characters, leastParts how many there are, and
	// farthestPart how many bytes stand between two: quotation marks, a name, a number that counts.
	leastPart, leastParts, farthestPart = 8, 3, 24
)

// cut looks at texts that are cut in parts of one length, such as the entity tags of a header, of which the last is
// often shorter. Identifiers of one kind look the same, and give noise.
func (d *dive) cut(b []byte) {
	size, count, from, end := 0, 0, 0, 0
	var joined []byte
	flush := func() {
		if count >= leastParts {
			d.at(from, end)
			d.layer("parts", joined, false)
		}
		size, count, joined = 0, 0, joined[:0]
	}
	for start, to := range alnum.runs(b, leastPart) {
		n := to - start
		switch {
		case count > 0 && (start-end > farthestPart || bytes.IndexByte(b[end:start], '&') >= 0), n > maxTurned:
			flush() // what "&" parts are parameters, which are joined by their names
		case count >= leastParts-1 && n < size: // the last one
			joined, count, end = append(joined, b[start:to]...), count+1, to
			flush()
			continue
		case n != size:
			flush()
		}
		if n > maxTurned {
			continue
		}
		if count == 0 {
			size, from = n, start
		}
		joined, count, end = append(joined, b[start:to]...), count+1, to
	}
	flush()
}
