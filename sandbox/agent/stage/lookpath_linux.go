package stage

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// LookPath finds a command as execvp would, in the PATH of the target's own
// environment and with the target's own rights.
func LookPath(name string, env []string) (string, error) {
	if name == "" {
		return "", &Refusal{Reason: "command not found: its name is empty", Hint: "give a program's name or path"}
	}
	if strings.Contains(name, "/") {
		return name, executable(name, name)
	}
	var list string
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = v
		}
	}
	var denied error
	for dir := range strings.SplitSeq(list, ":") {
		if list == "" {
			break
		}
		file := path.Join(dir, name)
		if dir == "" || dir == "." {
			file = "./" + name
		}
		err := executable(file, name)
		if err == nil {
			return file, nil
		}
		var r *Refusal
		if errors.As(err, &r) && r.denied && denied == nil {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &Refusal{
		Reason: "command not found: " + name,
		Hint:   "the sandbox looks for it in PATH=" + list,
	}
}

// executable explains why a file cannot be executed.
func executable(file, name string) error {
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		if errors.Is(err, unix.EACCES) {
			return &Refusal{denied: true, Reason: "permission denied: " + name, Hint: file + " is in a directory that the sandbox's user cannot enter"}
		}
		return &Refusal{Reason: "command not found: " + name, Hint: fmt.Sprintf("in the sandbox, %s: %v", file, err)}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return &Refusal{denied: true, Reason: "permission denied: " + name, Hint: file + " is not a regular file"}
	}
	if err := unix.Access(file, unix.X_OK); err != nil {
		return &Refusal{denied: true, Reason: "permission denied: " + name, Hint: fmt.Sprintf("%s is not executable for the sandbox's user (chmod +x)", file)}
	}
	return nil
}

// execError explains why the kernel did not execute a file that looked fine.
func execError(file, name string, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		return &Refusal{Reason: "command not found: " + name, Hint: "the interpreter or loader that " + file + " names is missing in the sandbox"}
	case errors.Is(err, unix.ENOEXEC):
		return &Refusal{Reason: "permission denied: " + name, Hint: file + " is neither a program for this machine nor a script with a #! line"}
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return &Refusal{Reason: "permission denied: " + name, Hint: fmt.Sprintf("%s: %v (is its file system mounted noexec, or its interpreter not executable?)", file, err)}
	}
	return &Refusal{Reason: fmt.Sprintf("execute %s: %v", name, err)}
}
