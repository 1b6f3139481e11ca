//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	mostChildren = 10_000
	mostMemory   = 4 << 30
	mostDisk     = 4 << 30
	mostOutput   = 1 << 30
	calls        = 600_000
)

// child starts this program again, to sleep.
func child(howLong string) *exec.Cmd { return exec.Command("/proc/self/exe", "child", howLong) }

// forks starts ten thousand children, none of which it waits for. It gives up
// after a hundred failures, or half a minute.
func forks() (string, error) {
	started, failed := 0, 0
	var last error
	for end := time.Now().Add(30 * time.Second); started < mostChildren && failed < 100 && time.Now().Before(end); {
		c := child("30s")
		if err := c.Start(); err != nil {
			failed++
			last = err
			continue
		}
		started++
		_ = c.Process.Release()
	}
	return fmt.Sprintf("%d children, %d failures, the last: %v", started, failed, last), nil
}

// fillMemory touches every page of what it takes.
func fillMemory() (string, error) {
	const chunk = 16 << 20
	var held [][]byte
	for len(held) < mostMemory/chunk {
		block := make([]byte, chunk)
		for i := 0; i < chunk; i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
	}
	return fmt.Sprintf("%d bytes", len(held)*chunk), nil
}

// fillDisk fills HOME and /tmp, and leaves them full.
func fillDisk() (string, error) {
	var told []string
	for _, dir := range []string{os.Getenv("HOME"), "/tmp"} {
		n, err := fillDir(dir)
		told = append(told, fmt.Sprintf("%s: %d bytes, %v", dir, n, err))
	}
	return strings.Join(told, "\n"), nil
}

// fillDir writes files of at most 256 MiB until there is no more room.
func fillDir(dir string) (total int64, err error) {
	for i := 0; total < mostDisk; i++ {
		n, err := fillFile(filepath.Join(dir, fmt.Sprintf("fill-%d", i)))
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func fillFile(path string) (total int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := bytes.Repeat([]byte("fill"), 1<<18)
	for range 256 {
		n, err := f.Write(block)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func fillStdout() (string, error) {
	line := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 60000) + "\"}}\n"
	return flood(os.Stdout, line)
}

func fillStderr() (string, error) { return flood(os.Stderr, strings.Repeat("y", 60000)+"\n") }

func flood(w io.Writer, line string) (string, error) {
	total := 0
	for total < mostOutput {
		n, err := io.WriteString(w, line)
		total += n
		if err != nil {
			return "", fmt.Errorf("after %d bytes: %w", total, err)
		}
	}
	return fmt.Sprintf("%d bytes", total), nil
}

// deleteHome removes all that HOME holds; HOME itself may be a mount.
func deleteHome() (string, error) {
	home := os.Getenv("HOME")
	entries, err := os.ReadDir(home)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(home, e.Name())); err != nil {
			return "", err
		}
	}
	return "deleted", nil
}

// daemon leaves a child in a session of its own, which keeps stdout and stderr open.
func daemon() (string, error) {
	c := child(long.String())
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return "", err
	}
	return fmt.Sprintf("pid %d", c.Process.Pid), nil
}

func closeStdout() (string, error) {
	return "", os.Stdout.Close()
}

func crash() (string, error) {
	var nothing *time.Time
	return nothing.String(), nil
}

// syscalls makes six hundred thousand calls that cost next to nothing.
func syscalls() (string, error) {
	for range calls {
		unix.Getppid()
	}
	return fmt.Sprintf("%d calls", calls), nil
}

// storm makes n calls that every tracer watches, as fast as two threads can.
func storm(n int) func() (string, error) {
	return func() (string, error) {
		var threads sync.WaitGroup
		for range 2 {
			threads.Go(func() {
				for range n / 2 {
					_ = unix.Access("/storm", unix.F_OK)
				}
			})
		}
		threads.Wait()
		return fmt.Sprintf("%d calls", n), nil
	}
}
