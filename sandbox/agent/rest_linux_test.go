package agent

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const helperEnv = "COALMINE_REST_HELPER"

// helpers are programs of this test's own, by name: each says when it is ready, and ends with its stdin.
var helpers = map[string]func(file string, d time.Duration){
	"timer": func(file string, d time.Duration) {
		time.AfterFunc(d, func() { _ = os.WriteFile(file, nil, 0o600) })
	},
	"thread": func(file string, d time.Duration) {
		go func() {
			t := unix.NsecToTimespec(int64(d))
			_ = unix.Nanosleep(&t, nil)
			_ = os.WriteFile(file, nil, 0o600)
		}()
	},
	"absolute": func(file string, d time.Duration) {
		go func() {
			t := unix.NsecToTimespec(int64(clock() + d))
			_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &t, nil)
			_ = os.WriteFile(file, nil, 0o600)
		}()
	},
	"workers": func(file string, d time.Duration) {
		work, done := make(chan bool), make(chan bool, 4)
		for range 4 {
			go func() {
				<-work
				time.Sleep(d / 4)
				done <- true
			}()
		}
		go func() {
			for range 4 { // one after the other
				work <- true
				<-done
			}
			_ = os.WriteFile(file, nil, 0o600)
		}()
	},
	"ticker": func(_ string, d time.Duration) {
		go func() {
			for range time.Tick(d) {
				_ = os.Getpid()
			}
		}()
	},
	"spinner": func(string, time.Duration) {
		go func() {
			for n := 0; ; n++ {
			}
		}()
	},
	"socket": func(string, time.Duration) { _, _ = net.ListenPacket("udp", "127.0.0.1:0") },
	"rester": func(string, time.Duration) {},
}

// TestRestHelper is what the other tests start; by itself it tests nothing.
func TestRestHelper(t *testing.T) {
	name, length, _ := strings.Cut(os.Getenv(helperEnv), " ")
	d, err := time.ParseDuration(length)
	if err != nil {
		t.Skip("it is started by the tests of rest")
	}
	helpers[name](os.Getenv(helperEnv+"_FILE"), d)
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// resting starts a program and returns an agent that watches it rest, and the file that
// the program may write.
func resting(t *testing.T, command ...string) (a *agent, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "file")
	cmd := exec.Command(command[0], command[1:]...)
	a = &agent{stdin: &stdinWriter{}, finish: make(chan struct{})}
	a.rest = newSleepers(func() ([]task, error) {
		all, err := processes()
		if err != nil || cmd.Process == nil {
			return nil, err
		}
		mine := []int{cmd.Process.Pid}
		for range all { // until no more children are found
			for _, p := range all {
				if slices.Contains(mine, p.ppid) && !slices.Contains(mine, p.pid) {
					mine = append(mine, p.pid)
				}
			}
		}
		return slices.DeleteFunc(all, func(p task) bool { return !slices.Contains(mine, p.pid) || !p.alive() }), nil
	})
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), helperEnv+"_FILE="+file, "FILE="+file)
	if len(command) == 1 {
		cmd.Env = append(cmd.Env, helperEnv+"="+command[0])
		cmd.Path, cmd.Args = "/proc/self/exe", []string{"helper", "-test.run=^TestRestHelper$"}
		cmd.Err = nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		_ = cmd.Wait()
	})
	if _, err := io.ReadFull(stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatalf("%v does not get ready: %v", command, err)
	}
	return a, file
}

// What a program does after a while is done when it rests, whoever does it.
func TestTimersAreWaitedFor(t *testing.T) {
	for _, ms := range []string{"1", "5", "15", "30", "100"} {
		late := fmt.Sprintf("sleep %s", map[string]string{"1": "0.001", "5": "0.005", "15": "0.015", "30": "0.03", "100": "0.1"}[ms])
		for name, command := range map[string][]string{
			"timer":         {"timer " + ms + "ms"},
			"thread":        {"thread " + ms + "ms"},
			"absolute":      {"absolute " + ms + "ms"},
			"workers":       {"workers " + ms + "ms"},
			"child":         {"sh", "-c", "(" + late + "; : >$FILE) & echo ready; read x"},
			"grandchildren": {"sh", "-c", "sh -c '" + late + "; sh -c \"" + late + "; : >$FILE\"' & echo ready; read x"},
		} {
			t.Run(name+" "+ms, func(t *testing.T) {
				a, file := resting(t, command...)
				begin := clock()
				a.awaitRest(Command{Most: 20 * time.Second, Least: 20 * time.Second})
				if took := clock() - begin; took > 15*time.Second {
					t.Errorf("it is not seen to rest within %s", took)
				}
				if _, err := os.Stat(file); err != nil {
					t.Errorf("it rests before it does its work: %v", err)
				}
			})
		}
	}
}

