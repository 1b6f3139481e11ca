package profile

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/secrets"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Record takes one record of the log.
func (b *Builder) Record(r *trace.Record) {
	b.out.Records++
	if len(b.ctx.Helpers) > 0 {
		b.replants(r)
	}
	b.prove(r)
	b.joins(r)
	if what := b.reachesFor(r); what != "" {
		text := r.Call
		if r.Path != "" {
			text += " " + clip(b.find.Redact(cmp.Or(r.Given, r.Path)), 200)
		}
		b.tampers(r, what, text)
	}
	switch r.Op {
	case trace.OpFork:
		b.fork(r)
	case trace.OpExec:
		b.exec(r)
	case trace.OpExit:
		delete(b.tasks, r.Tid)
		b.ended.add(r.Tid)
	case trace.OpOpen:
		b.open(r)
	case trace.OpUnlink:
		b.undo(r)
		b.change(r, finding.FileDelete, r.Path)
	case trace.OpRename, trace.OpLink:
		b.move(r)
	case trace.OpMkdir, trace.OpTrunc:
		b.keep(r)
		b.pipe(r)
		b.change(r, finding.FileWrite, r.Path)
	case trace.OpAttr:
		b.opens(r)
		b.change(r, finding.FileMeta, r.Path)
	case trace.OpConnect, trace.OpSend:
		b.connect(r)
	case trace.OpSocket:
		b.socket(r)
	case trace.OpBind:
		b.bind(r)
	case trace.OpListen:
		b.listen(r)
	case trace.OpStat:
		b.looked(r)
	case trace.OpPtrace, trace.OpMount, trace.OpNS, trace.OpRefused, trace.OpKill:
		b.tamper(r)
	}
}

func (b *Builder) task(tid int) *task {
	t := b.tasks[tid]
	if t == nil {
		t = &task{call: b.call, phase: b.phase, proc: &process{}}
		if b.call == 0 || b.first == 0 {
			t.call = 0
		}
		b.tasks[tid] = t
	}
	return t
}

func (b *Builder) fork(r *trace.Record) {
	if !r.OK() || r.Child == 0 {
		return
	}
	parent := b.task(r.Tid)
	child := b.tasks[r.Child]
	if child == nil {
		child = &task{}
		b.tasks[r.Child] = child
	}
	// A parent that waits for its child (vfork) returns, and is recorded, after the
	// child ran its program.
	ran := child.exe != ""
	child.parent, child.phase, child.call, child.early = r.Tid, b.phase, parent.call, parent.early
	// A thread shares its process's fate: a pool's thread born in a call serves later ones.
	if strings.Contains(r.Flags, "CLONE_THREAD") {
		parent.proc.foreign = parent.proc.foreign || child.proc != nil && child.proc.foreign
		child.exe, child.proc, child.step = parent.exe, parent.proc, -1
		return
	}
	if !ran {
		copied := *parent.proc
		copied.foreign = copied.foreign || child.proc != nil && child.proc.foreign
		copied.history = "" // a subshell reads what its script names
		child.exe, child.proc, child.step = parent.exe, &copied, -1
	}
	if parent.call == 0 {
		at := b.intervalOf(r)
		child.phase, child.call = at.phase, at.call
		child.early = at.call > 0 && (at.replied == 0 || r.Time > 0 && r.Time <= at.replied)
	}
}

func (b *Builder) exec(r *trace.Record) {
	t := b.task(r.Tid)
	asks, installs, destroys := credentialHelper(r.Argv, t.exe), installer(r.Argv), destroyer(r.Argv, t.exe)
	if !r.OK() {
		e := b.effect(finding.Exec, path.Base(r.Path), finding.RungAttempted, r, b.says(r, "tried to run "+cmp.Or(asks, installs, r.Path)))
		e.Asks, e.Installs, e.Destroys = asks, installs, destroys
		b.add(b.noisy(e, noiseAbsent))
		b.out.Noise++
		return
	}
	launch := b.first == 0
	named := t.proc.named || !launch && b.isNamed(r.Path)
	t.exe, t.proc, t.step, t.lists = r.Path, runs(r), 0, listsOnly(r.Path, r.Argv)
	t.proc.named = named
	e := b.effect(finding.Exec, r.Path, finding.RungOpened, r, b.says(r, "ran "+clip(b.find.Redact(strings.Join(r.Argv, " ")), 200)))
	e.Argv, e.Asks, e.Installs, e.Destroys, e.Named = r.Argv, asks, installs, destroys, named
	if searchesHere(r.Argv) {
		e.LoadsFrom = cleanProc(r.Cwd)
	}
	if launch {
		b.first = r.Tid
	}
	// A launcher runs one program after another. Who has no parent may be a child that
	// is told of before its birth.
	if launch || b.phase == finding.PhaseStart && r.Tid == b.first {
		e.Noise = noiseLaunch
		b.out.Noise++
	}
	e.Became = b.phase == finding.PhaseHandshake && r.Tid == b.first
	b.add(e)
	for _, a := range r.Argv {
		for _, h := range b.find.Find([]byte(a)) {
			s := b.effect(finding.Secret, h.ID, finding.RungRead, r, b.says(r, fmt.Sprintf("passed the secret %s to %s in its arguments", h.ID, path.Base(r.Path))))
			b.secret([]string{h.ID}, s)
		}
	}
}

