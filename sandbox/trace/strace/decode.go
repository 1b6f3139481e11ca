package strace

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// operand is a path argument on its way into a record.
type operand struct {
	raw   []byte // the string, unescaped; nil if the argument was none
	text  bool   // the argument was a string
	at    []byte // the directory descriptor's path, unescaped
	isAt  bool   // there was a directory descriptor with a path
	fd    int    // its number, -1 for AT_FDCWD or none
	isNil bool   // the argument was NULL
}

// decode fills p.rec from the arguments of a known call and emits it.
func (p *Parser) decode(t *task, c *trace.Call) error {
	p.scratch = p.scratch[:0]
	var fs *directory
	if t != nil {
		fs = t.fs
	} else {
		fs = &directory{}
	}
	p.fs = fs
	path, to := operand{fd: -1}, operand{fd: -1}
	symlink := false
	p.peers, p.passed = p.peers[:0], p.passed[:0]
	for i, kind := range c.Args {
		if i >= p.nargs {
			break
		}
		a := p.args[i]
		switch kind {
		case trace.ArgDir:
			p.dirArg(&path, a, fs)
		case trace.ArgToDir:
			p.dirArg(&to, a, fs)
		case trace.ArgPath, trace.ArgText:
			p.pathArg(&path, a)
			symlink = kind == trace.ArgText
		case trace.ArgTo:
			p.pathArg(&to, a)
		default:
			p.arg(kind, a)
		}
	}
	if to.text {
		p.rec.To = p.strings.get(p.resolve(&to, fs))
	}
	switch {
	case symlink:
		p.linkText(&path, fs)
	default:
		p.pathTo(&path, fs)
	}
	if c.Opens {
		p.opened()
	}
	return p.finish(t, c, fs)
}

// dirArg reads a directory descriptor, and learns the working directory from AT_FDCWD.
func (p *Parser) dirArg(o *operand, a []byte, fs *directory) {
	if bytes.HasPrefix(a, []byte("AT_FDCWD")) {
		if in, _, ok := annotation(a[8:]); ok {
			o.at, o.isAt = unescape(&p.scratch, in), true
			if fs.cwd != string(o.at) && len(o.at) <= maxPath {
				fs.cwd = p.strings.get(o.at)
			}
		}
		return
	}
	fd, n := number(a)
	if n == 0 {
		return
	}
	o.fd = int(fd)
	if in, _, ok := annotation(a[n:]); ok {
		o.at, o.isAt = unescape(&p.scratch, in), true
	}
}

func (p *Parser) pathArg(o *operand, a []byte) {
	in, _, ok := quoted(a)
	if !ok {
		o.isNil = bytes.Equal(a, []byte("NULL"))
		o.raw = a
		return
	}
	o.raw, o.text = unescape(&p.scratch, in[:min(len(in), 4*maxPath)]), true
}

// pathTo fills Path, Given and Real of a call that takes a path.
func (p *Parser) pathTo(o *operand, fs *directory) {
	switch {
	case o.text && len(o.raw) > 0:
		p.rec.Path = p.strings.get(p.resolve(o, fs))
		if p.rec.Given == "" && p.rec.Path != string(o.raw) {
			p.rec.Given = p.strings.get(o.raw)
		}
	case o.isAt && (o.text || o.isNil):
		// An empty path is the descriptor itself.
		p.rec.Path = p.strings.get(o.at)
		p.rec.FD = o.fd
		p.rec.Real = o.fd >= 0
	case !o.text && o.raw != nil:
		p.rec.Given = p.strings.get(o.raw)
	}
}

// linkText fills Path from a symbolic link's text, which is relative to the link's
// own directory.
func (p *Parser) linkText(o *operand, fs *directory) {
	if !o.text {
		return
	}
	if len(o.raw) > 0 && o.raw[0] != '/' {
		if i := lastSlash(p.rec.To); i >= 0 {
			o.at, o.isAt = []byte(p.rec.To[:max(i, 1)]), true
		}
	}
	p.pathTo(o, fs)
}

func lastSlash(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return i
		}
	}
	return -1
}

// resolve makes a path absolute and cleans it, by its text alone.
func (p *Parser) resolve(o *operand, fs *directory) []byte {
	raw := o.raw
	if len(raw) > 0 && raw[0] == '/' {
		raw = p.clean(raw)
		if fs.root == "" {
			return raw
		}
		from := len(p.scratch)
		p.scratch = append(append(p.scratch, fs.root...), raw...)
		return p.clean(p.scratch[from:])
	}
	from := len(p.scratch)
	switch {
	case o.isAt:
		p.scratch = append(p.scratch, o.at...)
	case o.fd < 0 && fs.cwd != "":
		p.scratch = append(p.scratch, fs.cwd...)
	default:
		return p.clean(raw)
	}
	p.scratch = append(append(p.scratch, '/'), raw...)
	return p.clean(p.scratch[from:])
}

