package probe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// idle are the words by which an interpreter, named without its version, is started
// with nothing to do.
var idle = map[string][]string{
	"python": {"-c", "pass"}, "pypy": {"-c", "pass"}, "node": {"-e", "0"}, "nodejs": {"-e", "0"}, "deno": {"eval", "0"}, "bun": {"-e", "0"},
	"ruby": {"-e", "0"}, "perl": {"-e", "0"}, "php": {"-r", "0;"}, "lua": {"-e", ""}, "Rscript": {"-e", "0"},
	"sh": {"-c", ":"}, "dash": {"-c", ":"}, "bash": {"-c", ":"},
}

// The bounds of what is learned of an interpreter.
const (
	learnTimeout = 20 * time.Second
	maxReads     = 4096
)

// identified is a backend that can say which image it starts.
type identified interface {
	Identity(ctx context.Context) (string, error)
}

// learnInterpreter finds out what the server's interpreter reads by itself in this
// sandbox and image, or remembers it. Where that fails nothing of the kind is known,
// and nothing is taken for it.
func (p *probe) learnInterpreter(ctx context.Context) {
	name := interpreter(p.plan.Server.Command, exec.LookPath)
	if name == "" || !p.plan.Watched() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, learnTimeout)
	defer cancel()
	file := p.remembered(ctx, name)
	rt, err := readRuntime(file)
	if err != nil {
		p.opts.Progress("looking at what " + name + " does by itself")
		if rt, err = p.bare(ctx, name); err != nil {
			return
		}
		rt.move(p.plan.Identity.Home, "~", p.plan.Server.Dir, "$WORKSPACE")
		writeRuntime(file, rt)
	}
	rt.move("~", p.plan.Identity.Home, "$WORKSPACE", p.plan.Server.Dir)
	p.plan = p.plan.WithInterpreter((*session.Runtime)(rt))
}

// interpreter is the program of a command that runs another's code, by the name
// that starts it, "" for none that is known.
func interpreter(command []string, lookPath func(string) (string, error)) string {
	if idle[versionless(command[0])] != nil {
		return command[0]
	}
	file, err := lookPath(command[0])
	if err != nil {
		return ""
	}
	f, err := shown.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	head, _ := io.ReadAll(io.LimitReader(f, 256))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	words := strings.Fields(string(rest))
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 1 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 || idle[versionless(words[0])] == nil {
		return ""
	}
	return words[0]
}

// versionless is a program's name without directory and version: "python" for
// /usr/bin/python3.11.
func versionless(program string) string { return strings.TrimRight(path.Base(program), "0123456789.") }

// bare starts an interpreter with nothing to do.
func (p *probe) bare(ctx context.Context, name string) (*baseline, error) {
	seen, one := new(bareSink), p.scheduler()
	one.Runner.Sink = seen
	c := &experiment.Case{Plan: p.plan, Idle: append([]string{name}, idle[versionless(name)]...)}
	indexed, ended, err := one.Make(ctx, &experiment.Interpreter, c, experiment.Interpreter.Dir)
	p.runs = append(p.runs, withoutLog(p.dir, indexed))
	switch {
	case err != nil:
		return nil, err
	case ended.Exit.TracerDied || ended.Exit.Code != 0 || ended.Lost > 0 || seen.Program == "" || len(seen.Reads) >= maxReads:
		return nil, fmt.Errorf("%s did not come to its end, or was not seen whole", name)
	}
	return &seen.baseline, nil
}

// baseline is a Runtime that is being learned.
type baseline session.Runtime

// move replaces two directories at the beginning of paths.
func (rt *baseline) move(from, to, from2, to2 string) {
	for i, r := range rt.Reads {
		for _, m := range [][2]string{{from2, to2}, {from, to}} {
			if rest, ok := strings.CutPrefix(r, m[0]); ok && (rest == "" || rest[0] == '/') {
				rt.Reads[i] = m[1] + rest
				break
			}
		}
	}
}

// remembered is the file in which a baseline is kept: one for each content of image
// or state of the program's file, each tracer and each environment; "" for none.
func (p *probe) remembered(ctx context.Context, name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, p.runner.Backend.Name(), p.plan.Tracer, p.plan.Version, p.plan.Network, strings.Replace(name, p.plan.Identity.Home, "~", 1))
	for _, v := range p.plan.Env {
		fmt.Fprintln(h, v.Name)
	}
	if image, ok := p.runner.Backend.(identified); ok {
		id, err := image.Identity(ctx)
		if err != nil {
			return ""
		}
		fmt.Fprintln(h, id)
	} else if !hashProgram(h, name) {
		return ""
	}
	return filepath.Join(dir, "coalmine", "runtimes", hex.EncodeToString(h.Sum(nil))+".json")
}

// hashProgram adds what tells one version of a program from the next. Reading all of it would
// take longer than what is remembered.
func hashProgram(h io.Writer, name string) bool {
	file, err := exec.LookPath(name)
	if err == nil {
		file, err = filepath.EvalSymlinks(file)
	}
	if err != nil {
		return false
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	fmt.Fprintln(h, file, info.Size(), info.ModTime().UnixNano())
	return true
}

func readRuntime(file string) (*baseline, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read what is known of an interpreter: %w", err)
	}
	rt := new(baseline)
	if err := json.Unmarshal(data, rt); err != nil || rt.Program == "" {
		return nil, fmt.Errorf("read what is known of an interpreter: %s is damaged", file)
	}
	return rt, nil
}

// writeRuntime keeps a baseline; a cache that cannot be written costs time only.
func writeRuntime(file string, rt *baseline) {
	data, err := json.Marshal(rt)
	if file == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), "new")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name())
	}
}

// bareSink takes what an interpreter reads.
type bareSink struct {
	sandbox.NopSink
	baseline
}

// Record implements sandbox.Sink.
func (s *bareSink) Record(r *trace.Record) {
	switch {
	case r.Op == trace.OpExec && r.OK() && s.Program == "":
		s.Program = r.Path
	case r.Op == trace.OpOpen && r.Path != "" && len(s.Reads) < maxReads && !strings.Contains(r.Flags, "O_CREAT") && !strings.Contains(r.Flags, "O_WRONLY") && !strings.Contains(r.Flags, "O_RDWR"):
		s.Reads = append(s.Reads, path.Clean(r.Path))
	}
}
