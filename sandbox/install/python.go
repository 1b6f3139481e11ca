package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Python is the interpreter that a sandbox has.
type Python struct {
	// Executable is its path inside, without links and not that of a virtual environment.
	Executable string `json:"executable"`
	// Version is "3.11.2".
	Version string `json:"version"`
	// Machine is "x86_64" or its like; Libc is "glibc", with its version in Glibc, or "".
	Machine string `json:"machine"`
	Libc    string `json:"libc"`
	Glibc   string `json:"glibc"`
}

// PythonQuery is a program for an interpreter that prints a Python, as DecodePython reads it.
const PythonQuery = `import json, os, platform, sys
libc, version = platform.libc_ver()
print(json.dumps({"executable": os.path.realpath(getattr(sys, "_base_executable", sys.executable)), "version": "%d.%d.%d" % sys.version_info[:3],
 "machine": platform.machine(), "libc": libc, "glibc": version}))`

// DecodePython reads what PythonQuery printed.
func DecodePython(out string) (*Python, error) {
	var p Python
	if err := json.Unmarshal([]byte(strings.TrimSpace(out)), &p); err != nil {
		return nil, fmt.Errorf("ask the sandbox's Python: %w", err)
	}
	major, rest, _ := strings.Cut(p.Version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if _, err := strconv.Atoi(minor); err != nil || major != "3" || !filepath.IsAbs(p.Executable) || strings.ContainsAny(p.Executable, "\n\x00") {
		return nil, fmt.Errorf("the sandbox has no Python 3: %q", p.Version)
	}
	return &p, nil
}

// minor is "3.11".
func (p *Python) minor() string {
	major, rest, _ := strings.Cut(p.Version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return major + "." + minor
}

// packages is where an environment of this interpreter keeps what is installed.
func (p *Python) packages() string { return filepath.Join("lib", "python"+p.minor(), "site-packages") }

// platformFlags name to pip what this interpreter can load, where pip itself runs
// under another one.
func (p *Python) platformFlags() []string {
	tag := "cp" + strings.ReplaceAll(p.minor(), ".", "")
	flags := []string{"--python-version", p.minor(), "--implementation", "cp", "--abi", tag, "--abi", "abi3", "--abi", "none"}
	if p.Libc != "glibc" {
		return append(flags, "--platform", "musllinux_1_1_"+p.Machine, "--platform", "musllinux_1_2_"+p.Machine)
	}
	_, minor, _ := strings.Cut(p.Glibc, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		n = 17
	}
	for v := min(n, 60); v >= 5; v-- {
		flags = append(flags, "--platform", fmt.Sprintf("manylinux_2_%d_%s", v, p.Machine))
	}
	for _, old := range []string{"manylinux2014", "manylinux2010", "manylinux1", "linux"} {
		flags = append(flags, "--platform", old+"_"+p.Machine)
	}
	return flags
}

// config is the pyvenv.cfg by which an interpreter knows that it is in an environment.
func (p *Python) config() string {
	return fmt.Sprintf("home = %s\ninclude-system-site-packages = false\nversion = %s\n", filepath.Dir(p.Executable), p.Version)
}
