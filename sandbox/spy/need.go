package spy

// NeedError says what the machine or the user lacks.
type NeedError struct {
	// What is missing, and Hint what can be done about it.
	What, Hint string
	err        error
}

// Error implements error.
func (e *NeedError) Error() string {
	if e.err != nil {
		return e.What + ": " + e.err.Error()
	}
	return e.What
}

// Unwrap returns the kernel's own error, nil for none.
func (e *NeedError) Unwrap() error { return e.err }
