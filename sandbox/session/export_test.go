package session

// SetLimit bounds the two files together, DefaultLimit otherwise.
func (l *Log) SetLimit(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = n
}
