package spy

import (
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// The formats of what is printed.
const (
	Console = "console"
	JSONL   = "jsonl"
)

// Whether secrets are replaced: everywhere, nowhere, or on a terminal alone.
const (
	RedactAuto   = "auto"
	RedactAlways = "always"
	RedactNever  = "never"
)

// Options say what is watched, and what becomes of it.
type Options struct {
	// PIDs, Comms, Containers and Users are what one side of a conversation must be; an empty
	// list is anything. A process of PIDs counts with all that it starts.
	PIDs                     []int
	Comms, Containers, Users []string
	// Exclude are commands that neither side may be.
	Exclude []string
	// Duration ends the watch, 0 for never.
	Duration time.Duration
	// Dir gets a session log for each conversation, "" for none. Rotate is the size at which
	// a log goes on in a next file.
	Dir    string
	Rotate int64
	// Format is Console or JSONL, Redact one of the words for it.
	Format, Redact string
	// Detect judges each conversation while it goes on.
	Detect bool
	// Effects tells what the servers do beside talking, and judges it.
	Effects bool
	// AnyAddress follows HTTP with other machines, too.
	AnyAddress bool
	// TLS reads HTTP over TLS, too: of this machine's programs, before it is encrypted.
	TLS bool
	// Ring is the size of the kernel's buffer in bytes, 0 for the default.
	Ring int
	// UID and GID are the user to become once the programs are attached; 0 keeps the user.
	UID, GID int
	// KeepRoot keeps all privileges.
	KeepRoot bool
	// Out gets what is printed, Terminal says that it is one, Color that it may have colours.
	Out             io.Writer
	Terminal, Color bool
	// Say gets a line for what goes wrong, and for what the watch came to; SayTerminal says that it
	// shows them on a terminal.
	Say         func(line string)
	SayTerminal bool
	// Ready is called when the programs watch. It may be nil.
	Ready func()
}

// wanted reports whether the filters let a conversation through.
func (o *Options) wanted(a, b *reassembly.Process) bool {
	for _, name := range o.Exclude {
		if runs(a, name) || runs(b, name) {
			return false
		}
	}
	either := func(list []string, is func(*reassembly.Process, string) bool) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(v string) bool { return is(a, v) || is(b, v) })
	}
	return either(o.Comms, runs) && either(o.Containers, contained) && either(o.Users, owned)
}

// runs reports whether a process is a command: by the name that the kernel has, or the
// file name of the program or of the script that an interpreter runs.
func runs(p *reassembly.Process, name string) bool {
	if p.Comm == name {
		return true
	}
	return slices.ContainsFunc(p.Command[:min(2, len(p.Command))], func(w string) bool { return filepath.Base(w) == name })
}

func contained(p *reassembly.Process, id string) bool {
	return p.Container != "" && (strings.HasPrefix(p.Container, id) || strings.HasPrefix(id, p.Container))
}

func owned(p *reassembly.Process, name string) bool {
	return p.PID != 0 && (p.User == name || strconv.Itoa(p.UID) == name)
}
