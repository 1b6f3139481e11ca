package rules

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const home = "/home/dana"

func boolean(b bool) *bool { return &b }

// note is the twins' tool: read-only, local.
var note = wire.Tool{Name: "format_note", Description: "Formats a markdown note. Purely local text formatting.",
	Annotations: &wire.Annotations{ReadOnly: boolean(true), OpenWorld: boolean(false)}}

// silent declares nothing.
var silent = wire.Tool{Name: "do", Description: "Does it."}

// effect is one of call 1 of the tool named.
func effect(tool string, kind finding.EffectKind, target string, change ...func(*finding.Effect)) finding.Effect {
	e := finding.Effect{Kind: kind, Target: target, Phase: finding.PhaseCall, Tool: tool, Call: 1, Count: 1, Rung: finding.RungOpened,
		Evidence: []finding.Evidence{{Source: "record", Seq: 1, Text: target}}}
	for _, c := range change {
		c(&e)
	}
	return e
}

func rung(r finding.Rung) func(*finding.Effect) { return func(e *finding.Effect) { e.Rung = r } }
func sent(host string) func(*finding.Effect) {
	return func(e *finding.Effect) { e.Rung, e.Host, e.Via = finding.RungLeft, host, "https" }
}
func written(e *finding.Effect)            { e.Via = viaFile }
func used(e *finding.Effect)               { e.Used = "Authorization: Basic" }
func noise(n string) func(*finding.Effect) { return func(e *finding.Effect) { e.Noise = n } }
func ambiguous(e *finding.Effect)          { e.Ambiguous = true }
func ending(e *finding.Effect)             { e.Phase, e.Call, e.Tool = finding.PhaseShutdown, 0, "" }
func byGit(e *finding.Effect)              { e.Actor = "git" }
func climbed(e *finding.Effect)            { e.Climbed = true }
func start(e *finding.Effect)              { e.Phase, e.Call, e.Tool = finding.PhaseStart, 0, "" }

// outside is an effect of the server's outside of calls, at a moment of the run.
func outside(target string, at time.Duration) finding.Effect {
	e := effect("", finding.FileRead, target, start)
	e.Evidence[0].Time = at
	return e
}

func over(via string) func(*finding.Effect)   { return func(e *finding.Effect) { e.Via = via } }
func by(program string) func(*finding.Effect) { return func(e *finding.Effect) { e.Actor = program } }
func installs(what string) func(*finding.Effect) {
	return func(e *finding.Effect) { e.Installs, e.Rung = what, finding.RungAttempted }
}

func requesting(line string) func(*finding.Effect) {
	return func(e *finding.Effect) { e.Request = line }
}

func asks(what string) func(*finding.Effect) { return func(e *finding.Effect) { e.Asks = what } }

func argv(words ...string) func(*finding.Effect) {
	return func(e *finding.Effect) { e.Argv = words }
}

func inCall(n int, e finding.Effect) finding.Effect {
	e.Call = n
	return e
}

// shownAt gives the server a name and a site.
func shownAt(name, site string) func(*Run) {
	return func(r *Run) { r.Surface.Server.Name, r.Surface.Server.WebsiteURL = name, site }
}

// instructed gives the server a name and instructions.
func instructed(name, text string) func(*Run) {
	return func(r *Run) {
		r.Surface.Server.Name, r.Surface.Instructions = name, text
		r.Scope = scope.Of(r.Surface)
	}
}

// closed is a tool that declares a closed world and nothing else.
func closed(text string) wire.Tool {
	return wire.Tool{Name: "do", Description: text, Annotations: &wire.Annotations{OpenWorld: boolean(false)}}
}

// absent is a file of HOME that was looked for in vain.
func absent(name string, changes ...func(*finding.Effect)) finding.Effect {
	return effect("format_note", finding.FileRead, home+name, append(changes, rung(finding.RungAttempted), noise("absent"))...)
}

func idle(e *finding.Effect) {
	e.Phase, e.Call, e.Tool, e.Ambiguous = finding.PhaseIdle, 0, "", true
}