// opened takes the object's path from the returned descriptor.
func (p *Parser) opened() {
	if p.rec.Err != "" || p.rec.Unfinished {
		return
	}
	p.rec.FD = int(p.rec.Ret)
	if !p.result.noted {
		return
	}
	given := p.rec.Given
	if given == "" {
		given = p.rec.Path
	}
	p.rec.Path = p.strings.get(unescape(&p.scratch, p.result.note))
	p.rec.Real = true
	p.rec.Given = ""
	if given != p.rec.Path {
		p.rec.Given = given
	}
}

// arg fills the record from an argument that is no path.
func (p *Parser) arg(kind trace.ArgKind, a []byte) {
	switch kind {
	case trace.ArgFD:
		p.descriptor(a)
	case trace.ArgToFD:
		if _, n := number(a); n > 0 {
			if in, _, ok := annotation(a[n:]); ok {
				p.rec.To = p.strings.get(unescape(&p.scratch, in))
			}
		}
	case trace.ArgFlags:
		p.flags(a)
	case trace.ArgName:
		if in, _, ok := quoted(a); ok {
			p.flags(unescape(&p.scratch, in))
		}
	case trace.ArgGiven:
		if in, _, ok := quoted(a); ok {
			p.rec.Given = p.strings.get(unescape(&p.scratch, in))
		}
	case trace.ArgHow:
		p.flags(field(a, "flags="))
	case trace.ArgArgv:
		p.argvArg(a)
	case trace.ArgAddr, trace.ArgMsg, trace.ArgMsgs, trace.ArgFamily:
		p.address(kind, a)
	case trace.ArgPair:
		if len(a) > 0 && a[0] == '[' {
			p.descriptor(a[1:])
		}
	case trace.ArgPid, trace.ArgPidFD:
		p.pidArg(kind, a)
	case trace.ArgClone:
		p.cloneFlags()
	case trace.ArgLimit:
		if bytes.Equal(a, []byte("NULL")) {
			p.rec.Op = trace.OpOther
		}
	}
}

func (p *Parser) descriptor(a []byte) {
	fd, n := number(a)
	if n == 0 {
		return
	}
	p.rec.FD = int(fd)
	if in, _, ok := annotation(a[n:]); ok {
		p.rec.Path = p.strings.get(unescape(&p.scratch, in))
		p.rec.Real = true
	}
}

// flags adds symbolic flags; a plain zero, a string and a comment say nothing.
func (p *Parser) flags(a []byte) {
	if i := bytes.Index(a, []byte(" /*")); i >= 0 && !bytes.ContainsRune(a[:i], '(') {
		a = a[:i]
	}
	// A packet socket's protocol is printed as htons(…): its family says enough.
	if len(a) == 0 || a[0] == '"' || bytes.HasPrefix(a, []byte("htons(")) || len(a) == 1 && a[0] == '0' {
		return
	}
	a = a[:min(len(a), 512)]
	if p.rec.Flags == "" {
		p.rec.Flags = p.strings.get(a)
		return
	}
	p.rec.Flags += "|" + string(a)
}

// cloneFlags finds the flags of clone, "flags=…" among its arguments, or of clone3,
// in its structure.
func (p *Parser) cloneFlags() {
	for _, a := range p.args[:p.nargs] {
		if bytes.HasPrefix(a, []byte("flags=")) || len(a) > 0 && a[0] == '{' {
			p.flags(field(a, "flags="))
			return
		}
	}
}

// field returns a structure's field up to the next comma or brace.
func field(a []byte, name string) []byte {
	i := bytes.Index(a, []byte(name))
	if i < 0 {
		return nil
	}
	return cut(a[i+len(name):], ',', '}')
}

// argvArg reads `["a", "b", ...]`; a word that was cut ends with "…", and so does a list.
func (p *Parser) argvArg(a []byte) {
	p.argv = p.argv[:0]
	if len(a) == 0 || a[0] != '[' {
		return
	}
	a = a[1:]
	for size := 0; len(a) > 0; {
		in, rest, ok := quoted(a)
		if !ok {
			if a[0] != ']' {
				p.argv = append(p.argv, "…")
			}
			break
		}
		if len(p.argv) == maxArgv || size+len(in) > maxArgvSize {
			p.argv = append(p.argv, "…")
			break
		}
		size += len(in)
		from := len(p.scratch)
		word := unescape(&p.scratch, in)
		if bytes.HasPrefix(rest, []byte("...")) {
			p.scratch = append(append(p.scratch[:from], word...), "…"...)
			word, rest = p.scratch[from:], rest[3:]
		}
		p.argv = append(p.argv, p.strings.get(word))
		if bytes.HasPrefix(rest, []byte(", ")) {
			rest = rest[2:]
		}
		a = rest
	}
	p.rec.Argv = p.argv
}

