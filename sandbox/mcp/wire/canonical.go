package wire

import (
	"bytes"
	"encoding/json"
)

// SameJSON compares two values by what they mean: order of members and spacing do not count.
func SameJSON(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(Canonical(a), Canonical(b))
}

// Canonical writes a value with its keys sorted and without spaces; numbers
// stay as they were written. What is no JSON stays as it is.
func Canonical(v json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return v
	}
	out, err := json.Marshal(x)
	if err != nil {
		return v
	}
	return out
}
