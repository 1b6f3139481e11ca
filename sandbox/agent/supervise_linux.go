package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// supervise runs from the target's start to the end of the last task.
func (a *agent) supervise() {
	close(a.launched)
	go a.stdin.run()
	go a.stdout.run()
	go a.stderr.run()
	go a.sendConns()
	go a.answerSyncs()
	go a.handleCommands()
	go a.watchLimits()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-a.changed:
		case <-tick.C:
		}
		if !a.exited.Load() {
			continue
		}
		if left, err := a.listTargets(); err == nil && len(left) == 0 {
			break
		}
	}
	a.compare()
	a.linger()
	a.conclude()
}

// maxLinger bounds the wait for a host that wants to search what the target wrote last.
const maxLinger = 30 * time.Second

// linger answers a stop that has a number, and then lets the host ask until it
// sends "end". No process of the target's is left. A target that ended by itself
// may have the stop still before it.
func (a *agent) linger() {
	if a.await {
		select {
		case <-a.stopped:
		case <-a.dismissed:
		case <-time.After(maxLinger):
		}
	}
	n := a.held.Load()
	if n == 0 {
		return
	}
	a.flush(true)
	a.emit(session.EventSynced{N: n})
	select {
	case <-a.dismissed:
	case <-time.After(maxLinger):
	}
}

// conclude sends what is left and says good-bye.
func (a *agent) conclude() {
	close(a.finish)
	a.stdin.abandon()
	a.sink.close()
	a.conns.Close(errOver)
	<-a.sent
	for _, p := range []*pump{a.trace, a.stdout, a.stderr, a.sink.events()} {
		if p == nil {
			continue
		}
		select {
		case <-p.done:
		case <-time.After(10 * time.Second):
			a.emit(session.EventLoss{Code: session.GapOutputUnfinished, Reason: p.file.Name() + " did not end with the last task"})
			p.drain()
		}
	}
	if a.watch != nil {
		a.watch.drain()
	}
	a.refused.flush()
	a.checkLog()
	if n := a.outlived.Load(); n > 0 {
		a.emit(session.EventOutlived{Tasks: n})
	}
	a.emit(session.EventDone{})
}

var errOver = errors.New("the run is over")

// sendConns sends what is said on connections until they are closed. A host that
// does not take it is gone, which the reader of its commands finds out.
func (a *agent) sendConns() {
	defer close(a.sent)
	_ = a.conns.Send(a.out)
}

// checkLog makes sure that the tracer has seen the end: the last line of its log
// is that of the last task.
func (a *agent) checkLog() {
	if a.tracer.Load() == 0 || a.together.Load() {
		return
	}
	select {
	case <-a.untraced:
	case <-time.After(10 * time.Second):
		a.emit(session.EventLoss{Code: session.GapTracerUnfinished, Reason: "the tracer did not end with the last task"})
		return
	}
	if !strings.HasSuffix(a.logEnd.String(), " +++\n") {
		a.sayTracerDied("strace's log ends before the target does")
	}
}

// handleCommands takes what the host sends until its stream ends, which means that it is gone.
func (a *agent) handleCommands() {
	stopped := false
	for {
		f, err := a.in.Next()
		if err != nil {
			a.dismissOnce.Do(func() { close(a.dismissed) })
			if !stopped {
				a.killAll()
			}
			return
		}
		switch f.Stream {
		case mux.Stdin:
			if err := a.stdin.put(f.Payload); err != nil {
				a.limit("stdin: " + err.Error())
			}
		case mux.Conns:
			if err := a.conns.Take(f); err != nil {
				a.limit("connections: " + err.Error())
			}
		case mux.Control:
			var c Command
			if err := json.Unmarshal(f.Payload, &c); err != nil {
				continue
			}
			switch c.Type {
			case CommandStop:
				stopped = true
				a.held.Store(c.N)
				a.stopOnce.Do(func() { go a.stop(c.Grace, c.Signal) })
				a.stopping.Do(func() { close(a.stopped) })
			case CommandKill:
				stopped = true
				a.stopping.Do(func() { close(a.stopped) })
				go a.killAll()
			case CommandPorts:
				a.answerPorts(c, a.notTargets, tcpListening)
			case CommandUDPPorts:
				a.answerPorts(c, a.notTargetsUDP, udpBound)
			case CommandEnd:
				a.dismissOnce.Do(func() { close(a.dismissed) })
			case CommandSync, CommandSettle, CommandSearch, CommandCollect, CommandTurn:
				select {
				case a.syncs <- c:
				case <-a.finish:
				}
			}
		}
	}
}

