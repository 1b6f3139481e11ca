package run

import (
	"crypto/rand"
	"testing"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func TestForeignHome(t *testing.T) {
	set, err := canaries.New(rand.Reader, canaries.Options{User: "dana", Home: "/home/dana", Workspace: []string{"workspace"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op        trace.Op
		path, err string
		want      plan.Account
	}{
		{trace.OpOpen, "/root/.ssh/id_rsa", "EACCES", plan.Account{User: "root", Home: "/root"}},
		{trace.OpOpen, "/root/.ssh", "ENOENT", plan.Account{User: "root", Home: "/root"}},
		{trace.OpStat, "/home/ubuntu/.aws/credentials", "ENOENT", plan.Account{User: "ubuntu", Home: "/home/ubuntu"}},
		{trace.OpOpen, "/root/.git-credentials", "ENOENT", plan.Account{User: "root", Home: "/root"}},
		{trace.OpOpen, "/root/.ssh/id_rsa", "", plan.Account{}},              // it was there
		{trace.OpUnlink, "/root/.ssh/id_rsa", "ENOENT", plan.Account{}},      // not looked at
		{trace.OpOpen, "/home/dana/.ssh/id_dsa", "ENOENT", plan.Account{}},   // its own
		{trace.OpOpen, "/root/.ssh/id_other", "ENOENT", plan.Account{}},      // no decoy's place
		{trace.OpOpen, "/root", "EACCES", plan.Account{}},                    // any program may
		{trace.OpOpen, "/home/dev/workspace/.env", "ENOENT", plan.Account{}}, // a workspace's
		{trace.OpOpen, "/home/dev/.env", "ENOENT", plan.Account{}},           // above the server's directory
		{trace.OpOpen, "/home/../.env", "ENOENT", plan.Account{}},
		{trace.OpOpen, "/home/-x/.env", "ENOENT", plan.Account{}},
		{trace.OpOpen, "/home/.env", "ENOENT", plan.Account{}},
		{trace.OpOpen, "/srv/.env", "ENOENT", plan.Account{}},
		{trace.OpOpen, "", "ENOENT", plan.Account{}},
	} {
		o := newForeignHome(set, []string{"", "/home/dev/work/server", "/home/dana/workspace"})
		ret := int64(0)
		if c.err != "" {
			ret = -1
		}
		o.record(&trace.Record{Op: c.op, Path: c.path, Err: c.err, Ret: ret})
		if o.found != c.want {
			t.Errorf("%s %s %s: %+v", c.op, c.path, c.err, o.found)
		}
	}
	o := newForeignHome(set, nil)
	for _, name := range []string{"/root/.netrc", "/home/ubuntu/.netrc"} {
		o.record(&trace.Record{Op: trace.OpOpen, Path: name, Err: "ENOENT", Ret: -1})
	}
	if o.found.Home != "/root" {
		t.Errorf("the first is %+v", o.found)
	}
}
