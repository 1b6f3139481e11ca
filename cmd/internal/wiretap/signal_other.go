//go:build !unix

package wiretap

import (
	"os"
	"os/signal"
)

// Exit is how a server ended: with Code.
type Exit struct{ Code int }

func exitOf(s *os.ProcessState) Exit { return Exit{Code: s.ExitCode()} }

// Leave returns the status with which this process ends.
func (e Exit) Leave() int { return e.Code }

// forward keeps an interrupt from ending this process before the server, which
// the console interrupts too.
func forward(*os.Process) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	return func() { signal.Stop(signals) }
}
