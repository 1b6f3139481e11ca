package session

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
)

// Integrity is what a wire log's own last line says of its bytes.
type Integrity string

// The kinds of Integrity.
const (
	// IntegrityNone is a log whose last line names no hash: it is still written, was cut off,
	// or another tool wrote it.
	IntegrityNone Integrity = "none"
	// IntegrityKept is a log whose bytes have the hash that it names.
	IntegrityKept Integrity = "kept"
	// IntegrityChanged is a log whose bytes have another hash.
	IntegrityChanged Integrity = "changed"
)

// maxTrailer bounds a line of metrics, in bytes.
const maxTrailer = 4096

var trailer = []byte(`{"type": "glassport.metrics"`)

// CheckWireLog compares a wire log with the hash in its last line. Who can write the file can
// write another hash too: it shows damage, and a signature shows a forger.
func CheckWireLog(r io.Reader) (Integrity, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	sum := sha256.New()
	got := IntegrityNone
	for start := true; ; {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 {
			if start {
				got = IntegrityNone
			}
			if start && err == nil && len(part) <= maxTrailer && bytes.HasPrefix(part, trailer) {
				got = claimed(part, sum.Sum(nil))
			}
			_, _ = sum.Write(part) // a hash never fails
			start = err == nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return got, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return IntegrityNone, err
		}
	}
}

// claimed compares the hash that a line of metrics names with that of what stands before it.
func claimed(line, sum []byte) Integrity {
	var m struct {
		Sum string `json:"log_sha256"`
	}
	switch err := json.Unmarshal(line, &m); {
	case err != nil || m.Sum == "":
		return IntegrityNone
	case m.Sum != hex.EncodeToString(sum):
		return IntegrityChanged
	}
	return IntegrityKept
}
