//go:build linux && e2e

package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
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

// What is written to a directory of the image's ends at the bound: by processes that a
// sample does not see, in many files, by the directory's owner, and in a volume of the image's.
func TestDirectoriesOfAnImageAreBounded(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	// Each file is below the bound of one; the orphans' parent ends at once.
	spec, cli := specFor(t, debian, "sh", "-c", `for d in /open /var/lib/own /volume /tmp/volume; do
		for i in $(seq 24); do (dd if=/dev/zero of=$d/$i bs=1M count=8 2>/dev/null &) ; sleep 0.05; done; sleep 1
		dd if=/dev/zero of=$d/last bs=1M count=8 2>&1 | grep -i -o "no space left"; rm -f $d/*; done; sleep 1`)
	spec.Image = buildImage(t, cli, "FROM "+debian+`
RUN mkdir /open /var/lib/own /volume && mkdir /tmp/volume && chmod 1777 /open /volume /tmp/volume && chown 1000 /var/lib/own
VOLUME /volume /tmp/volume
`, nil)
	spec.Limits = agent.Limits{Disk: 64 << 20, File: 16 << 20}
	rec, x := outcome(t, spec)
	if want := strings.Repeat("No space left\n", 4); rec.Out() != want || x.Reason != "" || x.Code != 0 {
		t.Errorf("exit %+v, stdout %q, stderr %q", x, rec.Out(), rec.Err())
	}
	if full := sandboxtest.EventsOf[session.EventFull](rec); len(full) == 0 {
		t.Error("no event says that a file system was full")
	}
}

// A server of an image's that keeps its state beside its code does so as before: it reads,
// changes, renames and removes what is its own there, and nothing of others'.
func TestAnImagesServerKeepsItsState(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, cli := specFor(t, debian, "sh", "-c", `cd /app && cat state volume/kept && echo more >>state && cat state && mkdir -p cache/a && mv state cache/a/ && cat cache/a/state &&
		rm -r old && mkdir old && ls -A old && echo x >/var/lib/x/db && cat /var/lib/x/db && echo y >volume/new && ls volume
		echo z 2>/dev/null >/app/code.py || echo kept out; echo z 2>/dev/null >/etc/passwd || echo kept out; ln code.py hard 2>/dev/null; readlink link; stat -c %a:%u:%g / /app /app/old /var/lib/x`)
	spec.Image = buildImage(t, cli, "FROM "+debian+`
RUN mkdir -p /app/old /app/volume /var/lib/x && echo 1 >/app/state && echo 2 >/app/volume/kept && echo 3 >/app/old/file \
 && ln -s code.py /app/link && chown -R 1000:1000 /app /var/lib/x && echo pass >/app/code.py && chown 0:0 /app/code.py
VOLUME /app/volume
`, nil)
	spec.Workspaces = []string{"/app/volume/work"} // a file system in memory below the volume
	rec, x := outcome(t, spec)
	want := "1\n2\n1\nmore\n1\nmore\nx\nkept\nnew\nwork\nkept out\nkept out\ncode.py\n755:0:0\n755:1000:1000\n755:1000:1000\n755:1000:1000\n"
	if rec.Out() != want || x.Code != 0 || x.Reason != "" {
		t.Errorf("exit %+v\n%s\nwant\n%s\nstderr %s", x, rec.Out(), want, rec.Err())
	}
}

// Whoever could mount gives that up before the target's program: the agent, the tracer and each of their threads.
func TestNobodyKeepsTheRightToMount(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "strace")
	spec, _ := specFor(t, debian, "sh", "-c", `grep -h -e ^CapEff -e ^CapPrm -e ^CapInh -e ^CapBnd -e ^CapAmb /proc/[0-9]*/task/*/status | cut -f2`)
	spec.TraceSet = "core"
	rec, x := outcome(t, spec)
	sets := strings.Fields(rec.Out())
	if len(sets) < 15 || x.Code != 0 {
		t.Fatalf("exit %+v, stdout %q, stderr %q", x, rec.Out(), rec.Err())
	}
	for _, set := range sets {
		if n, err := strconv.ParseUint(set, 16, 64); err != nil || n&(1<<unix.CAP_SYS_ADMIN) != 0 {
			t.Errorf("%s: %v", set, err)
		}
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