func (b *Builder) open(r *trace.Record) {
	p := cleanProc(r.Path)
	b.sought.in(p, r)
	if r.OK() && len(b.openedAt) < maxOpenedAt && under(p, b.ctx.Home) {
		b.openedAt[pathSum(p)] = r.Time
	}
	if ids := b.secrets[p]; len(ids) > 0 && !strings.Contains(r.Flags, "O_PATH") {
		b.openSecret(r, p, ids)
		return
	}
	if ids := b.ofAnother(p); len(ids) > 0 && !r.OK() {
		e := b.effect(finding.Secret, "", finding.RungAttempted, r, b.says(r, "tried to open "+p+": "+r.Err))
		e.Elsewhere = p
		b.secret(ids, e)
		return
	}
	t := b.task(r.Tid)
	exe := t.exe
	if r.OK() && isWrite(r.Flags) {
		b.write(r, finding.FileWrite, p, exe)
		return
	}
	if r.OK() {
		b.loads(t, p, r.Real)
		b.readsDocument(r, p)
	}
	rung, verb := finding.RungOpened, "opened "
	if !r.OK() {
		rung, verb = finding.RungAttempted, "tried to open "
	}
	b.asksOfContainer(r, p)
	if other := b.ofOtherProcess(r, p); other != "" && !t.lists {
		if p == InitEnviron && !r.OK() && t.container > 0 && r.Time-t.container < containerTime {
			other = InitEnviron
		}
		b.add(b.effect(finding.FileRead, other, rung, r, b.says(r, verb+p)))
		return
	}
	class, root := b.readNoise(p, exe)
	if anonymous(r) {
		class, root = noiseKernel, memory
	}
	if b.ownStart(b.task(r.Tid), p) && class == "" {
		class, root = noiseRuntime, path.Dir(p)
	}
	if class == "" && !r.OK() && r.Err == "ENOENT" {
		class, root = noiseAbsent, path.Dir(p)
	}
	if SystemSecret(p) || b.denied(r, p, false) {
		class = ""
	}
	to := p
	if class != "" {
		b.out.Noise++
		// Where credentials were looked for in vain is told apart.
		if to = root; class == noiseAbsent && (secrets.Named(p) || secrets.Directory(path.Dir(p)) || secrets.Directory(p)) {
			to = p
		}
	}
	b.add(b.noisy(b.effect(finding.FileRead, to, rung, r, b.says(r, verb+b.short(p))), class))
}

// maxOpenedAt bounds the opened paths that are kept, and listingTime is how long after an open
// of a directory a name in it may come from its listing.
const (
	maxOpenedAt = 100_000
	listingTime = 10 * time.Second
)

// looked notes that a place of credentials was asked for: whether it is there, where it leads or
// what it is. One that is there and stands in a directory that was opened just before may be of
// its listing, and says nothing.
func (b *Builder) looked(r *trace.Record) {
	p := cleanProc(r.Path)
	b.asksOfContainer(r, p)
	b.sought.in(p, r)
	if !under(p, b.ctx.Home) || !secrets.Named(p) && !secrets.Directory(path.Dir(p)) && !secrets.Directory(p) {
		return
	}
	class := noiseLooked
	absent := r.Err == "ENOENT" || r.Err == "ENOTDIR"
	at, listed := b.openedAt[pathSum(path.Dir(p))]
	if !strings.Contains(r.Call, "access") && !absent && listed && r.Time-at < listingTime {
		return
	}
	if absent || !r.OK() && strings.Contains(r.Call, "access") {
		class = noiseAbsent
	}
	b.out.Noise++
	b.add(b.noisy(b.effect(finding.FileRead, p, finding.RungAttempted, r, b.says(r, "asked whether "+b.short(p)+" is there")), class))
}