// beside adds a tool to those that are declared.
func beside(tool wire.Tool) func(*Run) {
	return func(r *Run) {
		r.Surface.Tools = append(r.Surface.Tools, tool)
		r.Scope = scope.Of(r.Surface)
	}
}

// stood says that files of the user's were there before the server started.
func stood(r *Run, names ...string) *Run {
	r.Planted = map[string]bool{}
	for _, n := range names {
		r.Planted[n] = true
	}
	return r
}

// bulk is a run in which one call did the same to some files of the user's.
func bulk(tool wire.Tool, kind finding.EffectKind, n int) *Run {
	var done []finding.Effect
	var names []string
	for i := range n {
		names = append(names, "/data/sub/a"+strconv.Itoa(i)+".txt")
		done = append(done, effect(tool.Name, kind, names[i]))
	}
	return stood(newRun(tool, done...), names...)
}

func build(e *finding.Effect) { e.Phase, e.Call, e.Tool = finding.PhaseBuild, 0, "" }

func newRun(tool wire.Tool, effects ...finding.Effect) *Run {
	list := []canaries.Canary{
		{ID: "ssh-key", Kind: "ssh", Path: home + "/.ssh/id_rsa"}, {ID: "netrc", Kind: "netrc", Path: home + "/.netrc"},
		{ID: "kube", Kind: "kube", Path: home + "/.kube/config"}, {ID: "claude", Kind: "mcp", Path: home + "/.config/Claude/claude_desktop_config.json"},
		{ID: "env-openai", Kind: "openai", Env: "OPENAI_API_KEY"}, {ID: "dotenv", Kind: "env", Path: "/data/.env"},
		{ID: "npm", Kind: "npm", Path: home + "/.npmrc"}, {ID: "dotenv-home", Kind: "stripe", Path: home + "/.env"},
		{ID: "metadata", Kind: "aws", URL: "http://169.254.169.254/latest/meta-data/iam"},
	}
	surface := &wire.Surface{Server: wire.Implementation{Name: "notes"}, Tools: []wire.Tool{tool}}
	run := &Run{Profile: &profile.Profile{Effects: effects, Calls: []profile.Call{{N: 1, Tool: tool.Name, What: "tool", Outcome: "ok"}}},
		Scope: scope.Of(surface), Surface: surface, Canaries: map[string]canaries.Canary{}, Args: map[int]json.RawMessage{}, Home: home, ServerDir: "/srv/notes", Workspaces: []string{"/data"}}
	for _, c := range list {
		run.Canaries[c.ID] = c
	}
	return run
}

func with(r *Run, change func(*Run)) *Run {
	change(r)
	return r
}

func args(r *Run, text string) *Run {
	return with(r, func(r *Run) { r.Args[1] = json.RawMessage(text) })
}

// saving is a tool that only reads, and says where it saves what it read.
var saving = wire.Tool{Name: "look", Annotations: &wire.Annotations{ReadOnly: boolean(true)}, InputSchema: json.RawMessage(`{"properties":{"path":{"type":"string"},"filename":{"type":"string","description":"File name to save the picture to."}}}`)}

