package docker

import (
	"fmt"
	"net/netip"
	"path"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
)

// noProfile leaves out the engine's own filter of system calls, which refuses them
// unseen. The agent installs one before it starts the target (package seccomp).
const noProfile = "seccomp=unconfined"

// capabilities are the agent's: to plant files as their owner, to become and to
// kill the target, to trace it, to see to the network. The target has none. The agent gives
// SYS_ADMIN up, and is unable to regain it, as soon as the root has its bound.
var capabilities = []string{
	"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_ADMIN", "SETGID", "SETPCAP", "SETUID", "SYS_ADMIN", "SYS_PTRACE",
}

// nameserver is a home router's address, as ordinary a resolver as there is. Nothing answers there.
var nameserver = netip.MustParseAddr("192.168.1.1")

// sysctlIPv6 is set to 0 because an engine turns IPv6 off in a container without
// a network, and a server that tries it has to be seen trying.
const sysctlIPv6 = "net.ipv6.conf.all.disable_ipv6"

// config is the part of a container's description that could be an image's too.
// Everything that an image can say is said here, so that the image cannot.
func (p *setup) config() *container.Config {
	soon := 1
	return &container.Config{
		Image:    p.spec.Image,
		Hostname: p.spec.Hostname,
		User:     "0:0",
		// Env has names without a value: the image's variables are taken away.
		Env:         clearEnv(p.image.env),
		Entrypoint:  []string{agentPath},
		Cmd:         []string{},
		WorkingDir:  "/",
		Labels:      labels(p.spec.RunID, p.name),
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		StopSignal:  "SIGKILL",
		StopTimeout: &soon,
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
		// The agent's stdin ends with our connection: it then kills everything and
		// ends, even where coalmine itself was killed.
		OpenStdin: true, StdinOnce: true,
	}
}

// hostConfig is what only the one who makes a container can say.
func (p *setup) hostConfig() *container.HostConfig {
	no := false
	h := &container.HostConfig{
		NetworkMode:  "none",
		IpcMode:      "private",
		CgroupnsMode: container.CgroupnsModePrivate,
		CapDrop:      []string{"ALL"},
		CapAdd:       capabilities,
		SecurityOpt:  []string{"no-new-privileges", noProfile},
		DNS:          []netip.Addr{nameserver}, // else the host's own are shown
		DNSSearch:    []string{"."},
		LogConfig:    container.LogConfig{Type: "none"},
		Runtime:      p.spec.Runtime,
		ShmSize:      64 << 20,
		Tmpfs:        map[string]string{},
		Init:         &no, // an engine may be set to add an init of its own
		RestartPolicy: container.RestartPolicy{
			Name: container.RestartPolicyDisabled,
		},
	}
	if !p.noIPv6 {
		h.Sysctls = map[string]string{sysctlIPv6: "0"}
	}
	memory := p.spec.Limits.Memory + diskBound(p.spec)
	for _, w := range p.places {
		memory += w.size
		if w.volume {
			h.Mounts = append(h.Mounts, w.mount(labels(p.spec.RunID, p.name)))
		} else {
			h.Tmpfs[w.path] = "rw,exec," + w.options()
		}
	}
	if p.spec.Limits.Memory > 0 {
		// The agent holds the target to its limit and says so. This is the wall
		// behind that, and holds the file systems in memory as well.
		h.Memory = memory + h.ShmSize + headroom
		h.MemorySwap = h.Memory
	}
	if p.spec.Limits.Pids > 0 {
		tasks := int64(p.spec.Limits.Pids) + 256
		h.PidsLimit = &tasks
	}
	return h
}

// options are the place's as mount(8) would take them. Its owner is not among them, since
// Podman refuses that: the agent changes it.
func (w place) options() string { return fmt.Sprintf("nosuid,nodev,size=%d,mode=%04o", w.size, w.mode) }

// mount is the place as an anonymous volume in memory, which the engine removes
// with the container.
func (w place) mount(labels map[string]string) mount.Mount {
	return mount.Mount{
		Type: mount.TypeVolume, Target: w.path,
		VolumeOptions: &mount.VolumeOptions{
			NoCopy: true, Labels: labels,
			DriverConfig: &mount.Driver{Name: "local", Options: map[string]string{"type": "tmpfs", "device": "tmpfs", "o": w.options()}},
		},
	}
}

// clearEnv names each variable of an image, which without a value removes it.
func clearEnv(env []string) []string {
	out := []string{}
	for _, kv := range env {
		if name, _, ok := strings.Cut(kv, "="); ok && name != "" && name != "PATH" {
			out = append(out, name)
		}
	}
	return out
}

// addPath appends the directories of an image's PATH that a target's lacks:
// where an image puts its programs is for the image to say.
func addPath(env []string, image []string) []string {
	var dirs []string
	for _, kv := range image {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs = strings.Split(v, ":")
		}
	}
	out := make([]string, len(env))
	copy(out, env)
	for i, kv := range out {
		value, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, d := range dirs {
			if path.IsAbs(d) && !strings.Contains(":"+value+":", ":"+d+":") {
				value += ":" + d
			}
		}
		out[i] = "PATH=" + strings.TrimPrefix(value, ":")
	}
	return out
}
