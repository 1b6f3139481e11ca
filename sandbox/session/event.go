package session

import (
	"encoding/json"
	"time"
)

// Event is what the agent tells the host of a run, or what the host notes
// beside it (EventPort).
type Event struct {
	// Stamp is the moment on the agent's monotonic clock, the run's only clock.
	Stamp time.Duration
	Body  Body
}

// Body is what an Event says: a value of exactly one of the types Event… below.
type Body interface {
	// line sets the members of the event's JSON form.
	line(*eventLine)
}

// EventReady says that the sandbox is built and the target's process waits, not
// yet the target's program.
type EventReady struct {
	// Task is the task that will become the target, as the tracer numbers it.
	Task int
	// Realtime is CLOCK_REALTIME minus the run's clock.
	Realtime time.Duration
}

// EventStarted says that the target's exec succeeded.
type EventStarted struct{ Task int }

// EventStdin says how far the target's input got.
type EventStdin struct {
	// Delivered are the bytes in all that the target has or is about to have.
	Delivered int64
}

// EventAccess says that a watched path was touched.
type EventAccess struct {
	Path string
	// Mask is "open", "read" or "open|read".
	Mask string
}

// EventRefused says that the target made a call that the sandbox refuses.
type EventRefused struct {
	// Task is the calling task, as the tracer numbers it.
	Task int
	// Call is the kernel's name of the call, or the architecture's for calls of
	// another one; Args are the arguments for which it was refused, "" for none.
	Call, Args string
	// Err is the error's name that it returned.
	Err string
	// Count is how many alike calls this tells of: the first ones come one by one.
	Count int64
}

// EventEOF says that the target closed a stream: "stdin", "stdout" or "stderr".
type EventEOF struct{ Stream string }

// EventFound says that a file that the target wrote holds a decoy.
type EventFound struct {
	Path string
	// Canary is the decoy's id, Encoding and Offset are those of canaries.Hit.
	Canary   string
	Encoding string
	Offset   int64
}

// EventExit says that the target ended, by its exit status or by a signal's name.
type EventExit struct {
	// Code is the exit status; of a signal it is 128 and the signal's number.
	Code   int
	Signal string
}

// EventTracerDied says that nothing after it was watched; the target was killed.
type EventTracerDied struct{ Reason string }

// EventLoss says that something was not seen.
type EventLoss struct {
	// Code is the gap that it is, GapRecordsLost where it is "". One of GapTLSLost is a gap only where what
	// is missing can matter, and N is 0 where no piece was lost but a library could not be watched.
	Code Code
	// N is how many things were not seen, 0 where that is not known.
	N      int64
	Reason string
}

// EventLimit says which limit the target reached, and was ended for.
type EventLimit struct{ Reason string }

// EventError says why the run could not start, and what the user can do.
type EventError struct{ Reason, Hint string }

// EventNote says something about the sandbox that hides nothing of the target,
// such as an image's ld.so.preload being moved aside.
type EventNote struct{ Path, Reason string }

// EventFull says that the target's file system at Path had no room left. The
// target goes on.
type EventFull struct{ Path string }

// EventOutlived says how many tasks lived on after stdin's end and its grace, and
// were signalled.
type EventOutlived struct{ Tasks int64 }

// EventSynced answers the sync of this number.
type EventSynced struct{ N int64 }

// EventDial asked the host for a connection to an allowed host. Logs of earlier
// versions hold it; nothing sends it.
type EventDial struct {
	// ID numbers the connection.
	ID int64
	// Network is "tcp" or "udp".
	Network string
	Host    string
	Port    int
}

// EventPorts answers the question of this number: the ports of TCP, or of UDP, on which
// the target listens, in rising order.
type EventPorts struct {
	N     int64
	Ports []int
}

// EventFile holds a part of a file that the host asked for by the collect of this
// number: the parts of a file follow one another. Or it says that a directory stands there.
type EventFile struct {
	N    int64
	Path string
	Data []byte
	Dir  bool
	// Mode are the permissions, 0 where they are not known.
	Mode uint32
}

// EventChanged says that what stands at a path is not what stood there before the
// target started. It is found by looking, after the target's last process has ended.
type EventChanged struct {
	Path   string
	Change Change
	// Before and After are empty where nothing stood.
	Before, After FileState
	// At is when the file was changed last, as its file system has it, on the run's
	// clock. It is 0 where that is not known: of what is gone, and of what was written
	// through a mapping of memory, which need not change a file's times.
	At time.Duration
}

// Change is how a file differs from what it was. Where several things are true of it, the
// first of them is told.
type Change string

// The changes.
const (
	ChangeCreated Change = "created"
	ChangeDeleted Change = "deleted"
	// ChangeKind says that a file is a directory now, or the like.
	ChangeKind Change = "kind"
	// ChangeLink says that a symbolic link leads elsewhere.
	ChangeLink Change = "link"
	// ChangeReplaced says that another file stands there now, with the same contents or not.
	ChangeReplaced Change = "replaced"
	// ChangeTruncated says that the contents are others and shorter, ChangeWritten that they are others.
	ChangeTruncated Change = "truncated"
	ChangeWritten   Change = "written"
	ChangeMode      Change = "mode"
	// ChangeTouched says that the file's times alone changed: it may have been written, and restored.
	ChangeTouched Change = "touched"
)

// FileState is what stands at a path. Whose it is does not count.
type FileState struct {
	// Kind is "file", "directory", "link", "fifo", "socket" or "device".
	Kind string `json:"kind,omitempty"`
	// Mode are the permissions, set-id and sticky bits, 0 for a link.
	Mode uint32 `json:"mode,omitempty"`
	// Size is a file's length in bytes.
	Size int64 `json:"size,omitempty"`
	// SHA256 is the digest of a file's contents in hexadecimal, "" where it was not
	// read: then its size and its times stand for them.
	SHA256 string `json:"sha256,omitempty"`
	// Link is the text of a symbolic link.
	Link string `json:"link,omitempty"`
}

// EventText holds the texts of a file that the target made or changed: as it stood before the target started,
// "" where nothing stood or that was no short text, and as it stands now. It comes before EventCompared, for
// some files.
type EventText struct {
	Path     string
	Was, Now string
}

// MaxText bounds each of the texts of an EventText, in bytes: of a longer file none is told.
const MaxText = maxEventText

// EventCompared comes after each EventChanged: everything that stood in the target's
// places before it started was looked at again, except what an EventLoss names.
type EventCompared struct {
	// Files is how many things were looked at, Bytes how much of them was read.
	Files, Bytes int64
	// Reason says which bound kept some of them out, "" where none did.
	Reason string
}

// FileClock is how far a file's times may lie before the moment of the write by a tracer's
// record, which may be of the call's end: file systems take them from the last tick.
const FileClock = 30 * time.Millisecond

// EventLastWrite says when a file that was opened for writing was changed last, as its
// file system has it, on the run's clock.
type EventLastWrite struct {
	Path string
	At   time.Duration
}

// EventDone is the last event: every task has ended and all output is sent.
type EventDone struct{}

// EventPort is the host's own note: the server is spoken to over this port,
// which it has opened inside the sandbox.
type EventPort struct{ Port int }

// EventUnknown is an event of a type that this version does not know. Raw is the
// event as it came, Type included.
type EventUnknown struct {
	Type string
	Raw  json.RawMessage
}