// grep is a tool that searches files; its path may be left out.
var grep = wire.Tool{Name: "grep", InputSchema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"}}}`)}

// globbing is a tool that searches files by a pattern for their names.
var globbing = wire.Tool{Name: "grep", Description: "Searches the files of a directory.", InputSchema: json.RawMessage(`{"type":"object","properties":{"file_pattern":{"type":"string","description":"Glob pattern of files"},"path":{"type":"string"}}}`)}

// consentPage asks for access to an account for another host.
const consentPage = "https://accounts.google.com/o/oauth2/v2/auth?client_id=1&response_type=code&scope=https%3A%2F%2Fmail.google.com%2F&redirect_uri=https%3A%2F%2Ftake.example%2Fin"

// opening is a run in whose first call a tool asked the user to open a page.
func opening(t wire.Tool, address string) *Run {
	return with(newRun(t), func(r *Run) {
		r.Wire.Openings = []Opening{{Fact: Fact{Seq: 1, Call: 1, Tool: t.Name, Text: address}}}
	})
}

// notice is a run of five calls in which the text of some results asked somebody to sign in at a page.
func notice(t wire.Tool, times int) *Run {
	return with(opening(t, "https://device-login.example/google"), func(r *Run) {
		r.Profile.Calls = nil
		for n := 1; n <= 5; n++ {
			r.Profile.Calls = append(r.Profile.Calls, profile.Call{N: n, Tool: t.Name, What: "tool", Outcome: session.OutcomeOK})
			r.Args[n] = json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
		}
		r.Wire.Openings[0].SignsIn = true
		for i := range times {
			r.Wire.Openings[0].Texts = append(r.Wire.Openings[0].Texts, uint64(i))
		}
	})
}

// offering is a run in whose first call a tool's result linked to a file.
func offering(t wire.Tool, uri string) *Run {
	return with(newRun(t), func(r *Run) { r.Wire.Offered = []Fact{{Seq: 1, Call: 1, Tool: t.Name, Text: uri}} })
}

// viewer is a tool that runs commands and declares to read only.
var viewer = wire.Tool{Name: "run_command", Description: "Runs a command that only reads", Annotations: &wire.Annotations{ReadOnly: boolean(true)}}

// breaking is a run in which an engine refused queries of a tool.
func breaking(t wire.Tool, errors ...QueryError) *Run {
	return with(newRun(t), func(r *Run) {
		for _, e := range errors {
			e.Fact = Fact{Seq: 1, Call: 1, Tool: t.Name, Text: "it does not parse"}
			r.Wire.QueryErrors = append(r.Wire.QueryErrors, e)
		}
	})
}

// verifying is a run in which a tool answered signed texts and others: the names of these, each with its answer.
func verifying(description string, answers ...string) *Run {
	return with(newRun(described("verify_token", description)), func(r *Run) {
		for i := 0; i < len(answers); i += 2 {
			r.Wire.Verified = append(r.Wire.Verified, Verified{Fact: Fact{Seq: 1, Call: 1, Tool: "verify_token", Text: answers[i]}, At: "/token", Answer: answers[i+1]})
		}
	})
}

// starting is a run in whose call a tool started Python, which looks for modules in a directory.
func starting(description, dir string) *Run {
	return with(newRun(described("check", description)), func(r *Run) {
		r.Profile.Effects = []finding.Effect{{Kind: finding.Exec, Target: "/usr/bin/python3", Tool: "check", Call: 1, Phase: finding.PhaseCall, Rung: finding.RungOpened, LoadsFrom: dir,
			Argv: []string{"python3", "-m", "json.tool"}, Evidence: []finding.Evidence{{Source: "record", Seq: 3}}}}
	})
}

// broken is a run in which a text with a line break was written, which left a file with this text.
func broken(now string) *Run {
	return with(newRun(note), func(r *Run) {
		r.Profile.Calls[0].Oracles = []session.Injection{{Oracle: session.OracleLine, At: "/text", Token: "k3"}}
		r.Profile.Stored = []profile.Stored{{Path: home + "/.local/share/queue/1.eml", Now: now, By: []profile.Writing{{Call: 1, Tool: note.Name, Evidence: finding.Evidence{Source: "record", Seq: 3}}}}}
	})
}

// declined is a run of a tool after the user turned something off, that sent its text to a host, or kept it.
func declined(description string, kept bool) *Run {
	return with(newRun(described("simplify", description)), func(r *Run) {
		r.Profile.Calls[0].Oracles = []session.Injection{{Oracle: session.OracleOptOut, Context: "reports: off, by set_reports"}}
		if kept {
			r.Profile.Stored = []profile.Stored{{Path: home + "/.local/share/words/history", Held: []profile.Held{{Call: 1, Word: "k3"}}, By: []profile.Writing{{Call: 1, Tool: "simplify", Evidence: finding.Evidence{Source: "record", Seq: 3}}}}}
			return
		}
		r.Profile.Carried = []profile.Carried{{Call: 1, Tool: "simplify", Peer: "stats.words.example:443", Host: "stats.words.example", Via: "https", Evidence: finding.Evidence{Source: "flow", Seq: 3}}}
	})
}

// searching is a tool that searches a project's files.
var searching = wire.Tool{Name: "search", Description: "Searches the files of the project", InputSchema: json.RawMessage(`{"properties":{"project_path":{"type":"string"}}}`)}

func described(name, text string) wire.Tool { return wire.Tool{Name: name, Description: text} }

var urlSchema = json.RawMessage(`{"properties":{"url":{"type":"string"}}}`)

var pathSchema = json.RawMessage(`{"properties":{"path":{"type":"string"}}}`)

// taking is a tool with one string argument.
func taking(name, argument string) wire.Tool {
	return wire.Tool{Name: name, Description: "Does it.", InputSchema: json.RawMessage(`{"properties":{"` + argument + `":{"type":"string"}}}`)}
}

// proven is a run in which an oracle's input in an argument had an effect.
func proven(tool wire.Tool, argument, oracle, how string) *Run {
	r := newRun(tool)
	in := session.Injection{Oracle: oracle, Context: "any", At: "/" + argument, Token: "k3"}
	if oracle == session.OraclePath && how != profile.HitCreate {
		in.Path, in.Token = home+"/Documents/lease", ""
	}
	r.Profile.Calls[0].Oracles = []session.Injection{in}
	r.Profile.Hits = []profile.Hit{{Call: 1, Injection: in, How: how, Target: home + "/Documents/lease", Evidence: finding.Evidence{Source: "record", Seq: 3, Text: "seen"}}}
	return r
}

// lent is a tool that gave what the prototype of all objects lends, and another hit.
func lent(other profile.Hit) *Run {
	r := proven(note, "path", session.OraclePrototype, profile.HitReturn)
	h := &r.Profile.Hits[0]
	h.Context, h.Token, h.Value = session.PrototypeInherited, "", "k3"
	r.Profile.Hits = append(r.Profile.Hits, other)
	return r
}

func undeclared(r *Run) { r.Profile.Hits[0].Undeclared = true }

// secretOf is a decoy opened in the first call.
func secretOf(id string) []finding.Effect {
	return []finding.Effect{effect("format_note", finding.Secret, id)}
}

// varied is a run that did some things, and again, and others under a condition, twice.
func varied(did, under []finding.Effect) *Run {
	r := newRun(note, did...)
	r.Controls = []*Run{newRun(note, did...), newRun(note, did...)}
	r.Varied = []Varied{{Factor: "ci", How: "with CI=true", Runs: []*Run{newRun(note, under...), newRun(note, under...)}}}
	return r
}

// sealed is a run that sent a random payload of some length, and another random one of
// another length, or none, where the secrets were others.
func sealed(length int, otherwise ...int) *Run {
	return sealedTo("93.184.216.34:80", length, otherwise...)
}

func sealedTo(to string, length int, otherwise ...int) *Run {
	return sealedBy(note, to, nil, length, otherwise...)
}

func sealedBy(tool wire.Tool, to string, did []finding.Effect, length int, otherwise ...int) *Run {
	sum := uint64(0)
	run := func(lengths ...int) *Run {
		r := newRun(tool, did...)
		for _, n := range lengths {
			sum++
			r.Profile.Payloads = append(r.Profile.Payloads, profile.Payload{Phase: finding.PhaseCall, Call: 1, Tool: tool.Name, To: to, Length: n, Sum: sum})
		}
		return r
	}
	r := run(length)
	r.Controls = []*Run{run(length), run(length)}
	r.Varied = []Varied{{Factor: FactorSecrets, How: "without the secrets", Runs: []*Run{run(otherwise...), run(otherwise...)}}}
	return r
}

// scattered adds a second call to runs of sealedTo, with a length for each control and each
// varied run.
func scattered(r *Run, controls, varied []int) *Run {
	for i, runs := range [][]*Run{r.Controls, r.Varied[0].Runs} {
		for k, n := range [][]int{controls, varied}[i] {
			p := &runs[k].Profile.Payloads
			*p = append(*p, profile.Payload{Phase: finding.PhaseCall, Call: 2, Tool: note.Name, Length: n, Sum: uint64(1000 + 10*i + k)})
		}
	}
	return r
}

// idempotent declares that a second call alike changes nothing.
var idempotent = wire.Tool{Name: "do", Description: "Does it.", Annotations: &wire.Annotations{Idempotent: boolean(true)}}

// repeated is a run of the same call twice, which wrote one file each.
func repeated(tool wire.Tool, first, again string) *Run {
	r := newRun(tool, effect(tool.Name, finding.FileWrite, first), effect(tool.Name, finding.FileWrite, again, func(e *finding.Effect) { e.Call = 2 }))
	r.Profile.Calls = []profile.Call{{N: 1, Tool: tool.Name, What: "tool", Outcome: "ok"}, {N: 2, Tool: tool.Name, What: "tool", Outcome: "ok", Repeats: 1}}
	return r
}

// asking adds a request to an effect; given says that an input named it.
func asking(path string, given bool) func(*finding.Effect) {
	return func(e *finding.Effect) { e.Requests = append(e.Requests, finding.Request{Path: path, Given: given}) }
}

// aiming is a run whose call carries an address of the metadata service.
func aiming(r *Run) *Run {
	r.Profile.Calls[0].Oracles = []session.Injection{{Oracle: session.OracleFetch, Context: "metadata service", At: "/note", Token: "k3", Host: "169.254.169.254"}}
	return r
}

// permitting is a run whose server has a list of the hosts that it may reach.
func permitting(r *Run) *Run {
	r.Scope.AddManifest("server.yaml", []byte("run: {allowHosts: ['api.example.org:443']}"))
	return r
}

// hidden is a run in which two tools were called that nobody declared: one that
// no server has, and one.
func hidden(control, outcome session.Outcome) *Run {
	r := newRun(silent)
	r.Profile.Calls = append(r.Profile.Calls,
		profile.Call{N: 2, Tool: "x7", What: "tool", Outcome: control, Oracles: []session.Injection{{Oracle: session.OracleControl}}},
		profile.Call{N: 3, Tool: "debug", What: "tool", Outcome: outcome, Oracles: []session.Injection{{Oracle: session.OracleTool}}})
	return r
}

// saying is a run of hidden with a third undeclared tool, and what each of them answered.
func saying(r *Run, answers ...string) *Run {
	r.Profile.Calls = append(r.Profile.Calls, profile.Call{N: 4, Tool: "admin", What: "tool", Outcome: "ok", Oracles: []session.Injection{{Oracle: session.OracleTool}}})
	r.Undeclared = map[int]string{}
	for i, a := range answers {
		r.Undeclared[2+i] = a
	}
	return r
}

// detecting is a run of which a detector of the wire said something.
func detecting(rule string) *Run {
	return with(newRun(note), func(r *Run) {
		r.Wire.Detected = []Detected{{Finding: finding.Finding{Rule: rule, Severity: finding.Medium, Title: "t", Message: "m", Fingerprint: rule, Confidence: finding.Certain, Call: 1, Evidence: []finding.Evidence{{Source: "frame", Seq: 3}}}}}
	})
}

// under is a run under a policy.
func under(text string, r *Run) *Run {
	p, err := policy.Parse("coalmine.yaml", []byte(text))
	if err != nil {
		panic(err)
	}
	r.Policy = p
	return r
}

// declaring is a run of which a detector of the wire told of a text in a declaration.
func declaring(rule, tool, place string) *Run {
	return with(detecting(rule), func(r *Run) {
		r.Wire.Detected[0].Declared = &detect.Declared{Owner: detect.Owner{Kind: detect.OwnerTool, Name: tool}, Place: place, Words: "words"}
	})
}

// linking is a run of a tool whose answer held an image that carries data.
func linking(t wire.Tool) *Run {
	return with(newRun(t), func(r *Run) {
		r.Wire.Links = []Link{{Fact: Fact{Seq: 9, Tool: t.Name, Call: 1, Text: "charts.example.com"}, Image: true, How: "as it is"}}
	})
}

// refusing is a run in which a path that a tool takes led out, and the tool refused another one.
func refusing(context string, said profile.Refusal) *Run {
	r := proven(taking("read_file", "path"), "path", session.OraclePath, profile.HitReturn)
	r.Profile.Hits[0].Context = context
	r.Profile.Refusals = map[string]profile.Refusal{"read_file": said}
	return r
}
