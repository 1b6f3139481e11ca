package sandbox

import "sync"

// MaxTail bounds what a Tail keeps, in bytes.
const MaxTail = 64 << 10

// Tail keeps the end of what is written to it: what an agent says of itself.
// It may be used from many goroutines.
type Tail struct {
	mu sync.Mutex
	b  []byte
}

// Write implements io.Writer and never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - MaxTail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

// Note writes a line.
func (t *Tail) Note(line string) { _, _ = t.Write([]byte(line + "\n")) }

// String returns what is kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
