package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/advise"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/drift"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

// The bounds of one answer, and of what is read for it.
const (
	maxListed   = 500
	maxFindings = 200
	maxLog      = 2 << 30
	maxReport   = 64 << 20
)

// Options say what is served.
type Options struct {
	// Root confines all reading.
	Root *os.Root
	// Version is the program's.
	Version string
	Detect  detect.Options
}

// Server makes the MCP server. Its tools may be called at the same time.
func Server(o Options) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "coalmine", Title: "coalmine: session logs", Version: o.Version}, &mcp.ServerOptions{
		Instructions: "Read-only tools over session logs of MCP servers and over coalmine's reports. Names that a server could have used to speak to you are withheld.",
	})
	h := &handlers{Options: o}
	add(s, "list_logs", "List session logs and reports", "Lists the session logs and the reports of coalmine's runs in the served directory, the newest name first.", h.list)
	add(s, "analyse_log", "Analyse a session log", "Runs every detector over one session log: what was declared, called and fabricated, and each observation with its severity (1 worth a look, 2 should not happen, 3 hostile or hallucinated unless proven otherwise).", h.analyse)
	add(s, "watch_drift", "Compare sessions over time", "Compares each server's sessions with all before them and says what is new: tools, schemas, descriptions, hosts, requests.", h.drift)
	add(s, "read_report", "Read a run's report", "Reads a report.json of coalmine: the verdict, what was not seen, and the findings.", h.report)
	add(s, "gate_status", "Read what a gate did", "Counts what coalmine gate did in one session log: calls blocked, passed unchecked, allowed by a person, or recorded by a gate that only observes; with the tools.", h.gate)
	add(s, "audit_server", "Audit a server's source", "Audits the source of a server that lies below the served directory, without running it: findings by rule and place, and a score.", h.audit)
	add(s, "explain", "Explain a rule", "Explains a rule of coalmine by its id, such as CM405, or by the name of an observation, such as fabricated_tool_call.", h.explain)
	return s
}

// add adds a tool that reads and does nothing else.
func add[In any](s *mcp.Server, name, title, description string, h func(context.Context, In) (any, error)) {
	closed := false
	mcp.AddTool(s, &mcp.Tool{Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed, DestructiveHint: &closed}},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			out, err := h(ctx, in)
			if err != nil {
				return nil, nil, err
			}
			var b bytes.Buffer
			if err := report.Encode(&b, out); err != nil {
				return nil, nil, errors.New("the answer could not be written")
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: b.String()}}}, nil, nil
		})
}

type handlers struct{ Options }

type listIn struct {
	Limit int `json:"limit,omitempty" jsonschema:"the largest number of each, 50 by default"`
}

type listOut struct {
	Logs    []string `json:"logs"`
	Reports []string `json:"reports"`
	More    int      `json:"more"`
}

func (h *handlers) list(_ context.Context, in listIn) (any, error) {
	limit := min(max(in.Limit, 0), maxListed)
	if limit == 0 {
		limit = 50
	}
	logs, err := drift.Logs(h.Root)
	if err != nil {
		return nil, errors.New("the directory cannot be listed")
	}
	out := listOut{Logs: []string{}, Reports: []string{}}
	slices.Sort(logs)
	slices.Reverse(logs)
	for _, l := range logs {
		if len(out.Logs) < limit {
			out.Logs = append(out.Logs, fileName(l))
		} else {
			out.More++
		}
	}
	entries, err := fs.ReadDir(h.Root.FS(), ".")
	if err != nil {
		return nil, errors.New("the directory cannot be listed")
	}
	for _, e := range entries {
		name := path.Join(e.Name(), "report.json")
		if info, err := h.Root.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if len(out.Reports) < limit {
			out.Reports = append(out.Reports, fileName(name))
		} else {
			out.More++
		}
	}
	return out, nil
}

// fileName is a file's name as it may be shown. One that could speak is withheld.
func fileName(name string) string { return strings.Trim(advise.Name(name), "`") }

