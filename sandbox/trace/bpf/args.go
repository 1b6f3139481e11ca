package bpf

import (
	"encoding/binary"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// operand is a path argument on its way into a record.
type operand struct {
	text    string
	isText  bool
	isNil   bool
	address uint64 // of an argument that could not be read
	present bool
	dir     string // what its directory descriptor refers to
	isAt    bool   // there was a directory
	fd      int    // its number, -1 for the working directory
	cwd     bool   // the directory is the working directory
}

// arguments fills the record from a call's arguments.
func (d *decoder) arguments(e *event, c *trace.Call) {
	p, to := operand{fd: -1}, operand{fd: -1}
	link := false
	for i, kind := range c.Args {
		switch kind {
		case trace.ArgDir:
			p.dirArg(e, i)
		case trace.ArgToDir:
			to.dirArg(e, i)
		case trace.ArgPath, trace.ArgText:
			p.textArg(e, i)
			link = kind == trace.ArgText
		case trace.ArgTo:
			to.textArg(e, i)
		default:
			d.arg(e, c, kind, i)
		}
	}
	if to.isText {
		d.rec.To = to.resolve(e)
	}
	if link {
		d.linkText(e, &p)
		return
	}
	d.pathTo(e, &p)
}

func (o *operand) dirArg(e *event, i int) {
	fd := int(int32(e.Args[i]))
	if fd == -100 {
		o.cwd, o.isAt = true, true
		return
	}
	o.fd = fd
	if b, ok := e.find(uint8(i)); ok && b.fault == 0 && len(b.data) >= 16 {
		o.dir, o.isAt = e.path(b), true
	}
}

func (o *operand) textArg(e *event, i int) {
	o.present = true
	o.address = e.Args[i]
	// The directory's own blob has the number of the argument before.
	if b, ok := e.find(uint8(i)); ok && b.fault == 0 {
		o.text, o.isText = e.text(b), true
		return
	}
	o.isNil = e.Args[i] == 0
}

// cwd is the task's working directory, "" where it was of no use.
func cwd(e *event) string {
	if b, ok := e.find(blobCwd); ok {
		return e.path(b)
	}
	return ""
}

// resolve makes a path absolute and cleans it, by its text alone.
func (o *operand) resolve(e *event) string {
	if strings.HasPrefix(o.text, "/") {
		if b, ok := e.find(blobRoot); ok {
			return path.Clean(e.path(b) + "/" + o.text)
		}
		return clean(o.text)
	}
	dir := o.dir
	if o.fd < 0 && dir == "" {
		dir = cwd(e)
	}
	if dir == "" {
		return path.Clean(o.text)
	}
	return path.Clean(dir + "/" + o.text)
}

// clean is path.Clean, quicker for an absolute path that is clean, as most are.
func clean(p string) string {
	if strings.Contains(p, "//") || strings.Contains(p, "/.") || strings.HasSuffix(p, "/") {
		return path.Clean(p)
	}
	return p
}

// pathTo fills Path, Given and Real of a call that takes a path.
func (d *decoder) pathTo(e *event, o *operand) {
	switch {
	case o.isText && o.text != "":
		d.rec.Path = o.resolve(e)
		if d.rec.Given == "" && d.rec.Path != o.text {
			d.rec.Given = o.text
		}
	case o.isAt && (o.isText || o.isNil):
		// An empty path is the descriptor itself.
		d.rec.Path = o.dir
		if o.cwd {
			d.rec.Path = cwd(e)
		}
		d.rec.FD = o.fd
		d.rec.Real = o.fd >= 0
	case o.present && !o.isText:
		d.rec.Given = "NULL"
		if o.address != 0 {
			d.rec.Given = "0x" + strconv.FormatUint(o.address, 16)
		}
	}
}

// linkText fills Path from a symbolic link's text, which is relative to the
// link's own directory.
func (d *decoder) linkText(e *event, o *operand) {
	if !o.isText {
		return
	}
	if o.text != "" && o.text[0] != '/' {
		if i := strings.LastIndexByte(d.rec.To, '/'); i >= 0 {
			o.dir, o.isAt = d.rec.To[:max(i, 1)], true
		}
	}
	d.pathTo(e, o)
}

// arg fills the record from an argument that is no path.
func (d *decoder) arg(e *event, c *trace.Call, kind trace.ArgKind, i int) {
	b, ok := e.find(uint8(i))
	ok = ok && b.fault == 0
	switch kind {
	case trace.ArgFD, trace.ArgPidFD:
		d.rec.FD = int(int32(e.Args[i]))
		if kind == trace.ArgPidFD {
			d.pidOf(b, ok)
		} else if ok {
			d.rec.Path, d.rec.Real = e.path(b), true
		}
	case trace.ArgToFD:
		if ok {
			d.rec.To = e.path(b)
		}
	case trace.ArgFlags:
		d.flag(flagText(c.Name, i, &e.Args))
	case trace.ArgName:
		if ok {
			d.flag(e.text(b))
		}
	case trace.ArgGiven:
		if ok {
			d.rec.Given = e.text(b)
		}
	case trace.ArgHow:
		if ok && len(b.data) >= 8 {
			d.flag(openText(binary.NativeEndian.Uint64(b.data)))
		}
	case trace.ArgFamily:
		d.rec.Addr = &trace.Addr{Family: familyName(e.Args[i])}
	case trace.ArgAddr, trace.ArgMsg, trace.ArgMsgs:
		d.addresses(e, uint8(i))
		if kind != trace.ArgAddr {
			d.rights(e)
		}
	case trace.ArgPair:
		d.pair(e, b, ok)
	case trace.ArgPid:
		d.rec.Pid = d.translate(e, int32(e.Args[i]), d.ns)
	case trace.ArgClone:
		if ok && len(b.data) >= 8 {
			d.flag(bits(binary.NativeEndian.Uint64(b.data), clones))
		}
	case trace.ArgLimit:
		if e.Args[i] == 0 {
			d.rec.Op = trace.OpOther
		}
	}
}

func (d *decoder) flag(s string) {
	switch {
	case s == "":
	case d.rec.Flags == "":
		d.rec.Flags = s
	default:
		d.rec.Flags += "|" + s
	}
}

// pair takes the first of a new pair of sockets.
func (d *decoder) pair(e *event, b blob, ok bool) {
	if !ok || len(b.data) < 8 || d.rec.Err != "" {
		return
	}
	d.rec.FD = int(int32(binary.NativeEndian.Uint32(b.data)))
	if r, ok := e.find(blobResult); ok {
		d.rec.Path, d.rec.Real = e.path(r), true
	}
}

// pidOf takes the process that a pidfd refers to.
func (d *decoder) pidOf(b blob, ok bool) {
	if !ok {
		return
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(pathOf(b.data), "pid:")); err == nil {
		d.rec.Pid = n
	}
}

// addresses takes the addresses of an argument: the first is the record's, each
// further one that differs gets a record of its own.
func (d *decoder) addresses(e *event, what uint8) {
	for _, b := range e.blobs {
		if b.what != what || b.fault != 0 {
			continue
		}
		a, ok := sockaddr(e, b.data)
		switch {
		case !ok:
		case d.rec.Addr == nil:
			d.rec.Addr = &a
		case a != *d.rec.Addr && !slices.Contains(d.peers, a):
			d.peers = append(d.peers, a)
		}
	}
}

// rights takes what the descriptors refer to that the call's messages carried.
func (d *decoder) rights(e *event) {
	if d.rec.Err != "" || d.rec.Unfinished {
		return
	}
	for _, b := range e.blobs {
		if b.what == blobPassed && len(d.rec.Passed) < trace.MaxPassed {
			d.rec.Passed = append(d.rec.Passed, e.path(b))
		}
	}
}

// sockaddr reads a socket address as the kernel was given it.
func sockaddr(e *event, b []byte) (trace.Addr, bool) {
	if len(b) < 2 {
		return trace.Addr{}, false
	}
	a := trace.Addr{Family: familyName(uint64(binary.NativeEndian.Uint16(b)))}
	switch {
	case a.Family == "inet" && len(b) >= 8:
		a.Port = int(binary.BigEndian.Uint16(b[2:]))
		a.Host = netip.AddrFrom4([4]byte(b[4:8])).String()
	case a.Family == "inet6" && len(b) >= 24:
		a.Port = int(binary.BigEndian.Uint16(b[2:]))
		a.Host = netip.AddrFrom16([16]byte(b[8:24])).Unmap().String()
	case a.Family == "unix":
		a.Host = unixName(e, b[2:])
	case a.Family == "vsock" && len(b) >= 12:
		a.Port = int(binary.NativeEndian.Uint32(b[4:]))
		a.Host = vsockHost(binary.NativeEndian.Uint32(b[8:]))
	}
	return a, true
}

func vsockHost(cid uint32) string {
	return nameOf(vsocks)(uint64(cid))
}

// unixName is a unix socket's address: an absolute path, "@name" if abstract, "" if unnamed.
func unixName(e *event, b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if b[0] == 0 {
		return "@" + strings.TrimRight(string(b[1:]), "\x00")
	}
	name, _, _ := strings.Cut(string(b), "\x00")
	o := operand{text: name, isText: true, fd: -1}
	return o.resolve(e)
}
