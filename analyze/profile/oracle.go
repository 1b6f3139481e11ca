package profile

import (
	"bytes"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The ways in which an oracle's input can show.
const (
	HitExec   = "exec"   // a program was started with the token as an argument of its own
	HitCreate = "create" // a file of the token's name was made, or was about to be
	HitOpen   = "open"   // the file aimed at was opened
	HitWrite  = "write"  // it was opened for writing
	HitReturn = "return" // its text crossed the wire
	HitAsked  = "asked"  // the address or the name aimed at was asked
	HitListed = "listed" // the token stands in a listing
)

// Hit is an effect of an oracle's input, or of a served document.
type Hit struct {
	Call int
	// Phase is when a served document had an effect outside of calls, "" within one.
	Phase finding.Phase
	session.Injection
	How string
	// Target is the file or program.
	Target   string
	Evidence finding.Evidence
}

// maxHits bounds what is kept of them.
const maxHits = 10_000

// planted is an injection and the call that carried it.
type planted struct {
	call int
	in   session.Injection
}

// oracles knows the inputs of the run so far.
type oracles struct {
	byToken map[string][]planted
	byCall  map[int][]session.Injection
	byPort  map[int]planted
	// aimed are the stems of the files that any input aimed at.
	aimed map[string]bool
	// listed are the inputs whose tokens a listing may hold.
	listed []planted
	// visited are those that a tool opened in a call that did not aim at it.
	visited map[string]bool
	// texts find what stands in the files that calls aimed at, by these files.
	texts map[string]*canaries.Set
}

func newOracles() oracles {
	return oracles{byToken: map[string][]planted{}, byCall: map[int][]session.Injection{}, byPort: map[int]planted{}, aimed: map[string]bool{}, visited: map[string]bool{}, texts: map[string]*canaries.Set{}}
}

// inject takes in what a call carries.
func (b *Builder) inject(m *session.Mark) {
	o := &b.oracles
	for _, in := range m.Oracles {
		o.byCall[m.Call] = append(o.byCall[m.Call], in)
		if in.Token != "" {
			o.byToken[in.Token] = append(o.byToken[in.Token], planted{m.Call, in})
		}
		if (in.Oracle == session.OraclePrototype || in.Oracle == session.OracleServed) && in.Token != "" {
			o.listed = append(o.listed, planted{m.Call, in})
		}
		if in.Port != 0 {
			o.byPort[in.Port] = planted{m.Call, in}
		}
		if in.Path != "" {
			o.aimed[in.Path] = true
		}
	}
}

// prove looks whether a record is the effect of an input.
func (b *Builder) prove(r *trace.Record) {
	if len(b.oracles.byCall) == 0 {
		return
	}
	switch r.Op {
	case trace.OpExec:
		b.proveExec(r)
	case trace.OpOpen:
		p := cleanProc(r.Path)
		if isWrite(r.Flags) {
			b.proveCreate(r, p)
		}
		b.proveOpen(r, p)
	case trace.OpMkdir:
		b.proveCreate(r, cleanProc(r.Path))
	case trace.OpRename, trace.OpLink:
		b.proveCreate(r, cleanProc(r.To))
	case trace.OpConnect:
		b.proveConnect(r)
	}
}

// callOf is the call to which a record belongs, 0 for none.
func (b *Builder) callOf(r *trace.Record) int {
	if t := b.task(r.Tid); t.call > 0 {
		return t.call
	}
	return b.intervalOf(r).call
}

// carrier is the injection of a token: that of the record's own call where it
// carried it, else of the last call that did.
func (b *Builder) carrier(token string, r *trace.Record) (planted, bool) {
	list := b.oracles.byToken[token]
	if len(list) == 0 {
		return planted{}, false
	}
	call := b.callOf(r)
	if i := slices.IndexFunc(list, func(p planted) bool { return p.call == call }); i >= 0 {
		return list[i], true
	}
	return list[len(list)-1], true
}

func (b *Builder) proveExec(r *trace.Record) {
	for i, a := range r.Argv {
		if i == 0 {
			continue
		}
		p, ok := b.carrier(path.Base(a[strings.LastIndexByte(a, '=')+1:]), r)
		if !ok {
			continue
		}
		switch p.in.Oracle {
		case session.OracleCommand, session.OracleCode:
			// Whoever splits a text as a shell does joins the pieces, too, and hands them to a program of its own.
			if path.Base(r.Argv[0]) != "touch" {
				continue
			}
		case session.OracleServed:
			p.call = b.callOf(r)
		case session.OracleArgument:
			// One text became several arguments, and this one is an option: it begins here.
			option, _, _ := strings.Cut(a, "=")
			if !strings.HasPrefix(p.in.Context, "split") || a != option+"="+p.in.Token || !strings.HasPrefix(a, "--") || slices.Contains(r.Argv[:i], "--") {
				continue
			}
		default:
			continue
		}
		b.hit(p, HitExec, r.Path, r, "ran "+clip(b.find.Redact(strings.Join(r.Argv, " ")), 200))
	}
}

// proveCreate looks at a name that is made. The token of a command or an
// expression stands in no input whole, so that even a refused attempt is proof.
func (b *Builder) proveCreate(r *trace.Record, p string) {
	stem, _, _ := strings.Cut(path.Base(p), ".")
	in, ok := b.carrier(stem, r)
	if !ok {
		return
	}
	switch in.in.Oracle {
	case session.OracleCommand, session.OracleCode:
	case session.OracleServed:
		in.call = b.callOf(r)
	case session.OracleArgument:
		if path.Base(p) != stem {
			return
		}
	case session.OracleArchive:
		if strings.TrimSuffix(p, path.Ext(p)) != in.in.Path || !r.OK() && !forbidden(r) {
			return
		}
	case session.OraclePath:
		if _, inside := underAny(p, b.roots()); inside || !r.OK() && !forbidden(r) {
			return
		}
	default:
		return
	}
	b.hit(in, HitCreate, p, r, "made "+b.short(p))
}

// forbidden says that only the sandbox's own rules kept a call from succeeding.
func forbidden(r *trace.Record) bool {
	return r.Err == "EACCES" || r.Err == "EROFS" || r.Err == "EPERM"
}

// roots are where a server may make files whatever it was asked for.
func (b *Builder) roots() []string {
	return slices.Concat(b.ctx.Workspaces, []string{b.ctx.ServerDir, path.Join(b.ctx.Home, ".cache")}, tempTrees)
}

// proveOpen looks at a file that exists. A tool that opens it unasked, too,
// shows nothing when it was asked.
func (b *Builder) proveOpen(r *trace.Record, p string) {
	stem := strings.TrimSuffix(p, path.Ext(p))
	counts := r.OK() || forbidden(r) && isWrite(r.Flags)
	if !b.oracles.aimed[stem] || strings.Contains(r.Flags, "O_PATH") || !counts {
		return
	}
	call := b.callOf(r)
	asked := false
	for _, in := range b.oracles.byCall[call] {
		if in.Path == stem {
			asked = true
			if isWrite(r.Flags) {
				b.hit(planted{call, in}, HitWrite, p, r, "opened "+b.short(p)+" for writing")
				continue
			}
			b.hit(planted{call, in}, HitOpen, p, r, "opened "+b.short(p))
		}
	}
	if !asked {
		b.oracles.visited[b.toolOf(call)+"\x00"+stem] = true
	}
}

func (b *Builder) hit(p planted, how, target string, r *trace.Record, text string) {
	h := Hit{Call: p.call, Injection: p.in, How: how, Target: target, Evidence: b.says(r, text)}
	if p.call == 0 {
		h.Phase = b.phase
	}
	b.addHit(h)
}

func (b *Builder) addHit(h Hit) { keepHit(&b.out.Hits, h) }

func keepHit(hits *[]Hit, h Hit) {
	if len(*hits) < maxHits {
		*hits = append(*hits, h)
	}
}

// provenReply looks in a frame of the server's for the texts of the files that
// its call aimed at.
func (b *Builder) provenReply(seq uint64, at time.Duration, raw []byte) {
	call := b.out.FrameCall[seq]
	b.proveReturn(&b.late.hits, call, raw, "crossed the wire", finding.Evidence{Source: "frame", Seq: seq, Time: at})
	b.refusal(call, raw)
}

// proveReturn looks in something that the server answered to a call for the texts of the files that the call aimed at.
func (b *Builder) proveReturn(hits *[]Hit, call int, raw []byte, did string, ev finding.Evidence) {
	if call == 0 {
		return
	}
	injected := b.oracles.byCall[call]
	for _, in := range injected {
		if in.Path == "" && in.Value != "" && bytes.Contains(raw, []byte(in.Value)) {
			ev.Text = "what the input becomes where it is evaluated (" + in.Context + ") " + did
			switch in.Oracle {
			case session.OraclePrototype:
				ev.Text = "what an earlier call put into a prototype " + did
			case session.OracleAssign:
				ev.Text = "the value of an undeclared member that an earlier call set " + did
			case session.OracleTenant:
				ev.Text = "a word that an earlier call stored for another " + did
			}
			keepHit(hits, Hit{Call: call, Injection: in, How: HitReturn, Evidence: ev})
		}
	}
	for _, h := range b.oracles.find(injected, raw) {
		for _, in := range injected {
			if plantedIn+in.Path != h.ID {
				continue
			}
			ev.Text = fmt.Sprintf("what stands in %s %s (%s, offset %d)", b.short(in.Path), did, h.Encoding, h.Offset)
			keepHit(hits, Hit{Call: call, Injection: in, How: HitReturn, Target: in.Path, Evidence: ev})
		}
	}
}

// plantedIn begins the id of a file's text.
const plantedIn = "planted "

// maxTexts bounds the sets that are kept for the calls to come: each has a table of
// a quarter of a megabyte, and there are few files to aim at.
const maxTexts = 64

// find looks for the texts of the files that a call aimed at, in every encoding.
func (o *oracles) find(injected []session.Injection, raw []byte) []canaries.Hit {
	var list []canaries.Canary
	key := ""
	for _, in := range injected {
		id := plantedIn + in.Path
		if in.Path == "" || in.Value == "" || slices.ContainsFunc(list, func(c canaries.Canary) bool { return c.ID == id }) {
			continue
		}
		list = append(list, canaries.Canary{ID: id, Kind: "planted", Value: in.Value})
		key += id + "\x00" + in.Value + "\x00"
	}
	if len(list) == 0 {
		return nil
	}
	set := o.texts[key]
	if set == nil {
		slices.SortFunc(list, func(a, b canaries.Canary) int { return strings.Compare(a.ID, b.ID) })
		set = canaries.FromCanaries(list)
		if len(o.texts) < maxTexts {
			o.texts[key] = set
		}
	}
	return set.Find(raw)
}

// Unasked reports whether a tool opens a planted file also where no input aims at it.
func (p *Profile) Unasked(tool, stem string) bool { return p.visited[tool+"\x00"+stem] }

// Listed takes a listing that the server gave after call, and notes the tokens in it.
func (b *Builder) Listed(seq uint64, at time.Duration, raw []byte) {
	for _, p := range b.oracles.listed {
		if bytes.Contains(raw, []byte(p.in.Token)) {
			keepHit(&b.late.listed, Hit{Call: p.call, Injection: p.in, How: HitListed, Evidence: finding.Evidence{Source: "frame", Seq: seq, Time: at,
				Text: listedText(&p.in)}})
		}
	}
}

func listedText(in *session.Injection) string {
	if in.Oracle == session.OracleServed {
		return "a listing holds what a served document carries: " + in.Context
	}
	return "a listing holds a text that a call put into " + in.Context
}

// proveConnect looks at a connection to the machine itself: nothing answers
// there, and the port is the token's own.
func (b *Builder) proveConnect(r *trace.Record) {
	a := r.Addr
	if a == nil || a.Port == 0 {
		return
	}
	ip, err := netip.ParseAddr(a.Host)
	if p, ok := b.oracles.byPort[a.Port]; ok && err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified()) {
		b.hit(p, HitAsked, fmt.Sprintf("%s port %d", a.Host, a.Port), r, fmt.Sprintf("connected to %s port %d", a.Host, a.Port))
	}
}