type logIn struct {
	Log string `json:"log" jsonschema:"a name that list_logs gave"`
}

type analysis struct {
	Log          string         `json:"log"`
	Server       string         `json:"server"`
	Verdict      detect.Verdict `json:"verdict"`
	Completeness string         `json:"completeness"`
	Frames       int            `json:"frames_parsed"`
	Declared     []string       `json:"declared_tools"`
	Called       []string       `json:"called_tools"`
	Fabricated   []string       `json:"fabricated_tools"`
	Observations []string       `json:"observations"`
	More         int            `json:"more"`
	NotSeen      int            `json:"reasons_for_doubt"`
}

// open opens a regular file below the root.
func (h *handlers) open(name string, limit int64) (*os.File, error) {
	refused := fmt.Errorf("there is no such file in the served directory: %s", advise.Name(name))
	// The root refuses what leads out of it; a pipe would never end.
	if info, err := h.Root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, refused
	} else if info.Size() > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", advise.Name(name), limit)
	}
	f, err := h.Root.Open(name)
	if err != nil {
		return nil, refused
	}
	return f, nil
}

// openLog opens a session log below the root.
func (h *handlers) openLog(name string, limit int64) (*os.File, error) {
	if path.Ext(name) != ".jsonl" {
		return nil, errors.New("a session log's name ends with .jsonl")
	}
	return h.open(name, limit)
}

var (
	errCutOff  = errors.New("the log could not be read to its end")
	errNoFrame = errors.New("the file holds no frame of a session")
)