// answerSyncs is apart from handleCommands so that a host that is slow to read what a
// sync flushes can still stop the run.
func (a *agent) answerSyncs() {
	for {
		select {
		case c := <-a.syncs:
			if c.Type == CommandTurn {
				a.sink.turn(c.Served)
				a.emit(session.EventSynced{N: c.N})
				continue
			}
			if c.Type == CommandSettle {
				a.awaitRest(c)
				a.tellFar(c.Far)
			}
			a.flush(c.Sockets || c.Type != CommandSync && c.Type != CommandSettle)
			switch c.Type {
			case CommandCollect:
				a.collect(c)
			case CommandSearch:
				a.tellTimes(pathsOf(c))
				if a.contents != nil {
					a.contents.written.add(pathsOf(c))
				}
				a.search(pathsOf(c), c.Last)
			}
			a.emit(session.EventSynced{N: c.N})
		case <-a.finish:
			return
		}
	}
}

// flush sends everything that has happened up to now, with what the sinkhole saw where
// sockets says that the target may have sent it anything. The tracer writes a
// call's line before it lets the call return, so its pipe holds every call that
// the target has seen the end of.
func (a *agent) flush(sockets bool) {
	if sockets {
		a.sink.quiesce()
	}
	a.refused.flush()
	for _, p := range []*pump{a.trace, a.watch, a.stdout, a.stderr, a.sink.events()} {
		if p != nil {
			p.drain()
		}
	}
}

// reap waits for every child, the target's orphans included.
func (a *agent) reap() {
	for {
		var ws unix.WaitStatus
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil { // no child yet
			time.Sleep(time.Millisecond)
			continue
		}
		a.starting.Lock()
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		a.starting.Unlock()
		if err == nil && pid > 0 {
			a.ended(pid, ws)
		}
	}
}

// ended is told of each child's end.
func (a *agent) ended(pid int, ws unix.WaitStatus) {
	switch pid {
	case int(a.tracer.Load()):
		a.tracerEnded(ws)
	case a.sink.pid():
		a.sinkEnded(ws)
	case a.target:
		go a.targetEnded(ws)
	}
	a.poke()
}

// tracerEnded tells a tracer that has done its work from one that died. As the
// target's grandchild it ends well, with status 0, after the last task; when it
// is killed, what it traced may end by itself before anyone looks.
func (a *agent) tracerEnded(ws unix.WaitStatus) {
	defer close(a.untraced)
	left := 0
	if !a.killing.Load() {
		left = len(a.targets())
	}
	if a.together.Load() || ws == 0 && left == 0 {
		return
	}
	a.sayTracerDied(fmt.Sprintf("strace ended with %s while %d processes of the target lived", statusText(ws), left))
	go a.killAll()
}

func (a *agent) sayTracerDied(reason string) {
	if said := strings.TrimSpace(a.tracerSays.String()); said != "" {
		reason += ": " + said
	}
	a.diedOnce.Do(func() { a.emit(session.EventTracerDied{Reason: reason}) })
}

// targetEnded says how the target's first process ended, after its last output.
func (a *agent) targetEnded(ws unix.WaitStatus) {
	stamp := clock()
	<-a.launched
	a.endOnce.Do(func() { a.sayExit(stamp, ws) })
}

func (a *agent) sayExit(stamp time.Duration, ws unix.WaitStatus) {
	a.flush(true)
	var e session.EventExit
	if ws.Signaled() {
		e.Code, e.Signal = 128+int(ws.Signal()), unix.SignalName(ws.Signal())
	} else {
		e.Code = ws.ExitStatus()
	}
	a.emitAt(stamp, e)
	a.exited.Store(true)
}