// pidArg reads a process: its number in strace's pid namespace where that is told.
func (p *Parser) pidArg(kind trace.ArgKind, a []byte) {
	pid, n := number(a)
	if n == 0 {
		return
	}
	rest := a[n:]
	if kind == trace.ArgPidFD {
		p.rec.FD = int(pid)
		in, _, ok := annotation(rest)
		if !ok || !bytes.HasPrefix(in, []byte("pid:")) {
			return
		}
		pid, _ = number(in[4:])
	} else if bytes.HasPrefix(rest, []byte(" /* ")) {
		if own, n := number(rest[4:]); n > 0 {
			pid = own
		}
	}
	p.rec.Pid = int(pid)
}

// finish does what concerns more than one argument, and emits.
func (p *Parser) finish(t *task, c *trace.Call, fs *directory) error {
	ok := p.rec.Err == "" && !p.rec.Unfinished
	if ok && len(p.passed) > 0 {
		p.rec.Passed = p.passed
	}
	switch c.Op {
	case trace.OpExec:
		p.rec.Cwd = fs.cwd
		if number, lost := p.swallowed(); lost {
			p.send()
			if harmless[number] {
				return nil
			}
			return fmt.Errorf("system call %d: %w", number, ErrSwallowed)
		}
	case trace.OpFork:
		return p.forked(t)
	case trace.OpOpen:
		if c.Name == "creat" {
			p.rec.Flags = "O_WRONLY|O_CREAT|O_TRUNC"
		}
	case trace.OpChdir:
		if ok {
			p.moved(c, fs)
		}
	case trace.OpNS:
		if ok && t != nil {
			own := *fs
			t.fs = &own
		}
	case trace.OpOther:
		if i := strings.IndexByte(p.rec.Flags, '|'); i >= 0 && c.Name == "prctl" && !strings.HasPrefix(p.rec.Flags, "PR_SET_SECCOMP") {
			p.rec.Flags = p.rec.Flags[:i] // what the other options' arguments mean says nothing
		}
		if ok && c.Name == "prctl" && bytes.HasPrefix(p.args[0], []byte("PR_SET_SECCOMP")) {
			p.send()
			return ErrFiltered
		}
	}
	p.sendPeers()
	return nil
}

// forked handles the end of a fork: the child inherits the directory.
func (p *Parser) forked(t *task) error {
	if p.rec.Err != "" || p.rec.Unfinished || p.rec.Ret <= 0 {
		p.send()
		return nil
	}
	p.rec.Child = int(p.rec.Ret)
	if p.result.pid > 0 {
		p.rec.Child = int(p.result.pid)
	}
	flags := []byte(p.rec.Flags)
	if t != nil {
		p.addTask(t, p.rec.Child, bytes.Contains(flags, []byte("CLONE_FS")))
	}
	p.send()
	if bytes.Contains(flags, []byte("CLONE_UNTRACED")) {
		return ErrUntraced
	}
	return nil
}

// moved follows a task's own change of directory.
func (p *Parser) moved(c *trace.Call, fs *directory) {
	if p.rec.Path == "" || p.rec.Path[0] != '/' {
		fs.cwd = ""
		return
	}
	if c.Name == "chroot" {
		fs.root = p.rec.Path
		if fs.root == "/" {
			fs.root = ""
		}
		return
	}
	fs.cwd = p.rec.Path
}

// clean removes ".", ".." and double slashes, as path.Clean does. The result is b
// itself where it was clean, else a part of scratch.
func (p *Parser) clean(b []byte) []byte {
	if isClean(b) {
		return b[:min(len(b), maxPath)]
	}
	from := len(p.scratch)
	rooted := b[0] == '/'
	out := p.scratch
	for len(b) > 0 {
		part := cut(b, '/', '/')
		b = b[min(len(part)+1, len(b)):]
		switch {
		case len(part) == 0 || len(part) == 1 && part[0] == '.':
		case len(part) == 2 && part[0] == '.' && part[1] == '.':
			last := bytes.LastIndexByte(out[from:], '/')
			name := out[from+last+1:]
			switch {
			case len(name) > 0 && !bytes.Equal(name, []byte("..")):
				out = out[:from+max(last, 0)]
			case !rooted:
				out = joinPart(out, from, rooted, part)
			}
		default:
			out = joinPart(out, from, rooted, part)
		}
	}
	if len(out) == from {
		if rooted {
			out = append(out, '/')
		} else {
			out = append(out, '.')
		}
	}
	p.scratch = out
	return out[from:min(len(out), from+maxPath)]
}

func joinPart(out []byte, from int, rooted bool, part []byte) []byte {
	if rooted || len(out) > from {
		out = append(out, '/')
	}
	return append(out, part...)
}

func isClean(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], '/')
		part := b[i:]
		if n >= 0 {
			part = b[i : i+n]
		}
		if len(part) == 0 && i > 0 || len(part) > 0 && part[0] == '.' && (len(part) == 1 || len(part) == 2 && part[1] == '.') {
			return len(b) == 1 && b[0] == '/'
		}
		if n < 0 {
			break
		}
		i += n + 1
		if i == len(b) {
			return len(b) == 1
		}
	}
	return true
}
