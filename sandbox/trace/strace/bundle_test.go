package strace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

func TestBundleErrors(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, err := strace.Bundle(""); err == nil || !strings.Contains(err.Error(), "apt install strace") {
		t.Errorf("no remedy: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := strace.Bundle(text); err == nil || !strings.Contains(err.Error(), "is not a program") {
		t.Errorf("a script: %v", err)
	}
	if _, _, err := strace.Bundle(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
