package probe

import (
	"crypto/rand"
	"testing"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func TestOtherHome(t *testing.T) {
	set, err := canaries.New(rand.Reader, canaries.Options{User: "dana", Home: "/home/dana", Workspace: []string{"workspace"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op        trace.Op
		path, err string
		want      account
	}{
		{trace.OpOpen, "/root/.ssh/id_rsa", "EACCES", account{"root", "/root"}},
		{trace.OpOpen, "/root/.ssh", "ENOENT", account{"root", "/root"}},
		{trace.OpStat, "/home/ubuntu/.aws/credentials", "ENOENT", account{"ubuntu", "/home/ubuntu"}},
		{trace.OpOpen, "/root/.git-credentials", "ENOENT", account{"root", "/root"}},
		{trace.OpOpen, "/root/.ssh/id_rsa", "", account{}},              // it was there
		{trace.OpUnlink, "/root/.ssh/id_rsa", "ENOENT", account{}},      // not looked at
		{trace.OpOpen, "/home/dana/.ssh/id_dsa", "ENOENT", account{}},   // its own
		{trace.OpOpen, "/root/.ssh/id_other", "ENOENT", account{}},      // no decoy's place
		{trace.OpOpen, "/root", "EACCES", account{}},                    // any program may
		{trace.OpOpen, "/home/dev/workspace/.env", "ENOENT", account{}}, // a workspace's
		{trace.OpOpen, "/home/dev/.env", "ENOENT", account{}},           // above the server's directory
		{trace.OpOpen, "/home/../.env", "ENOENT", account{}},
		{trace.OpOpen, "/home/-x/.env", "ENOENT", account{}},
		{trace.OpOpen, "/home/.env", "ENOENT", account{}},
		{trace.OpOpen, "/srv/.env", "ENOENT", account{}},
		{trace.OpOpen, "", "ENOENT", account{}},
	} {
		o := newOtherHome(set, []string{"", "/home/dev/work/server", "/home/dana/workspace"})
		ret := int64(0)
		if c.err != "" {
			ret = -1
		}
		o.record(&trace.Record{Op: c.op, Path: c.path, Err: c.err, Ret: ret})
		if o.found != c.want {
			t.Errorf("%s %s %s: %+v", c.op, c.path, c.err, o.found)
		}
	}
	o := newOtherHome(set, nil)
	for _, name := range []string{"/root/.netrc", "/home/ubuntu/.netrc"} {
		o.record(&trace.Record{Op: trace.OpOpen, Path: name, Err: "ENOENT", Ret: -1})
	}
	if o.found.home != "/root" {
		t.Errorf("the first is %+v", o.found)
	}
}
