package local

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// etcFiles is an ordinary /etc, made up: nothing in it is the host's.
func etcFiles(spec sandbox.Spec, uid, gid int) []rootfs.File {
	name, home := spec.User.Name, spec.User.Home
	if name == "" {
		name = "user"
	}
	if home == "" {
		home = "/"
	}
	hostname := spec.Hostname
	if hostname == "" {
		hostname = "localhost"
	}
	text := map[string]string{
		"passwd": accounts(fmt.Sprintf("%s:x:%d:%d:%s,,,:%s:/bin/bash", name, uid, gid, name, home), "root:x:0:0:root:/root:/bin/bash",
			"daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin", "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin"),
		"group":         accounts(fmt.Sprintf("%s:x:%d:", name, gid), "root:x:0:", "daemon:x:1:", "tty:x:5:", "nogroup:x:65534:"),
		"hosts":         "127.0.0.1\tlocalhost\n127.0.1.1\t" + hostname + "\n\n::1     localhost ip6-localhost ip6-loopback\nff02::1 ip6-allnodes\nff02::2 ip6-allrouters\n",
		"resolv.conf":   resolvConf(spec),
		"nsswitch.conf": "passwd:         files\ngroup:          files\nshadow:         files\nhosts:          files dns\nnetworks:       files\nprotocols:      files\nservices:       files\n",
		"hostname":      hostname + "\n",
		"machine-id":    session.MachineID(spec.RunID) + "\n",
	}
	var files []rootfs.File
	for _, f := range []string{"passwd", "group", "hosts", "resolv.conf", "nsswitch.conf", "hostname", "machine-id"} {
		files = append(files, rootfs.File{Path: "/etc/" + f, Data: []byte(text[f]), Mode: 0o644, Root: true})
	}
	return append(files, rootfs.File{Path: "/etc/mtab", Link: "../proc/self/mounts", Root: true})
}

// resolvConf names the sinkhole's server. Without a sinkhole it is a resolver's
// usual address on the loopback: a query gets as far as being sent, and so is
// seen with the name that it asks for.
func resolvConf(spec sandbox.Spec) string {
	if spec.Network != nil {
		return "nameserver " + sinkhole.Nameserver.String() + "\n"
	}
	return "nameserver 127.0.0.53\noptions edns0 trust-ad\n"
}

// accounts puts the target's line first where its id is one of the system's
// too, so that the id has its name; the others of that id are left out.
func accounts(target string, system ...string) string {
	var b strings.Builder
	id := strings.Split(target, ":")[2]
	for _, line := range system {
		if strings.Split(line, ":")[2] != id {
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(target + "\n")
	return b.String()
}