func (b *Builder) openSecret(r *trace.Record, p string, ids []string) {
	rung, text := finding.RungOpened, "opened "+b.short(p)
	if !r.OK() {
		rung, text = finding.RungAttempted, "tried to open "+b.short(p)+": "+r.Err
	} else if isWriteOnly(r.Flags) {
		b.write(r, finding.FileWrite, p, b.task(r.Tid).exe)
		return
	}
	if r.Given != "" && r.Given != p {
		text += " as " + clip(b.find.Redact(r.Given), 120)
	}
	if r.OK() && isWrite(r.Flags) {
		b.contents.wait(p, r.Time, b.effect(finding.FileWrite, p, finding.RungOpened, r, b.says(r, "opened "+b.short(p)+" for reading and writing, and it changed")))
	}
	e := b.effect(finding.Secret, "", rung, r, b.says(r, text))
	e.Climbed = b.climbed(p)
	for _, id := range ids {
		e.Target, e.Owner = id, b.isOwner(b.task(r.Tid), id, p)
		i := b.add(e)
		if r.OK() && i >= 0 {
			b.opened[p] = i
		}
	}
}

// InitEnviron is the environment of the first process, as the target of a task that was refused it when it looked
// whether it runs in a container: container managers name themselves there.
const InitEnviron = "/proc/1/environ"

// containerTime is how long such a look takes at most.
const containerTime = 100 * time.Millisecond

// asksOfContainer notes that a task looks whether it runs in a container.
func (b *Builder) asksOfContainer(r *trace.Record, p string) {
	switch p {
	case "/.dockerenv", "/run/.containerenv", "/proc/1/cgroup", "/proc/1/sched", "/run/systemd/container":
		b.task(r.Tid).container = r.Time
	}
}

// ofOtherProcess names what of another process a path in /proc opens, "/proc/PID/environ"
// or the memory, "" for anything else. Whoever says "self" means itself, and who is of the
// server's own tree is no other.
func (b *Builder) ofOtherProcess(r *trace.Record, p string) string {
	rest, ok := strings.CutPrefix(p, "/proc/")
	pid, file, _ := strings.Cut(rest, "/")
	if !ok || file != "environ" && file != "mem" || strings.HasPrefix(r.Given, "/proc/self/") || strings.HasPrefix(r.Given, "/proc/thread-self/") {
		return ""
	}
	n, err := strconv.Atoi(pid)
	if err != nil || n == r.Tid || b.ours(n) {
		return ""
	}
	return "/proc/PID/" + file
}

// move follows a rename or link: a canary under a new name is still a canary.
func (b *Builder) move(r *trace.Record) {
	from, to := cleanProc(r.Path), cleanProc(r.To)
	// A symbolic link needs no following: an opened path is the descriptor's own.
	if r.OK() && !strings.HasPrefix(r.Call, "symlink") {
		b.alias(from, to)
	}
	if r.Op == trace.OpLink {
		b.change(r, finding.FileMeta, r.To)
		return
	}
	b.undo(r)
	b.contents.moved(r, from, to)
	if r.OK() {
		b.stores.moved(from, to)
	}
	// Whoever moves away what others made has removed it from its place. What was opened
	// for writing only seems to be its own.
	switch {
	case r.OK() && !b.made[from]:
		b.change(r, finding.FileDelete, r.Path)
	case r.OK():
		b.contents.wait(from, r.Time, b.effect(finding.FileDelete, from, finding.RungOpened, r, b.says(r, "moved "+b.short(from)+" away")))
	}
	b.change(r, finding.FileWrite, r.To)
}

// maxSecrets bounds the names of secrets: each link of a directory may double them.
const maxSecrets = 10_000

func (b *Builder) alias(from, to string) {
	found := map[string][]string{}
	for p, ids := range b.secrets {
		if under(p, from) {
			found[path.Join(to, strings.TrimPrefix(p, from))] = ids
		}
	}
	if len(b.secrets)+len(found) > maxSecrets {
		b.out.Truncated = true
		return
	}
	maps.Copy(b.secrets, found)
}

// maxKept bounds the directories that are kept in mind.
const maxKept = 256

// keep notes a directory that is made.
func (b *Builder) keep(r *trace.Record) {
	if r.Op == trace.OpMkdir && r.OK() && len(b.out.Kept) < maxKept {
		b.out.Kept = append(b.out.Kept, Kept{cleanProc(r.Path), len(b.out.Calls) == 0})
	}
}

// change is anything that alters the file system by name.
func (b *Builder) change(r *trace.Record, kind finding.EffectKind, p string) {
	if p == "" {
		return
	}
	b.write(r, kind, cleanProc(p), b.task(r.Tid).exe)
}

