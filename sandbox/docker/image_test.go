//go:build linux && e2e

package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// buildImage makes an image of a Dockerfile and files, and removes it at the end.
func buildImage(t *testing.T, cli *client.Client, dockerfile string, files map[string][]byte) string {
	t.Helper()
	var b bytes.Buffer
	a := tar.NewWriter(&b)
	add := func(name string, data []byte) {
		if err := a.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	add("Dockerfile", []byte(dockerfile))
	for name, data := range files {
		add(name, data)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	name := "coalmine-test/" + strings.ToLower(t.Name())
	r, err := cli.ImageBuild(t.Context(), &b, client.ImageBuildOptions{
		Tags: []string{name}, Remove: true, ForceRemove: true, NetworkMode: "none", Version: "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil || !bytes.Contains(said, []byte("Successfully built")) {
		t.Fatalf("build: %v\n%s", err, said)
	}
	t.Cleanup(func() {
		if _, err := cli.ImageRemove(context.Background(), name, client.ImageRemoveOptions{Force: true, PruneChildren: true}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// An image says as much as it can against us: nothing of it may matter.
func TestHostileImage(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, cli := specFor(t, debian, "sh", "-c",
		`env | grep -v -e ^PWD= -e ^_= | sort; ls /data; echo x >/data/full; wc -c </etc/ld.so.preload; cat /proc/1/comm; id -u`)
	sandboxtest.Need(t, "strace")
	spec.Image = buildImage(t, cli, `FROM `+debian+`
ENV GODEBUG=panicnil=1 GOTRACEBACK=crash LD_PRELOAD=/evil.so BASH_ENV=/evil IMAGE_SAYS=hello PATH=/evil/bin:/usr/bin:/bin
RUN mkdir -p /evil/bin /data && chmod 777 /data && echo kept >/data/file && echo /evil.so >/etc/ld.so.preload && echo junk >/evil.so \
 && printf '#!/bin/sh\necho evil >>/data/ran\n' >/evil/bin/evil && chmod 755 /evil/bin/evil \
 && cp /evil/bin/evil /usr/bin/strace && rm -f /usr/sbin/init && ln -s /evil/bin/evil /usr/sbin/init
VOLUME /data
USER 4711:4711
WORKDIR /evil
HEALTHCHECK --interval=1s CMD /evil/bin/evil
STOPSIGNAL SIGCONT
LABEL dev.coalmine.run=forged
ENTRYPOINT ["/evil/bin/evil"]
CMD ["evil"]
`, nil)
	spec.TraceSet = "core"
	rec, exit := outcome(t, spec)
	// The loader complains of the image's own preload list, which is the target's to have.
	want := "HOME=/home/alex\nPATH=/usr/local/bin:/usr/bin:/bin:/evil/bin\nfile\n9\ninit\n1000\n"
	if rec.Out() != want || exit.Code != 0 || exit.Reason != "" || len(rec.TraceErrors()) > 0 {
		t.Errorf("got\n%s\nwant\n%s\nexit %+v\nstderr %s\nerrors %v", rec.Out(), want, exit, rec.Err(), rec.TraceErrors())
	}
}

// What the target sees of its surroundings is neither the host's nor ours.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	const script = `cat /etc/resolv.conf /etc/hosts /proc/net/dev /proc/net/if_inet6 /proc/self/mountinfo /proc/self/cgroup
		for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline; cat $p/comm; cat $p/environ; done 2>/dev/null; ls -a / /tmp /home /root /run`
	spec, _ := specFor(t, debian, "sh", "-c", script)
	dir := t.TempDir()
	spec.ServerDir, spec.Workspaces = dir, []string{"/data/work"}
	rec, _ := outcome(t, spec)
	out := rec.Out()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"coalmine", "canary", "sinkhole", "probe", " " + host + "\n", "eth0"} {
		if i := strings.Index(strings.ToLower(out), word); i >= 0 {
			t.Errorf("%q is to be seen: …%s…", word, out[max(0, i-60):min(len(out), i+60)])
		}
	}
	for _, line := range []string{"nameserver 192.168.1.1", " lo\n", "/data/work"} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is missing in\n%s", line, out)
		}
	}
	if b, err := os.ReadFile("/etc/resolv.conf"); err == nil {
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 2 && strings.Contains(out, f[1]) {
				t.Errorf("the host's %s is to be seen", strings.TrimSpace(line))
			}
		}
	}
}

// Who looks the user up, by his id or by his name, is led to the same HOME as
// by the environment, whatever the image's lists say.
func TestUserIsListed(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, cli := specFor(t, debian, "sh", "-c", `id -un; getent passwd "$(id -u)" | cut -d: -f6; getent passwd root | cut -d: -f6; id -gn; echo ~alex; ls -l /etc/passwd | cut -c1-10`)
	spec.Image = buildImage(t, cli, `FROM `+debian+`
RUN echo 'node:x:1000:1000::/home/node:/bin/sh' >>/etc/passwd && echo 'node:x:1000:' >>/etc/group && rm -f /etc/passwd- /etc/group-
`, nil)
	rec, exit := outcome(t, spec)
	if want := "alex\n/home/alex\n/root\nalex\n/home/alex\n-rw-r--r--\n"; rec.Out() != want || exit.Code != 0 {
		t.Errorf("got\n%s\nwant\n%s\n%+v %s", rec.Out(), want, exit, rec.Err())
	}
}

// Nothing that a target can write to is without a bound.
func TestDiskIsBounded(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	const script = `for d in /tmp /var/tmp /home/alex /data/work /dev/shm "$0"; do
		dd if=/dev/zero of=$d/big bs=1M count=200 2>&1 | grep -q -i "no space left" && echo "$d full"; rm -f $d/big; done
		find / -xdev -fstype overlay -writable -not -type l 2>/dev/null`
	dir := t.TempDir()
	spec, _ := specFor(t, debian, "sh", "-c", script, dir)
	spec.ServerDir, spec.Workspaces, spec.Limits.File = dir, []string{"/data/work"}, 0
	rec, _ := outcome(t, spec)
	want := "/tmp full\n/var/tmp full\n/home/alex full\n/data/work full\n/dev/shm full\n" + filepath.Clean(dir) + " full\n"
	if rec.Out() != want {
		t.Errorf("got\n%s\nwant\n%s", rec.Out(), want)
	}
}

// A directory of the image's that every user may write to lies on the engine's
// disk, and no file system bounds it: what is written there ends the run at the limit.
func TestDirectoriesOfAnImageAreBounded(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	// Many files, each below the bound of one, by processes that end.
	spec, cli := specFor(t, debian, "sh", "-c", `for i in $(seq 64); do dd if=/dev/zero of=/open/$i bs=1M count=8 2>/dev/null || exit; done; du -sm /open; sleep 2`)
	spec.Image = buildImage(t, cli, "FROM "+debian+"\nRUN mkdir /open && chmod 1777 /open\n", nil)
	spec.Limits = agent.Limits{Disk: 64 << 20, File: 16 << 20}
	rec, x := outcome(t, spec)
	if !strings.HasPrefix(x.Reason, "limit: disk") {
		t.Errorf("exit %+v, stdout %q", x, rec.Out())
	}
}

// TestInterface: beside the loopback there is an interface that names its gateway, though
// the engine gave the container none.
func TestInterface(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "sh", "-c", "cat /proc/net/dev /proc/net/route /etc/resolv.conf")
	spec.Network = &agent.Network{Sinkhole: sinkhole.Config{Interface: "eth0"}}
	rec, _ := outcome(t, spec)
	// The gateway is written as a number in the machine's order.
	for _, want := range []string{"eth0:", "eth0\t00000000\t0101A8C0", "nameserver 192.168.1.1\n"} {
		if !strings.Contains(rec.Out(), want) {
			t.Errorf("%q is missing in\n%s\n%v", want, rec.Out(), rec.Events())
		}
	}
}
