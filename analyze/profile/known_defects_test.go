package profile

import (
	"cmp"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// effects are those of a few records of a running server.
func effects(records ...trace.Record) []finding.Effect {
	b := builder()
	b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/python3"})
	for _, r := range records {
		r.Tid = cmp.Or(r.Tid, 1)
		b.Record(&r)
	}
	return b.Profile().Effects[1:]
}

// A path that only looks like a system's own is the secret that it leads to: what
// is ordinary is decided after what is secret.
func TestSecretBeforeNoise(t *testing.T) {
	for _, p := range []string{"/proc/self/root" + key, "/usr/.." + key, "/usr/lib/../../home/dana/.ssh/id_rsa", "/proc/1/task/1/root" + key, "/tmp/.." + key} {
		e := effects(trace.Record{Op: trace.OpOpen, Call: "openat", Path: p, Flags: "O_RDONLY"})
		if len(e) != 1 || e[0].Kind != finding.Secret || e[0].Rung != finding.RungOpened || e[0].Noise != "" {
			t.Errorf("%s: %+v", p, e)
		}
	}
}

// What was not there was not read, and a name that holds a secret's is another file.
func TestAttemptIsNoRead(t *testing.T) {
	e := effects(trace.Record{Op: trace.OpOpen, Call: "openat", Path: key, Flags: "O_RDONLY", Ret: -1, Err: "ENOENT"})
	if len(e) != 1 || e[0].Kind != finding.Secret || e[0].Rung != finding.RungAttempted {
		t.Errorf("a failed open: %+v", e)
	}
	for _, p := range []string{"/srv/notes/aws/credentials_test.go", "/usr/lib/python3/.ssh/id_rsa.py", key + ".pub.example", "/srv/notes/.ssh/id_rsa"} {
		for _, e := range effects(trace.Record{Op: trace.OpOpen, Call: "openat", Path: p, Flags: "O_RDONLY"}) {
			if e.Kind == finding.Secret {
				t.Errorf("%s is taken for a secret: %+v", p, e)
			}
		}
	}
}

// Ways of reading and sending that a list of three calls leaves out.
func TestWaysBesidesOpenatAndConnect(t *testing.T) {
	for name, c := range map[string]struct {
		r    trace.Record
		want finding.EffectKind
	}{
		"relative to a directory": {trace.Record{Op: trace.OpOpen, Call: "openat", Path: key, Given: "id_rsa", Real: true, Flags: "O_RDONLY"}, finding.Secret},
		"openat2":                 {trace.Record{Op: trace.OpOpen, Call: "openat2", Path: key, Real: true, Flags: "O_RDONLY"}, finding.Secret},
		"io_uring":                {trace.Record{Op: trace.OpRefused, Call: "io_uring_setup", Ret: -1, Err: "ENOSYS", Injected: true}, finding.Tamper},
		"a unix socket":           {trace.Record{Op: trace.OpConnect, Call: "connect", Addr: &trace.Addr{Family: "unix", Host: "/run/docker.sock"}}, finding.UnixSocket},
		"an abstract socket":      {trace.Record{Op: trace.OpConnect, Call: "connect", Addr: &trace.Addr{Family: "unix", Host: "@x"}}, finding.UnixSocket},
		"a datagram":              {trace.Record{Op: trace.OpSend, Call: "sendto", Addr: &trace.Addr{Family: "inet", Host: "203.0.113.9", Port: 9999}}, finding.NetConnect},
		"the loopback":            {trace.Record{Op: trace.OpConnect, Call: "connect", Addr: &trace.Addr{Family: "inet", Host: "127.0.0.1", Port: 6379}}, finding.NetConnect},
		"a name server":           {trace.Record{Op: trace.OpSend, Call: "sendto", Addr: &trace.Addr{Family: "inet", Host: "192.168.1.1", Port: 53}}, finding.NetConnect},
	} {
		e := effects(c.r)
		if len(e) != 1 || e[0].Kind != c.want {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// What was refused because nothing was to be done is no change; what only the sandbox refused is one.
func TestRefusedRemovals(t *testing.T) {
	for err, noise := range map[string]string{"ENOTEMPTY": noiseAbsent, "ENOENT": noiseAbsent, "EACCES": "", "EROFS": ""} {
		e := effects(trace.Record{Op: trace.OpUnlink, Call: "rmdir", Path: "/home/dana/notes", Ret: -1, Err: err})
		if len(e) != 1 || e[0].Kind != finding.FileDelete || e[0].Noise != noise {
			t.Errorf("%s: %+v", err, e)
		}
	}
}

// A key is looked for in the homes that the list of users names: in vain, and told.
func TestAnotherUsersHome(t *testing.T) {
	for p, want := range map[string]bool{"/root/.ssh/id_rsa": true, "/home/eve/.ssh/id_rsa": true, "/proc/self/root/root/.ssh/id_rsa": true,
		"/root/.bashrc": false, "/home/.ssh/id_rsa": false, "/home/eve/x/.ssh/id_rsa": false, "/rooted/.ssh/id_rsa": false, "/srv/home/eve/.ssh/id_rsa": false} {
		e := effects(trace.Record{Op: trace.OpOpen, Call: "openat", Path: p, Flags: "O_RDONLY", Ret: -1, Err: "EACCES"})
		if len(e) != 1 || (e[0].Kind == finding.Secret) != want || want && (e[0].Rung != finding.RungAttempted || e[0].Elsewhere != cleanProc(p)) {
			t.Errorf("%s: %+v", p, e)
		}
		for _, e := range effects(trace.Record{Op: trace.OpOpen, Call: "openat", Path: p, Flags: "O_RDONLY"}) {
			if e.Kind == finding.Secret {
				t.Errorf("%s is taken for a decoy: %+v", p, e)
			}
		}
	}
}

// A server that lies in a user's HOME has its own files there.
func TestOwnPlaceInAnotherUsersHome(t *testing.T) {
	b := NewBuilder(Context{Home: "/home/dana", ServerDir: "/home/eve/work/notes", Workspaces: []string{"/home/eve/data"}, Canaries: []canaries.Canary{
		{ID: "dotenv", Kind: "env", Value: "a-value-that-stands-nowhere-else", Path: "/home/dana/work/.env"},
		{ID: "npm", Kind: "npm", Value: "another-value-that-stands-nowhere", Path: "/home/dana/.npmrc"},
		{ID: "data", Kind: "env", Value: "a-third-value-that-stands-nowhere", Path: "/home/dana/data/.env"},
	}})
	for _, p := range []string{"/home/eve/work/.env", "/home/eve/.npmrc", "/home/eve/data/.env"} {
		b.Record(&trace.Record{Op: trace.OpOpen, Tid: 1, Call: "openat", Path: p, Flags: "O_RDONLY", Ret: -1, Err: "ENOENT"})
	}
	for _, e := range b.Profile().Effects {
		if e.Kind == finding.Secret {
			t.Errorf("%+v", e)
		}
	}
}
