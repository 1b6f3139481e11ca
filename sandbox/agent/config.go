package agent

import (
	"net"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/seccomp"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// Config is the first control message, host to agent: all that the agent has to do.
type Config struct {
	// Command is the target's argument vector, looked up in the PATH of Env.
	Command []string `json:"command"`
	// Dir is the target's working directory.
	Dir string `json:"dir"`
	// Env is the target's whole environment.
	Env      []string `json:"env"`
	User     User     `json:"user"`
	Hostname string   `json:"hostname"`
	// Files are planted before the start.
	Files []rootfs.File `json:"files,omitempty"`
	// Watch lists absolute paths whose opening and reading become "access" events.
	Watch []string `json:"watch,omitempty"`
	// Canaries are looked for in all that is sent, however long it is, and in the
	// files that a sync names.
	Canaries []canaries.Canary `json:"canaries,omitempty"`
	// Compare names what is looked at before the target starts and after it has ended,
	// nil for nothing.
	Compare *Compare `json:"compare,omitempty"`
	// Await has the agent wait for a stop when the target has ended by itself.
	Await bool `json:"await,omitempty"`
	// Strace is the argument prefix that starts strace; empty runs the target untraced.
	Strace []string `json:"strace,omitempty"`
	// TraceSet is one of package trace's sets.
	TraceSet string `json:"traceSet,omitempty"`
	Limits   Limits `json:"limits"`
	// Policy is what of the kernel the target is refused.
	Policy seccomp.Policy `json:"policy"`
	// HostFiles says that the files around are the host's own, so that none of
	// them is moved aside.
	HostFiles bool `json:"hostFiles,omitempty"`
	// Grouped says that the sandbox has a control group of its own, whose counter
	// of kills is open as EventsFD.
	Grouped bool `json:"grouped,omitempty"`
	// Account says that the files around are an image's, whose lists of users are
	// to hold User.
	Account bool `json:"account,omitempty"`
	// Root is set by the local backend: built and pivoted into before all else.
	Root *rootfs.Layout `json:"root,omitempty"`
	// Bound is how many bytes may be written to the image's own files, which then lie in memory;
	// 0 leaves them on the engine's disk.
	Bound int64 `json:"bound,omitempty"`
	// Network is set where the network is a sinkhole; else nothing answers.
	Network *Network `json:"network,omitempty"`
	// Carrier is a port of the loopback; what connects to it speaks with the host. 0 means none.
	Carrier int `json:"carrier,omitempty"`
	// SingleUID says that the target has to share the agent's uid, and is kept
	// apart by a pid namespace of its own.
	SingleUID bool `json:"singleUid,omitempty"`
	// Hold has the target's process wait for the command "release" before it runs the target's program.
	Hold bool `json:"hold,omitempty"`
}

// EventsFD is the descriptor of the control group's memory.events, or of
// memory.oom_control with cgroup v1, where the Config says that it is Grouped.
const EventsFD = 3

// TrustDir is where the sinkhole's authority is planted.
const TrustDir = "/run/tls"

const browserPolicies = TrustDir + "/policies"

// BrowserPolicies are links from where browsers of Chromium's family read what they
// trust beside the authorities that they bring along: no bundle and no variable
// tells them. Where the agent may not write, the sandbox has them from the start.
func BrowserPolicies() []rootfs.File {
	var links []rootfs.File
	for _, dir := range []string{"/etc/chromium", "/etc/opt/chrome", "/etc/opt/chrome_for_testing", "/etc/opt/edge"} {
		links = append(links, rootfs.File{Path: dir + "/policies", Link: browserPolicies, Root: true})
	}
	return links
}

// Compare says of which files the contents are compared. Planted files of the target's
// are compared wherever they lie, except those below Except.
type Compare struct {
	// Places are directories, by absolute paths.
	Places []string `json:"places"`
	// Except are directories that are no part of the places around them.
	Except []string `json:"except,omitempty"`
}

// Network is the sinkhole of a sandbox.
type Network struct {
	// Sinkhole names the interface that the agent is to make, "" for none.
	Sinkhole sinkhole.Config `json:"sinkhole"`
	// MAC is that interface's address, drawn by the kernel where it is empty.
	MAC net.HardwareAddr `json:"mac,omitempty"`
}

// User is who the target runs as.
type User = stage.User

// Limits bound the target; a zero field is no limit.
type Limits = stage.Limits

// CommandType is what a Command asks for.
type CommandType string

// The types of a Command. Whatever is answered has the Command's N.
const (
	// CommandStop: close stdin, wait Grace, and three times that for what outlives the target's first process, TERM,
	// wait, KILL. With an N, answer "synced" when no process is left, and wait for CommandEnd.
	CommandStop CommandType = "stop"
	CommandEnd  CommandType = "end"
	CommandKill CommandType = "kill"
	// CommandRelease: run the target's program, where the Config says Hold.
	CommandRelease CommandType = "release"
	// CommandSync: drain the tracer, the watches and the sinkhole up to now, and answer "synced".
	CommandSync CommandType = "sync"
	// CommandTurn: have the sinkhole answer as Served says, then answer "synced".
	CommandTurn CommandType = "turn"
	// CommandSettle: wait until the target rests, then as CommandSync.
	CommandSettle CommandType = "settle"
	// CommandSearch: as CommandSync, and before the answer tell when the files at Paths were changed
	// last, and look for decoys in them and in those that are held open.
	CommandSearch CommandType = "search"
	// CommandCollect: drain, and answer with a "file" for each of Paths, then "synced".
	CommandCollect CommandType = "collect"
	// CommandPorts and CommandUDPPorts: answer "ports".
	CommandPorts    CommandType = "ports"
	CommandUDPPorts CommandType = "udp-ports"
)

// MostStarved bounds how many times CommandStop waits a grace again for a target that gets no processor.
const MostStarved = 2

// Command is a control message from the host after the Config.
type Command struct {
	Type  CommandType   `json:"type"`
	Grace time.Duration `json:"grace,omitempty"`
	// Signal has "stop" begin with TERM, and close stdin only after Grace.
	Signal bool  `json:"signal,omitempty"`
	N      int64 `json:"n,omitempty"`
	// Paths are bytes: a name need not be UTF-8.
	Paths [][]byte `json:"paths,omitempty"`
	// Last has "sync" look again at files that were searched before and have changed.
	Last bool `json:"last,omitempty"`
	// Most is how long "settle" waits at most, and Least where rest cannot be shown. A
	// timer that is due within Most of a look keeps the target from resting.
	Least time.Duration `json:"least,omitempty"`
	Most  time.Duration `json:"most,omitempty"`
	// Far has "settle" tell as a loss that a task waits for a moment further away than this.
	Far time.Duration `json:"far,omitempty"`
	// Written is how many bytes of stdin the target is to have before it can rest.
	Written int64 `json:"written,omitempty"`
	// Served is what HTTP requests are answered with from "turn" on; its JSON has at most MaxServed bytes.
	Served *sinkhole.Served `json:"served,omitempty"`
	// Sockets says that the target may have sockets of other families than AF_UNIX: one
	// that has them open is never shown to rest, and what they sent is waited for.
	Sockets bool `json:"sockets,omitempty"`
}