// A wait that is far away is told, and neither a nearer one nor one without an end.
func TestFarTimersAreTold(t *testing.T) {
	for command, want := range map[string]time.Duration{"timer 30m": 0, "timer 5h": 5 * time.Hour, "thread 5h": 5 * time.Hour, "rester 0s": 0} {
		t.Run(command, func(t *testing.T) {
			a, _ := resting(t, command)
			a.awaitRest(Command{Most: 20 * time.Second, Least: 20 * time.Second})
			if left, _ := a.rest.beyond(time.Hour); left.Round(time.Minute) != want {
				t.Errorf("%s is left, want %s", left, want)
			}
		})
	}
}

// A program that waits for others, or for long, rests at once.
func TestRestIsSeen(t *testing.T) {
	for name, command := range map[string][]string{
		"reader": {"rester 0s"},
		"timer":  {"timer 1h"},
		"shell":  {"sh", "-c", "sleep 10000 & echo ready; read x"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := resting(t, command...)
			begin := clock()
			a.awaitRest(Command{Most: 20 * time.Second, Least: 20 * time.Second})
			if took := clock() - begin; took > 15*time.Second {
				t.Errorf("it is seen to rest after %s", took)
			}
		})
	}
}

// Where rest cannot be shown, or periodic timers keep a program from it, the wait is the shorter one;
// where it runs, the longer one.
func TestDoubtMeansWaiting(t *testing.T) {
	const least, most = 150 * time.Millisecond, 300 * time.Millisecond
	for name, c := range map[string]struct {
		helper     string
		from, most time.Duration
		sockets    bool
	}{
		"socket":             {"socket 0s", least, 0, true},
		"socket of no doubt": {"socket 0s", 0, 0, false},
		"ticker":             {"ticker 10ms", least, 0, false},
		"spinner":            {"spinner 0s", most, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := resting(t, c.helper)
			begin := clock()
			a.awaitRest(Command{Most: most, Least: least, Sockets: c.sockets})
			if took := clock() - begin; took < c.from {
				t.Errorf("it is taken to rest after %s, not %s", took, c.from)
			}
		})
	}
}

// The monitor thread of a Go program is known, and it alone: it ticks as long as a goroutine runs.
func TestMonitorIsKnown(t *testing.T) {
	a, _ := resting(t, "spinner 0s")
	var monitors []*sleeper
	for deadline := clock() + 15*time.Second; len(monitors) == 0 && clock() < deadline; {
		a.rest.look(time.Second, false)
		for _, task := range a.rest.tasks {
			if task.monitor {
				monitors = append(monitors, task)
			}
		}
	}
	if len(monitors) != 1 {
		t.Fatalf("%d tasks are taken for the monitor", len(monitors))
	}
	for _, task := range a.rest.tasks {
		if task.tid != task.pid && task.tid < monitors[0].tid {
			t.Errorf("task %d is taken for the monitor, and %d is older", monitors[0].tid, task.tid)
		}
	}
}

// A program with one processor hands work on by its monitor, and others have none.
func TestMonitorOfOneProcessorCounts(t *testing.T) {
	start := func(env string, command ...string) int {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), env)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	if n := processors(start("GOMAXPROCS=1", "sleep", "100")); n != 1 {
		t.Errorf("a program that may use one processor is taken to use %d", n)
	}
	if isGo(start("X=1", "sleep", "100")) || !isGo(os.Getpid()) {
		t.Error("sleep is taken for a Go program, or this test is not")
	}
}

// A target that has not read what it was sent does not rest.
func TestUnreadInputIsWaitedFor(t *testing.T) {
	a, _ := resting(t, "rester 0s")
	begin := clock()
	a.awaitRest(Command{Most: 100 * time.Millisecond, Written: 1})
	if took := clock() - begin; took < 100*time.Millisecond {
		t.Errorf("it is taken to rest after %s", took)
	}
}
