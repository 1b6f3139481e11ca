//go:build amd64 || arm64

package tlsread

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// discover has the kernel's side tell of each file whose code a process runs or maps.
func (r *Reader) discover() error {
	for point, program := range map[string]*ebpf.Program{"sched_process_exec": r.programs.OnExec, "sys_exit": r.programs.OnExit} {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: point, Program: program})
		if err != nil {
			return fmt.Errorf("TLS reader: attach to %s: %w", point, err)
		}
		r.points = append(r.points, l)
	}
	return nil
}

// Look has the libraries of all running processes watched, and returns when they are.
func (r *Reader) Look(ctx context.Context) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return fmt.Errorf("TLS reader: list the processes: %w", err)
	}
	ask := func(q request) error {
		select {
		case r.asked <- q:
			return nil
		case <-r.stop:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("TLS reader: look at the running processes: %w", context.Cause(ctx))
		}
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if err := ask(request{pid: pid, mapped: true}); err != nil {
				return err
			}
		}
	}
	done := make(chan struct{})
	if err := ask(request{done: done}); err != nil {
		return err
	}
	select {
	case <-done:
	case <-r.stop:
	case <-ctx.Done():
		return fmt.Errorf("TLS reader: look at the running processes: %w", context.Cause(ctx))
	}
	return nil
}

// forget has the kernel's side tell again of a file whose process was gone too soon.
func (r *Reader) forget(file uint64) {
	if file != 0 {
		_ = r.programs.Files.Delete(file) // it may have been forgotten already
	}
}