func (b *Builder) write(r *trace.Record, kind finding.EffectKind, p, exe string) {
	verbs := map[finding.EffectKind]string{finding.FileWrite: "wrote ", finding.FileDelete: "deleted ", finding.FileMeta: "changed "}
	rung, verb := finding.RungOpened, verbs[kind]
	switch {
	case !r.OK():
		rung, verb = finding.RungAttempted, "was refused: "+r.Call+" "
	case kind == finding.FileWrite && len(b.made) < maxEffects:
		b.made[p] = true
	}
	class, root := b.writeNoise(p, exe, b.task(r.Tid).proc)
	if anonymous(r) {
		class, root = noiseKernel, memory
	}
	if class == noiseBytecode && kind == finding.FileWrite && (writesModule(r, p) || !b.imports(p)) {
		class, root = "", ""
	}
	// A directory with something in it is removed nowhere: many programs try, to take away those that are empty.
	if class == "" && !r.OK() && (r.Err == "ENOENT" || r.Err == "EEXIST" || r.Err == "ENOTEMPTY") {
		class, root = noiseAbsent, path.Dir(p)
	}
	if b.denied(r, p, true) {
		class = ""
	}
	to := p
	if class != "" {
		to = root
		b.out.Noise++
	}
	e := b.effect(kind, to, rung, r, b.says(r, verb+b.short(p)))
	e.Made = r.OK() && r.Op == trace.OpLink && class == ""
	i := b.add(b.noisy(e, class))
	if r.OK() {
		b.wroteIn(p, e.Call)
		b.stores.wrote(r, p, &e)
		b.stores.spells(r, p, &e)
		if class != "" {
			i = -1
		}
		b.contents.did(r, kind, p, i)
	}
}

// denied reports whether the user denies what a record did with a file.
func (b *Builder) denied(r *trace.Record, p string, write bool) bool {
	return b.ctx.Denied != nil && b.deniedIn(b.placed(r).Call, p, write)
}

// deniedIn asks the user's Context.Denied for the tool of a call.
func (b *Builder) deniedIn(call int, p string, write bool) bool {
	return b.ctx.Denied(b.toolOf(call), p, write)
}

// wroteIn notes the call in which a file was written or made.
func (b *Builder) wroteIn(p string, call int) {
	if _, known := b.writer[p]; known || len(b.writer) < maxEffects {
		b.writer[p] = call
	}
}

func (b *Builder) connect(r *trace.Record) {
	a := r.Addr
	if a == nil {
		return
	}
	switch a.Family {
	case "inet", "inet6":
		if r.Op == trace.OpConnect && a.Port == 0 {
			return // address selection of getaddrinfo: no packet is sent
		}
		if r.Op == trace.OpConnect {
			b.connected(r)
		} else {
			b.sentOn(r)
		}
		kind, text := finding.NetConnect, "tried to reach "
		if r.OK() || r.Err == "EINPROGRESS" {
			text = "connected to "
		}
		rung := finding.RungAttempted
		if r.OK() {
			rung = finding.RungOpened
		}
		to := target(a)
		if to == "dns" {
			text = "asked a name server at "
		}
		e := b.effect(kind, to, rung, r, b.says(r, text+fmt.Sprintf("%s port %d", a.Host, a.Port)))
		if isLoopback(a) {
			if to != "dns" {
				e.Target = "loopback:" + fmt.Sprint(a.Port)
			}
			b.add(e)
			return
		}
		e.Evidence[0].Outside = to != "dns" && (r.OK() || r.Err == "EINPROGRESS")
		ip, err := netip.ParseAddr(a.Host)
		if err != nil {
			b.add(e)
			return
		}
		b.dial(r, netip.AddrPortFrom(ip.Unmap(), uint16(a.Port)), e)
	case "unix":
		class := ""
		if _, ok := underAny(a.Host, nameTrees); ok {
			class = noiseResolver
			b.out.Noise++
		}
		b.add(b.noisy(b.effect(finding.UnixSocket, a.Host, finding.RungAttempted, r, b.says(r, "connected to the unix socket "+a.Host)), class))
	}
}

func (b *Builder) noisy(e finding.Effect, class string) finding.Effect {
	e.Noise = class
	return e
}

func (b *Builder) says(r *trace.Record, text string) finding.Evidence {
	return finding.Evidence{Source: "record", Seq: r.Seq, Time: r.Time, Text: text}
}

func isWrite(flags string) bool {
	return strings.Contains(flags, "O_WRONLY") || strings.Contains(flags, "O_RDWR") || strings.Contains(flags, "O_CREAT") || strings.Contains(flags, "O_TRUNC")
}

func isWriteOnly(flags string) bool { return strings.Contains(flags, "O_WRONLY") }

// clip keeps at most n bytes, whole characters only. What may hold a secret is
// redacted first: of a secret's piece nobody can tell what it was.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