// proveFlow looks for tokens in what the sinkhole was asked: a request at the
// host that was aimed at, or its name. It reports whether an input named the whole
// request: no service has anything behind a token that stands first or second.
func (b *Builder) proveFlow(e *trace.Flow) (given bool) {
	if len(b.oracles.byToken) == 0 {
		return false
	}
	switch e.Type {
	case trace.FlowQuery:
		token, _, _ := strings.Cut(strings.ToLower(e.Host), ".")
		b.asked(token, e, strings.EqualFold, "asked for the name "+clip(e.Host, 100))
	case trace.FlowRequest:
		for i, token := range strings.FieldsFunc(e.Path, func(r rune) bool { return strings.ContainsRune("/?#&=", r) }) {
			hit := b.asked(token, e, func(want, _ string) bool { return aimsAt(want, e) }, "asked "+e.Authority+" for "+clip(b.find.Redact(e.Path), 150))
			given = given || hit && i < 2
		}
	}
	return given
}

// asked adds the hit of a token's input, if it is one.
func (b *Builder) asked(token string, e *trace.Flow, is func(want, host string) bool, text string) bool {
	list := b.oracles.byToken[token]
	if len(list) == 0 {
		return false
	}
	p := list[len(list)-1]
	at := b.intervalAt(e.Stamp)
	call, phase := at.call, finding.Phase("")
	if i := slices.IndexFunc(list, func(p planted) bool { return p.call == call }); i >= 0 {
		p = list[i]
	}
	if p.in.Oracle == session.OracleServed {
		if p.call = call; call == 0 { // it was planted before any
			phase = at.phase
		}
	} else if p.in.Oracle != session.OracleFetch && p.in.Oracle != session.OracleEntity {
		return false
	}
	if p.in.Host == "" || !is(p.in.Host, e.Host) {
		return false
	}
	b.addHit(Hit{Call: p.call, Phase: phase, Injection: p.in, How: HitAsked, Target: p.in.Host, Evidence: finding.Evidence{Source: "flow", Seq: e.Flow, Time: e.Stamp, Text: text}})
	return true
}

// aimsAt reports whether a request went to a host: by its address or by its name.
func aimsAt(want string, e *trace.Flow) bool {
	if ip, err := netip.ParseAddr(want); err == nil {
		return e.Dest.Addr().Unmap() == ip
	}
	return strings.EqualFold(e.Host, want)
}
