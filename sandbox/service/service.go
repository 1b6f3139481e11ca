package service

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/dialect"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

// Bounds of a service.
const (
	startTimeout = time.Minute
	closeTimeout = 30 * time.Second
	pollEvery    = 50 * time.Millisecond
	maxPollEvery = 400 * time.Millisecond
)

// limits bound a service: a small one needs a tenth.
var limits = agent.Limits{Memory: 1 << 30, Pids: 256, File: 256 << 20, Disk: 512 << 20}

// DefaultImage is what services run in with the docker backend (make service-image).
const DefaultImage = "coalmine-services"

// home is where a service has its files.
const home = "/home/service"

// Options say where a service runs and what it holds.
type Options struct {
	Backend sandbox.Backend
	// Image and Runtime are for the docker backend; "" is DefaultImage.
	Image, Runtime string
	// UID is the user that it runs as in the sandbox.
	UID int
	// RunID is random, and names what the backend makes.
	RunID string
	// AgentPath is the program that becomes PID 1; "" is this one.
	AgentPath string
	Contents  Contents
}

// Service is one that runs.
type Service struct {
	Kind Kind
	run  *sandbox.Run
}

// Start starts a service and returns once it answers. Errors that the user can mend are
// *sandbox.UsageError.
func Start(ctx context.Context, k Kind, o Options) (*Service, error) {
	if o.Backend.Name() == "inplace" {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("--service %s needs a second sandbox, and there is none within a container", k.Name), Hint: "use --sandbox local or docker"}
	}
	if o.Backend.Name() == "local" {
		if err := k.installed(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	said := &says{}
	started, err := sandbox.Start(context.WithoutCancel(ctx), o.Backend, specOf(&k, &o), said)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", k.Title, err)
	}
	s := &Service{Kind: k, run: started}
	if err := s.ready(ctx, said, o.Contents); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func specOf(k *Kind, o *Options) sandbox.Spec {
	return sandbox.Spec{
		Command: []string{"/bin/sh", "-c", k.script}, Dir: home, Hostname: k.Name,
		Env:   []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + home, "LANG=C.UTF-8", "TZ=UTC"},
		User:  agent.User{Name: "service", UID: o.UID, GID: o.UID, Home: home},
		Files: []rootfs.File{{Path: home, Mode: 0o700, Dir: true}, {Path: home + "/" + seedFile, Mode: 0o600, Data: []byte(k.seed(o.Contents))}},
		Image: cmp.Or(o.Image, DefaultImage), Runtime: o.Runtime, Limits: limits, AgentPath: o.AgentPath, RunID: o.RunID,
	}
}

// ready waits until the service answers.
func (s *Service) ready(ctx context.Context, said *says, c Contents) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.run.Wait(ctx)
	}()
	for wait := pollEvery; ; wait = min(wait*3/2, maxPollEvery) {
		err := s.greet(ctx, c)
		if err == nil {
			return nil
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
			continue
		case <-ended:
		case <-ctx.Done():
		}
		t.Stop()
		text := said.String()
		if text == "" {
			text = err.Error()
		}
		return &sandbox.UsageError{
			Err:  fmt.Errorf("%s did not start: %.300q", s.Kind.Title, text),
			Hint: "the sandbox needs Debian's package " + s.Kind.packaged + ": on this machine for --sandbox local, in the image for --sandbox docker",
		}
	}
}

// greet connects once, and gives Redis what it is to hold.
func (s *Service) greet(ctx context.Context, c Contents) error {
	conn, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if s.Kind.Name != dialect.Redis {
		return nil
	}
	if _, err := conn.Write([]byte(s.Kind.seed(c) + "PING\r\n")); err != nil {
		return fmt.Errorf("seed %s: %w", s.Kind.Title, err)
	}
	answers := bufio.NewReader(conn)
	for {
		line, err := answers.ReadString('\n')
		if err != nil {
			return fmt.Errorf("seed %s: %w", s.Kind.Title, err)
		}
		if strings.HasPrefix(line, "+PONG") {
			return nil
		}
	}
}

// Dial connects to the service.
func (s *Service) Dial(ctx context.Context) (net.Conn, error) { return s.run.Dial(ctx, s.Kind.Port) }

// Close ends the service and removes its sandbox with all that it holds.
func (s *Service) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.run.Close(ctx); err != nil {
		return fmt.Errorf("end %s: %w", s.Kind.Title, err)
	}
	return nil
}

// maxSaid bounds what is kept of a service's own words.
const maxSaid = 4 << 10

// says keeps the end of what a service prints.
type says struct {
	sandbox.NopSink
	mu   sync.Mutex
	tail []byte
}

// Stderr implements sandbox.Sink.
func (s *says) Stderr(_ time.Duration, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = append(s.tail, p...)
	s.tail = s.tail[max(0, len(s.tail)-maxSaid):]
}

// String is what was kept.
func (s *says) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.tail))
}