func statusText(ws unix.WaitStatus) string {
	if ws.Signaled() {
		return unix.SignalName(ws.Signal())
	}
	return fmt.Sprintf("status %d", ws.ExitStatus())
}

// targets lists the processes that are the target's and can still do something:
// all but the agent, the tracer, the sink and the inner init. Where the agent is not PID 1
// they are its descendants; orphans are, too, as it is their subreaper.
// What cannot be listed just now is left out.
func (a *agent) targets() []task {
	list, _ := a.listTargets()
	return list
}

// listTargets is targets with an error where some may be left out.
func (a *agent) listTargets() ([]task, error) {
	all, err := a.listFamily()
	return slices.DeleteFunc(all, func(t task) bool { return !t.alive() }), err
}

// listFamily is listTargets with those that have ended and were not waited for.
func (a *agent) listFamily() ([]task, error) {
	self, tracer, inner, sink := os.Getpid(), int(a.tracer.Load()), int(a.inner.Load()), a.sink.pid()
	all, err := processes()
	parent := make(map[int]int, len(all))
	for _, t := range all {
		parent[t.pid] = t.ppid
	}
	mine := func(pid int) bool {
		for range all {
			if pid == self {
				return true
			}
			next, ok := parent[pid]
			if !ok {
				return false
			}
			pid = next
		}
		return false
	}
	var out []task
	for _, t := range all {
		if t.pid == self || t.pid == tracer || t.pid == inner || t.pid == sink {
			continue
		}
		if self == 1 || mine(t.ppid) {
			out = append(out, t)
		}
	}
	return out, err
}

// survival is how many times a grace what outlives the target's first process is watched: it may wait until nobody looks.
const survival = 3

// stop ends the target the polite way first: its stdin ends, or as some clients do
// it a signal comes at once.
func (a *agent) stop(grace time.Duration, signal bool) {
	if signal {
		for _, t := range a.targets() {
			_ = unix.Kill(t.pid, unix.SIGTERM)
		}
		if a.gone(grace) {
			return
		}
	}
	a.stdin.abandon()
	if a.gone(grace) || a.exited.Load() && a.gone(survival*grace) {
		return
	}
	left := a.targets()
	// Told at the end: a host that does not read must not hold up the signals.
	a.outlived.Store(int64(len(left)))
	for _, t := range left {
		_ = unix.Kill(t.pid, unix.SIGTERM)
	}
	if a.gone(grace) {
		return
	}
	a.killAll()
}

// gone waits for the target's last process to end by itself. The time for which its tasks were
// ready and had no processor is the machine's, and is waited for again.
func (a *agent) gone(grace time.Duration) bool {
	begin, starved := time.Now(), a.starved()
	for {
		if len(a.targets()) == 0 {
			return true
		}
		if waited := time.Since(begin); waited > grace {
			if more := max(a.starved()-starved, 0); waited > grace+min(more, MostStarved*grace) {
				return false
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// starved is for how long the tasks of the target that live have waited for a processor, 0 where
// the kernel does not count it.
func (a *agent) starved() time.Duration {
	var all time.Duration
	for _, t := range a.targets() {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", t.pid))
		if err != nil {
			continue
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				continue // it ended
			}
			if delay, _, err := schedstat(data); err == nil {
				all += delay
			}
		}
	}
	return all
}

// killAll ends every process of the target's. The tracer lives until it has
// written their ends; only if they outrun the killing it goes with them.
func (a *agent) killAll() {
	a.killing.Store(true)
	if inner := int(a.inner.Load()); inner > 0 {
		_ = unix.Kill(inner, unix.SIGKILL) // the kernel takes the whole inner namespace with it
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		left := a.targets()
		if len(left) == 0 {
			return
		}
		for _, t := range left {
			_ = unix.Kill(t.pid, unix.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond)
	}
	if os.Getpid() == 1 {
		a.together.Store(true)
		a.emit(session.EventLoss{Code: session.GapRecordsLost, Reason: "the target's processes had to be killed together with the tracer"})
		_ = unix.Kill(-1, unix.SIGKILL)
	}
}
