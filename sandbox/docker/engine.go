package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
)

const engineHint = "start Docker (coalmine doctor says what is missing), or use --sandbox local"

// connect finds an engine and lets it answer once, which settles the API's version.
func connect(ctx context.Context) (*client.Client, error) {
	opts := []client.Opt{client.FromEnv}
	if host := currentContext(); host != "" {
		opts = append(opts, client.WithHost(host))
	}
	cli, err := client.New(opts...)
	if err != nil {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("docker: %w", err), Hint: "check DOCKER_HOST and DOCKER_CERT_PATH"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pingTimeout, fmt.Errorf("docker: the engine at %s does not answer", cli.DaemonHost()))
	defer cancel()
	ping, err := cli.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err == nil && ping.OSType != "" && ping.OSType != "linux" {
		err = &sandbox.UsageError{Err: fmt.Errorf("docker: the engine runs %s containers", ping.OSType), Hint: "switch Docker to Linux containers"}
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		_ = cli.Close()
		return nil, explain(err, "reach the engine")
	}
	return cli, nil
}

// currentContext is the engine that the docker command would use, "" for the
// usual one: Docker Desktop and others are only named there.
func currentContext() string {
	if os.Getenv(client.EnvOverrideHost) != "" {
		return ""
	}
	dir := os.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".docker")
	}
	name := os.Getenv("DOCKER_CONTEXT")
	if name == "" {
		var config struct{ CurrentContext string }
		if !readJSON(filepath.Join(dir, "config.json"), &config) {
			return ""
		}
		name = config.CurrentContext
	}
	if name == "" || name == "default" {
		return ""
	}
	sum := sha256.Sum256([]byte(name))
	var meta struct {
		Endpoints struct{ Docker struct{ Host string } }
	}
	readJSON(filepath.Join(dir, "contexts", "meta", hex.EncodeToString(sum[:]), "meta.json"), &meta)
	if host := meta.Endpoints.Docker.Host; !strings.HasPrefix(host, "ssh:") {
		return host
	}
	return ""
}

func readJSON(path string, v any) bool {
	b, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(b, v) == nil
}

// explain tells a user's mistake from a failure: what can be mended is a
// UsageError with a hint.
func explain(err error, doing string) error {
	var usage *sandbox.UsageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	wrapped := fmt.Errorf("docker: %s: %w", doing, err)
	switch {
	case strings.Contains(err.Error(), "permission denied while trying to connect"):
		return &sandbox.UsageError{Err: wrapped, Hint: "run it with sudo, join the group docker, or use --sandbox local"}
	case client.IsErrConnectionFailed(err):
		return &sandbox.UsageError{Err: wrapped, Hint: engineHint}
	case cerrdefs.IsPermissionDenied(err), cerrdefs.IsUnauthorized(err):
		return &sandbox.UsageError{Err: wrapped, Hint: "this engine does not let you make containers: use another, or --sandbox local"}
	}
	return wrapped
}

// errNoIPv6: the machine's kernel was started without IPv6, and has no such setting.
var errNoIPv6 = errors.New("docker: this machine has no IPv6")

// explainStart knows what in a setup makes an engine refuse a container.
func explainStart(err error, p *setup, doing string) error {
	spec := p.spec
	if !p.noIPv6 && strings.Contains(err.Error(), sysctlIPv6) {
		return errNoIPv6
	}
	if spec.Runtime != "" && strings.Contains(err.Error(), "runtime") {
		return &sandbox.UsageError{
			Err:  fmt.Errorf("docker: %s with runtime %s: %w", doing, spec.Runtime, err),
			Hint: "register the runtime in the engine's daemon.json, or leave out --runtime",
		}
	}
	return explain(err, doing)
}

// image is what of an image matters here.
type image struct {
	name, id, arch string
	env            []string
}

// missingImage says that the engine does not have an image.
type missingImage struct{ name string }

// Error implements error.
func (e missingImage) Error() string { return "docker: the image " + e.name + " is not here" }

// findImage looks an image up among those that the engine has.
func findImage(ctx context.Context, cli *client.Client, name string) (*image, error) {
	r, err := cli.ImageInspect(ctx, name)
	switch {
	case cerrdefs.IsNotFound(err) && name == DefaultImage:
		return nil, &sandbox.UsageError{
			Err:  missingImage{name},
			Hint: "build it with make image, name another by --image, or use --sandbox local",
		}
	case cerrdefs.IsNotFound(err):
		return nil, &sandbox.UsageError{Err: missingImage{name}, Hint: "docker pull " + name}
	case cerrdefs.IsInvalidArgument(err):
		return nil, &sandbox.UsageError{Err: fmt.Errorf("docker: image %q: %w", name, err), Hint: "name it as docker run would"}
	case err != nil:
		return nil, explain(err, "inspect the image "+name)
	}
	if r.Os != "" && r.Os != "linux" {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("docker: the image %s is for %s", name, r.Os), Hint: "use a Linux image"}
	}
	img := &image{name: name, id: r.ID, arch: r.Architecture}
	if r.Config != nil {
		img.env = r.Config.Env
	}
	return img, nil
}
