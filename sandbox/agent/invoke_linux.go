package agent

import (
	"encoding/json"
	"os"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
)

// sinkOrder is what a stage is told that is to answer the network.
type sinkOrder struct {
	Network  *Network          `json:"network"`
	Canaries []canaries.Canary `json:"canaries,omitempty"`
}

// A sink runs before the packages are initialised that depend on this one.
func init() {
	o, fds := stage.Pending()
	if o == nil {
		return
	}
	var s sinkOrder
	err := json.Unmarshal(o.Sink, &s)
	if err == nil {
		err = runSink(o, s, fds[0], fds[1], fds[2], fds[3:])
	}
	os.Exit(stage.Refuse(fds[0], err))
}

// Env is the environment to start an agent in where it is free: the Go runtime then collects no
// garbage while the packages are initialised.
func Env() []string { return []string{"GOGC=400"} }

// Invoked reports whether this process was started to be an agent. A program that starts
// sandboxes asks first of all.
func Invoked() bool { return stage.Invoked() }
