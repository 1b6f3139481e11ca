package docker

import (
	"os"
	"strconv"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// The labels of everything that is made: whose it is. The pid alone would not
// do, as pids are used again, and an engine may serve several machines.
const (
	labelRun   = "dev.coalmine.run"
	labelName  = "dev.coalmine.name" // one container's own
	labelPid   = "dev.coalmine.pid"
	labelStart = "dev.coalmine.start"
	labelBoot  = "dev.coalmine.boot"
	labelSpace = "dev.coalmine.pidns"
	labelHost  = "dev.coalmine.host"
)

// owner is the process that made something.
type owner struct {
	host, boot, space, start string
	pid                      int
}

// self is this process.
func self() owner {
	host, _ := os.Hostname()
	pid := os.Getpid()
	return owner{host: host, boot: bootID(), space: pidNamespace(), start: startTime(pid), pid: pid}
}

func labels(run, name string) map[string]string {
	o := self()
	return map[string]string{
		labelRun: run, labelName: name, labelPid: strconv.Itoa(o.pid), labelStart: o.start,
		labelBoot: o.boot, labelSpace: o.space, labelHost: o.host,
	}
}

func ownerOf(labels map[string]string) owner {
	pid, _ := strconv.Atoi(labels[labelPid])
	return owner{host: labels[labelHost], boot: labels[labelBoot], space: labels[labelSpace], start: labels[labelStart], pid: pid}
}

// lives says whether a process is still there. It is unknown for one of
// another machine, or of a pid namespace that this process does not see into.
func (o owner) lives() sandbox.Tri {
	me := self()
	switch {
	case o == me:
		return sandbox.Yes
	case o.pid <= 0 || o.host == "" || o.start == "":
		return sandbox.Unknown
	case o.boot != me.boot && o.host == me.host:
		return sandbox.No // from before this machine was started
	case o.boot != me.boot || o.space != me.space:
		return sandbox.Unknown
	case startTime(o.pid) == o.start:
		return sandbox.Yes
	}
	return sandbox.No
}
