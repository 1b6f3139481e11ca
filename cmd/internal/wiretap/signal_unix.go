//go:build unix

package wiretap

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Exit is how a server ended: with Code, or by Signal if that is not nil.
type Exit struct {
	Code   int
	Signal os.Signal
}

// exitOf reads how a process ended.
func exitOf(s *os.ProcessState) Exit {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return Exit{Code: 128 + int(w.Signal()), Signal: w.Signal()}
	}
	return Exit{Code: s.ExitCode()}
}

// Leave ends this process as the server ended, by the same signal where that
// is one that a program can end itself by without leaving a core.
func (e Exit) Leave() int {
	switch e.Signal {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL, syscall.SIGPIPE, syscall.SIGALRM:
		sig := e.Signal.(syscall.Signal)
		signal.Reset(sig)
		_ = syscall.Kill(os.Getpid(), sig) // the code says it otherwise
		time.Sleep(100 * time.Millisecond) // the signal is on its way
	}
	return e.Code
}

// passed are the signals that a server gets in our place.
var passed = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGCONT,
}

// forward passes signals on until stop is called.
func forward(server *os.Process) (stop func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passed...)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case s := <-signals:
				if !keyboard(s) {
					_ = server.Signal(s) // it may have ended
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}

// keyboard reports whether a signal came from the terminal, which has sent it
// to the server too: both are of its foreground group.
func keyboard(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
