package wiretap

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// lockTimeout bounds how long a server is asked what it declares.
const lockTimeout = 60 * time.Second

// LockLog makes a lock of what a server has declared in a session's log.
func LockLog(name string) (*wire.Lock, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	surface, err := gate.Declared(session.ReadFrames(f, nil))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return wire.LockOf(surface)
}

// LockCommand starts a command as a client would and makes a lock of what it declares.
func LockCommand(ctx context.Context, command []string) (lock *wire.Lock, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	server, side, err := launch(command)
	if err != nil {
		return nil, err
	}
	c := client.New(func(line []byte) error {
		_, err := side.Write(append(line, '\n'))
		return err
	}, client.Options{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := wire.NewSplitter(0)
		buf := make([]byte, 64<<10)
		for {
			n, err := side.Read(buf)
			lines.Feed(buf[:n], func(l wire.Line) {
				if !l.Oversize {
					c.Feed(l.Raw)
				}
			})
			if err != nil {
				c.Closed(io.EOF)
				return
			}
		}
	}()
	defer func() {
		_ = side.CloseWrite() // it may have ended
		timer := time.AfterFunc(linger, func() { _ = server.Process.Kill() })
		_ = server.Wait() // what it declared is known
		timer.Stop()
		_ = side.Close() // as above
		<-read
	}()
	surface, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.List(ctx, surface); err != nil {
		return nil, err
	}
	return wire.LockOf(surface)
}
