package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each command has a manual page with its flags.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, errw bytes.Buffer
	if status := Main([]string{"man", "--out", dir}, strings.NewReader(""), &out, &errw); status != 0 {
		t.Fatalf("%d %s", status, errw.String())
	}
	e := &env{in: strings.NewReader(""), out: &out, err: &errw}
	pages := 0
	for _, cmd := range e.root().Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		pages++
		data, err := os.ReadFile(filepath.Join(dir, "coalmine-"+cmd.Name()+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, section := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH EXIT STATUS\n"} {
			if !bytes.Contains(data, []byte(section)) {
				t.Errorf("%s has no %q", cmd.Name(), section)
			}
		}
	}
	probe, err := os.ReadFile(filepath.Join(dir, "coalmine-probe.1"))
	if err != nil || !bytes.Contains(probe, []byte("\\fB\\-\\-cwd\\fP \\fIDIR\\fP\n")) || pages < 20 {
		t.Errorf("%d pages, %v: %.300s", pages, err, probe)
	}
	// groff, where it is there, complains of nothing.
	if groff, err := exec.LookPath("groff"); err == nil {
		got, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", filepath.Join(dir, "coalmine-probe.1"), filepath.Join(dir, "coalmine.1")).CombinedOutput()
		if err != nil || len(got) > 0 {
			t.Errorf("%v %s", err, got)
		}
	}
}

func TestRoff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"--a": `\-\-a`, ".x\n'y": "\\&.x\n\\&'y", `a\b`: `a\eb`,
	} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
