//go:build linux && e2e

package spy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What the crowd does.
const (
	crowdSize  = 200
	crowdCalls = 100
)

// echo answers requests on stdio.
func echo() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(line, &m) == nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", m.ID, strings.Repeat("x", 100))
		}
	}
}

// crowd talks with many servers at once.
func crowd() {
	done := make(chan error, crowdSize)
	for range crowdSize {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), modeEnv+"=echo", "GOMAXPROCS=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			os.Exit(1)
		}
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			os.Exit(1)
		}
		go func() {
			answers := bufio.NewReader(out)
			var err error
			for i := 0; i < crowdCalls && err == nil; i++ {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d}}}`+"\n", i, i)
				_, err = answers.ReadBytes('\n')
			}
			_ = in.Close()
			done <- err
		}()
	}
	for range crowdSize {
		if <-done != nil {
			os.Exit(1)
		}
	}
}

var lostBytes = regexp.MustCompile(`(?m)^.*lost: .*$`)

func TestSpyCrowd(t *testing.T) {
	bin := program(t)
	r := watchRun(t, bin, []string{modeEnv + "=crowd"}, os.Args[0])
	got := 0
	seen := logs(t, r.dir)
	for _, m := range seen {
		got += len(m[session.C2S]) + len(m[session.S2C])
	}
	want := crowdSize * crowdCalls * 2
	fmt.Printf("%d conversations at once: %d/%d messages in %.1f s; spy took %.2f s of a processor, %.0f µs a message\n",
		len(seen), got, want, r.took.Seconds(), r.cpu.Seconds(), float64(r.cpu.Microseconds())/float64(max(1, got)))
	if lost := lostBytes.FindAllString(r.said, -1); got != want || len(seen) != crowdSize || len(lost) > 0 {
		t.Errorf("%d messages of %d, %d conversations: %s", got, want, len(seen), r.said)
	}
}