// read reads a session log below the root with the detectors.
func (h *handlers) read(ctx context.Context, name string, limit int64) (*detect.Log, error) {
	f, err := h.openLog(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := detect.Read(cancelled{ctx, f}, name, h.Detect)
	if err != nil {
		return nil, errCutOff
	}
	if l.Stats.Events == 0 {
		return nil, errNoFrame
	}
	return l, nil
}

// cancelled ends a reading when its caller is gone.
type cancelled struct {
	ctx context.Context
	io.Reader
}

func (c cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

func (h *handlers) analyse(ctx context.Context, in logIn) (any, error) {
	l, err := h.read(ctx, in.Log, maxLog)
	if err != nil {
		return nil, err
	}
	out := analysis{Log: fileName(in.Log), Server: fileName(l.State.Server.Name), Verdict: l.Verdict(), Completeness: l.Summary.Completeness, Frames: l.Stats.Frames,
		Declared: safe(l.Summary.DeclaredTools), Called: safe(unique(l.Summary.CalledTools)), Fabricated: []string{}, Observations: []string{}, More: l.Dropped, NotSeen: len(l.Gaps())}
	for _, c := range l.Summary.FabricatedCalls {
		out.Fabricated = append(out.Fabricated, c.Tool)
	}
	out.Fabricated = safe(unique(out.Fabricated))
	for i := range l.Annotations {
		if len(out.Observations) == maxFindings {
			out.More += len(l.Annotations) - i
			break
		}
		out.Observations = append(out.Observations, advise.Annotation(&l.Annotations[i]))
	}
	return out, nil
}

func unique(in []string) []string {
	set := map[string]bool{}
	for _, s := range in {
		set[s] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func safe(in []string) []string {
	out := []string{}
	for _, s := range in[:min(len(in), maxListed)] {
		out = append(out, fileName(s))
	}
	return out
}

type nothing struct{}

type driftOut struct {
	Server   string   `json:"server"`
	Sessions int      `json:"sessions"`
	Drift    []string `json:"drift"`
}

func (h *handlers) drift(context.Context, nothing) (any, error) {
	history, err := drift.Watch(h.Root)
	if err != nil {
		return nil, errors.New("the logs could not be compared")
	}
	out := []driftOut{}
	for _, server := range slices.Sorted(maps.Keys(history.Servers)) {
		d := driftOut{Server: fileName(server), Sessions: len(history.Servers[server]), Drift: []string{}}
		for _, s := range history.Servers[server] {
			for _, f := range s.Findings {
				if len(d.Drift) < maxFindings {
					d.Drift = append(d.Drift, novelty(s.Source, &f))
				}
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// novelty says a drift without a word of the server's.
func novelty(source string, d *drift.Drift) string {
	line := fmt.Sprintf("[%d] %s in %s", d.Severity, d.Kind, fileName(source))
	for _, key := range slices.Sorted(maps.Keys(d.Detail)) {
		switch v := d.Detail[key].(type) {
		case string:
			line += ", " + key + " " + fileName(v)
		case []string:
			line += ", " + key + " " + strings.Join(safe(v), " ")
		}
	}
	return line
}

type reportIn struct {
	Report string `json:"report" jsonschema:"a name that list_logs gave"`
}

type reportOut struct {
	Report   string          `json:"report"`
	Verdict  analyze.Verdict `json:"verdict"`
	NotSeen  int             `json:"reasons_for_doubt"`
	Findings []string        `json:"findings"`
	More     int             `json:"more"`
}

func (h *handlers) report(_ context.Context, in reportIn) (any, error) {
	if path.Base(in.Report) != "report.json" {
		return nil, errors.New("a report's name is report.json")
	}
	f, err := h.open(in.Report, maxReport)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	source, res, err := ReadReport(f, in.Report)
	if err != nil {
		return nil, err
	}
	out := reportOut{Report: fileName(in.Report), NotSeen: len(res.Inconclusive), Findings: []string{}}
	if v := res.Verdict; slices.Contains([]analyze.Verdict{analyze.Clean, analyze.Findings, analyze.Inconclusive}, v) {
		out.Verdict = v
	}
	rules.Sort(source.Findings)
	for i := range source.Findings {
		if len(out.Findings) < maxFindings {
			out.Findings = append(out.Findings, advise.Line(source, &source.Findings[i]))
		} else {
			out.More++
		}
	}
	return out, nil
}

// readable is what is read of a report.json.
type readable struct {
	Schema       string            `json:"schema"`
	Server       analyze.Server    `json:"server"`
	Verdict      analyze.Verdict   `json:"verdict"`
	Inconclusive []string          `json:"inconclusive"`
	Findings     []finding.Finding `json:"findings"`
}

// ReadReport reads a report.json, whose rules, severities and titles are believed
// only where they are our own.
func ReadReport(r io.Reader, name string) (*advise.Source, *analyze.Result, error) {
	var in readable
	if err := json.NewDecoder(io.LimitReader(r, maxReport)).Decode(&in); err != nil || in.Schema != analyze.Schema {
		return nil, nil, fmt.Errorf("%s is not a report of coalmine", advise.Name(name))
	}
	known := map[string]finding.Rule{}
	for _, r := range report.Rules() {
		known[r.ID] = r
	}
	s := &advise.Source{Name: name, Server: in.Server.Name}
	for _, f := range in.Findings {
		if rule, ok := known[f.Rule]; ok && f.Severity.Rank() > 0 {
			f.Title = rule.Title
			s.Findings = append(s.Findings, f)
		}
	}
	return s, &analyze.Result{Verdict: in.Verdict, Inconclusive: in.Inconclusive}, nil
}

type explainIn struct {
	Rule string `json:"rule" jsonschema:"a rule's id, such as CM405, or an observation's name, such as fabricated_tool_call"`
}

func (h *handlers) explain(_ context.Context, in explainIn) (any, error) {
	id := in.Rule
	if r, ok := rules.OfObservation(in.Rule); ok {
		id = r.ID
	}
	for _, r := range report.Rules() {
		if strings.EqualFold(r.ID, id) {
			return map[string]string{"rule": r.ID, "explanation": rules.Markdown(&r)}, nil
		}
	}
	return nil, fmt.Errorf("there is no rule %s", advise.Name(in.Rule))
}
