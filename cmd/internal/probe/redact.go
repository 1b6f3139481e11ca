package probe

import (
	"errors"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// cleanError is an error whose text holds no passed value. What it wraps may.
type cleanError struct {
	text string
	err  error
}

// Error implements error.
func (e *cleanError) Error() string { return e.text }

// Unwrap implements errors.Unwrap.
func (e *cleanError) Unwrap() error { return e.err }

// withoutValues is an error without passed values in its text and its hint: it may
// quote what a server printed.
func withoutValues(r *canaries.Redactor, err error) error {
	if err == nil || r == nil {
		return err
	}
	clean := &cleanError{r.Redact(err.Error()), err}
	var usage *sandbox.UsageError
	if errors.As(err, &usage) {
		return &sandbox.UsageError{Err: clean, Hint: r.Redact(usage.Hint)}
	}
	return clean
}
