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

// A program that was started to be an agent, or a sink, is one before the packages are initialised
// that depend on this one, or come later by their import paths: that takes longer than all that it does to start.
func init() {
	o, fds := stage.Pending()
	switch {
	case o == nil && stage.Invoked():
		code := make(chan int)
		go func() { code <- run() }() // this goroutine holds the first thread while packages are initialised
		os.Exit(<-code)
	case o == nil:
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
