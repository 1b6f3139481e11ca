package cli

import (
	"errors"
	"os"
	"os/user"
	"strconv"

	"github.com/coalmine-dev/coalmine/sandbox/spy"
)

// account is a user with its group; 0 is root.
type account struct{ uid, gid int }

// nobody is the account that owns nothing.
var nobody = account{65534, 65534}

// becomes says whom coalmine spy becomes once it watches, and why it stays root, "" where it does not: the user that
// --run-as names, else who called sudo. Where neither is known, it is whoever owns the directory of the logs or
// the processes that are named, since it goes on to write the one and to look at the others, else nobody.
func becomes(runAs, out string, pids []int) (as account, why string, err error) {
	if os.Geteuid() != 0 {
		if runAs != "" {
			return as, "", usage("run it with sudo, or without --run-as", "--run-as %s: only root can become another user", runAs)
		}
		return as, "", nil
	}
	if runAs != "" {
		as, err = accountOf(runAs)
		return as, "", err
	}
	if as, ok := invoker(); ok {
		return as, "", nil
	}
	if !spy.MayBecome() {
		return account{}, "", nil // as in a container: it has no power but what it was given
	}
	as, why = ownerOf(out, pids)
	return as, why, nil
}

// accountOf finds a user by name or number.
func accountOf(name string) (account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		u, err = user.LookupId(name)
	}
	if err != nil {
		return account{}, usage("name a user of this machine", "--run-as %s: there is no such user", name)
	}
	uid, err := strconv.Atoi(u.Uid)
	gid, other := strconv.Atoi(u.Gid)
	return account{uid, gid}, errors.Join(err, other)
}

// invoker is who called sudo.
func invoker() (account, bool) {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, other := strconv.Atoi(os.Getenv("SUDO_GID"))
	return account{uid, gid}, err == nil && other == nil
}

// ownerOf is the one account to which the directory and the processes belong, nobody without any of them, and root
// with the reason where root owns one.
func ownerOf(out string, pids []int) (account, string) {
	owners := map[account]string{}
	take := func(name, what string) {
		uid, gid := spy.Owner(name)
		as, err := accountOf(strconv.Itoa(uid))
		if err != nil {
			as = account{uid, gid}
		}
		if as.uid == 0 {
			as = account{}
		} else if as.gid == 0 {
			as.gid = nobody.gid
		}
		owners[as] = what
	}
	if out != "" {
		take(out, out)
	}
	for _, pid := range pids {
		take("/proc/"+strconv.Itoa(pid), "process "+strconv.Itoa(pid))
	}
	switch what, roots := owners[account{}]; {
	case roots:
		return account{}, what + " belongs to root"
	case len(owners) > 1:
		return account{}, "what it works on belongs to several users"
	}
	for as := range owners {
		return as, ""
	}
	return nobody, ""
}
