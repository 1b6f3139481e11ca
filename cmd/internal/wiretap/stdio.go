package wiretap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/tap"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// maxRecord is the longest line that is recorded whole.
	maxRecord = 8 << 20
	// memoryAim keeps the collector at work before a flood has filled the memory.
	memoryAim = 40 << 20
	// linger is how long what a server left behind may go on writing once the
	// server itself has ended.
	linger = 5 * time.Second
)

// The exit statuses of a command that could not be started, as of env and sh.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// LogOptions say what is kept of a session.
type LogOptions struct {
	// Dir is session.WireDir if it is empty.
	Dir string
	// Rotate is the size in bytes at which a log goes on in a next file.
	Rotate int64
	// Say gets one line for each thing that went wrong beside the session.
	Say func(line string)
	// Place asks for a line with the log's name, too.
	Place bool
	// Header begins each log.
	Header session.WireHeader
}

// open opens a log for what ran; a fault is said, and drops records only.
func (o LogOptions) open(what string) *session.WireLog {
	dir := o.Dir
	if dir == "" {
		var err error
		if dir, err = session.WireDir(); err != nil {
			o.Say(err.Error() + "; nothing is recorded until --log-dir names a directory")
		}
	}
	log, err := session.NewWireLog(session.WireOptions{Dir: dir, What: what, Rotate: o.Rotate, Header: o.Header, Trouble: func(err error) {
		o.Say(err.Error() + "; records are dropped, the session goes on")
	}})
	if err != nil && dir != "" {
		o.Say(err.Error() + "; records are dropped, the session goes on")
	}
	if name := log.Name(); err == nil && name != "" && o.Place {
		o.Say("session log: " + name)
	}
	return log
}

// shut closes a log and says what is missing in it.
func (o LogOptions) shut(log *session.WireLog, unrecorded int64) {
	err := log.Close()
	switch {
	case unrecorded > 0:
		o.Say(fmt.Sprintf("%d records dropped, %d bytes of the session among them unread", log.Dropped(), unrecorded))
	case err != nil:
		o.Say(fmt.Sprintf("%d records dropped: %v", log.Dropped(), err))
	}
}

// Stdio runs a command between this process's own stdin and stdout, with a log
// beside it, and returns how it ended. Its stderr is this process's own.
func Stdio(command []string, o LogOptions) Exit {
	tap.Dedicate(memoryAim)
	server, side, err := launch(command)
	if err != nil {
		return notStarted(command[0], err, o.Say)
	}
	log := o.open(command[0])
	began := time.Now().Add(-tap.Now())
	rec := &recorder{log: log}
	rec.Tap = tap.New(func(d session.Dir, stamp time.Duration, raw []byte) {
		log.Frame(session.WireFrame{Dir: d, At: began.Add(stamp), Raw: raw})
	}, maxRecord)
	client := tap.Stdio()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := forward(server.Process)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Wait() // ProcessState has it all
		// The client may keep its end open for as long as we live.
		_ = client.CloseRead()
		time.AfterFunc(linger, cancel)
	}()
	stats, err := tap.Relay(ctx, client, side, rec)
	<-ended
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		o.Say("relay: " + err.Error())
	}
	o.shut(log, stats.Unrecorded)
	return exitOf(server.ProcessState)
}

// recorder counts a gap as a dropped record beside telling the Tap.
type recorder struct {
	*tap.Tap
	log *session.WireLog
}

// Lost implements tap.Recorder.
func (r *recorder) Lost(d session.Dir, stamp time.Duration, n int64) {
	r.log.Drop(1)
	r.Tap.Lost(d, stamp, n)
}

// launch starts a command and returns its side of the relay.
func launch(command []string) (*exec.Cmd, *tap.Side, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, inR.Close(), inW.Close())
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, os.Stderr
	err = cmd.Start()
	for _, f := range []io.Closer{inR, outW} {
		f.Close()
	}
	if err != nil {
		return nil, nil, errors.Join(err, inW.Close(), outR.Close())
	}
	return cmd, tap.Join(outR, inW), nil
}

// notStarted says why a command did not start.
func notStarted(name string, err error, say func(string)) Exit {
	say("error: " + err.Error())
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		say("hint: give the server's command after --, as its client would start it: " + name + " is not there")
		return Exit{Code: exitNotFound}
	}
	if info, at := os.Stat(name); at == nil && info.IsDir() {
		say("hint: give the server's command after --, as its client would start it: " + name + " is a directory")
	} else {
		say("hint: make " + name + " executable")
	}
	return Exit{Code: exitNotExecutable}
}
