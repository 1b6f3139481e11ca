package detect

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// RuleOf is the rule that an annotation's subcategory is a case of, "" for none.
func RuleOf(subcategory string) string {
	switch {
	case strings.HasPrefix(subcategory, "pii_in_result_"):
		return "CM410"
	case strings.HasPrefix(subcategory, "pii_"):
		return "CM411"
	case strings.HasPrefix(subcategory, "gate_"):
		return "CM418"
	}
	return ruleIDs[subcategory]
}

var ruleIDs = map[string]string{
	"tool_poisoning": "CM401", "hidden_text": "CM402", "not_protocol": "CM403", "capability_violation": "CM404",
	"fabricated_tool_call": "CM405", "schema_violation": "CM406",
	"premature_call": "CM407", "call_before_declaration": "CM407", "declaration_unavailable": "CM407",
	"unknown_server_request": "CM408", "orphaned_response": "CM409", "unexpected_egress_host": "CM412", "output_schema_violation": "CM413",
	"poisoned_result": "CM414", "hidden_text_in_result": "CM414", "role_switch_delimiter": "CM415", "zero_width_obfuscation": "CM415",
	"tool_shadowing": "CM416", "detector_error": "CM417", "analysis_limit": "CM417", "surface_change": "CM501",
}

// severityOf are glassport's numbers in the words of findings.
func severityOf(a *Annotation) finding.Severity {
	if a.Kind == Info {
		return finding.Info
	}
	return [...]finding.Severity{finding.Info, finding.Low, finding.Medium, finding.High}[min(max(a.Severity, 0), 3)]
}

// maxEvidence bounds the evidence of one finding.
const maxEvidence = 20

// Findings turns annotations into findings: the same observation about the same
// thing is one, with each place as evidence. path is the log's, "" for none.
func Findings(as []Annotation, path string) []finding.Finding {
	titles := map[string]*finding.Rule{}
	for _, r := range append(Rules(), others...) {
		titles[r.ID] = &r
	}
	out := []finding.Finding{}
	index := map[string]int{}
	for i := range as {
		a := &as[i]
		rule := titles[RuleOf(a.Subcategory)]
		if rule == nil {
			continue
		}
		key := finding.Fingerprint(rule.ID, a.Subcategory, subject(a))
		e := finding.Evidence{Source: "frame", Seq: a.Seq(), Text: a.Explanation}
		if path != "" && a.Line > 0 {
			e.Location = &finding.Location{Path: path, Line: a.Line}
		}
		if k, ok := index[key]; ok {
			if len(out[k].Evidence) < maxEvidence {
				out[k].Evidence = append(out[k].Evidence, e)
			}
			continue
		}
		index[key] = len(out)
		out = append(out, finding.Finding{
			Rule: rule.ID, Severity: severityOf(a), Title: rule.Title, Message: a.Explanation, Tool: a.Tool(), Confidence: finding.Certain,
			Evidence: []finding.Evidence{e}, Fingerprint: key, Location: e.Location,
		})
	}
	return out
}

// subject is what an annotation is about, without the numbers of its frame.
func subject(a *Annotation) string {
	var parts []string
	for _, key := range []string{"tool", "method", "capability", "host", "pii_category", "place", "delta", "redeclared", "detector", "reason", "uri", "prompt", "resource", "resourceTemplate", "other"} {
		if v, ok := a.Metadata[key]; ok {
			parts = append(parts, fmt.Sprintf("%s=%v", key, v))
		}
	}
	if a.Subcategory == "schema_violation" || a.Subcategory == "output_schema_violation" {
		parts = append(parts, a.Explanation)
	}
	return strings.Join(parts, ";")
}

// others are rules that are documented with those of a probe.
var others = []finding.Rule{
	{ID: "CM401", Title: "A declaration tells the model what to do behind the user's back"},
	{ID: "CM402", Title: "A declaration holds hidden characters"},
	{ID: "CM403", Title: "Output that is not the protocol"},
	{ID: "CM404", Title: "The server asked for what the client never granted"},
	{ID: "CM501", Title: "The surface changed within the session"},
}

// Rules documents what only a log of the wire shows, sorted by ID.
func Rules() []finding.Rule {
	return []finding.Rule{
		{ID: "CM405", Name: "FabricatedCall", Title: "A call of a tool that was never declared", Severity: finding.High, CWE: []string{"CWE-284"}, OWASP: []string{"MCP02", "MCP09"},
			Help: "The client called a tool outside the newest complete `tools/list`: a model made it up, a client mixed up its servers, or a server serves more than it says.\n\n" +
				"**Evidence.** The call, and the list that was valid then. Glassport's name: `fabricated_tool_call`, severity 3.\n\n" +
				"**False positive when** the list was changed and the log was cut off in between. Not judged where coalmine was the client."},
		{ID: "CM406", Name: "ArgumentsAgainstSchema", Title: "Arguments that do not fit the declared schema", Severity: finding.Medium, CWE: []string{"CWE-20", "CWE-1287"}, OWASP: []string{"MCP05"},
			Help: "A call's arguments lack a required member, have one of a wrong type, one that no schema names, or violate another keyword of the tool's `inputSchema`.\n\n" +
				"**Evidence.** The place within the arguments; never the value. Glassport's name: `schema_violation`, severity 2.\n\n" +
				"**False positive when** the server is known to accept more than it declares. Not judged where coalmine was the client."},
		{ID: "CM407", Name: "CallOutOfOrder", Title: "A call before the handshake or the list of tools", Severity: finding.Medium, CWE: []string{"CWE-696"}, OWASP: []string{"MCP02"},
			Help: "A tool was called before `notifications/initialized` (`premature_call`, medium), without any `tools/list` having been asked for (`call_before_declaration`, low), or while no complete list was known (`declaration_unavailable`, low).\n\n" +
				"**Evidence.** The call. In the era without sessions no handshake is expected.\n\n" +
				"**False positive when** a client keeps the list of an earlier session. A log that begins in the middle proves nothing and stays quiet."},
		{ID: "CM408", Name: "UnknownServerRequest", Title: "The server sent a request that the protocol does not know", Severity: finding.Medium, CWE: []string{"CWE-284"}, OWASP: []string{"MCP02"},
			Help: "A request from the server is none that the specification names.\n\n**Evidence.** The request's method. Glassport's name: `unknown_server_request`, severity 2.\n\n" +
				"**False positive when** client and server share an extension."},
		{ID: "CM409", Name: "OrphanedResponse", Title: "A response to nothing", Severity: finding.Low, CWE: []string{"CWE-345"}, OWASP: []string{"MCP02"},
			Help: "A response carries an id that no open request of this session has: an answer given twice, or one that nobody asked for.\n\n**Evidence.** The id. Glassport's name: `orphaned_response`, severity 1.\n\n" +
				"**False positive when** the tap missed the request; a log that begins in the middle stays quiet."},
		{ID: "CM410", Name: "SecretInResult", Title: "A result holds a credential or personal data", Severity: finding.High, CWE: []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
			Help: "What a tool returned has the shape, and where there is one the check digits, of a private key, a provider's key, a token, a card, an account or a social security number.\n\n" +
				"**Evidence.** The category and the length; the value itself is never shown. Glassport's names: `pii_in_result_…`, severity 3. In a probe it is medium, since nothing there is anyone's, and quiet for decoys, which are CM101's and CM103's, and for what a call brought.\n\n" +
				"**False positive when** the data was what the user asked for, or is a published example."},
		{ID: "CM411", Name: "SecretInArguments", Title: "Arguments hold a credential or personal data", Severity: finding.High, CWE: []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
			Help: "A call hands the server something of the shape of a credential or of personal data. Private keys, providers' keys and numbers with check digits are high, tokens and named secrets medium, addresses low.\n\n" +
				"**Evidence.** The category and the length. Glassport's names: `pii_…`.\n\n**False positive when** the tool's purpose is to take it. Not judged where coalmine was the client."},
		{ID: "CM412", Name: "UnexpectedEgressHost", Title: "A call names a host that the server never declared", Severity: finding.Medium, CWE: []string{"CWE-200", "CWE-918"}, OWASP: []string{"MCP10"},
			Help: "An argument holds an address on a host that neither the server's introduction nor its tools name; with sensitive data beside it the finding is high, and a well-known cloud's host is told only then.\n\n" +
				"**Evidence.** The host. Glassport's name: `unexpected_egress_host`, severity 3 or 2.\n\n**False positive when** the tool fetches whatever the user asks for. Not judged where coalmine was the client."},
		{ID: "CM413", Name: "ResultAgainstSchema", Title: "A result that does not fit the declared outputSchema", Severity: finding.Medium, CWE: []string{"CWE-20"}, OWASP: []string{"MCP05"},
			Help: "A tool that declares an `outputSchema` returned structured content that does not satisfy it (medium), or none at all (low).\n\n**Evidence.** The place within the content; never the value.\n\n" +
				"**False positive when** never for what the validator says; a schema that cannot be compiled claims nothing."},
		{ID: "CM414", Name: "TextInResult", Title: "A result speaks to the model, or hides text", Severity: finding.Medium, CWE: []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP06"},
			Help: "What a tool, a resource or a prompt returned orders the model about behind the user's back, or holds text in characters that only a model reads.\n\n**Evidence.** The words, or the code points.\n\n" +
				"**False positive when** the server passed on what somebody else wrote about such attacks; it is the user's content that is then to be mistrusted."},
		{ID: "CM415", Name: "TaintedArguments", Title: "Arguments hold what steers a prompt", Severity: finding.High, CWE: []string{"CWE-94", "CWE-1427"}, OWASP: []string{"MCP06"},
			Help: "An argument holds a delimiter by which a model's prompt marks roles (`role_switch_delimiter`), or characters of no width (`zero_width_obfuscation`).\n\n**Evidence.** The argument's name.\n\n" +
				"**False positive when** the text is about prompts. Joiners that a script or an emoji needs are quiet. Not judged where coalmine was the client."},
		{ID: "CM416", Name: "ToolShadowing", Title: "One server's tools stand in another's way", Severity: finding.Medium, CWE: []string{"CWE-694", "CWE-1427"}, OWASP: []string{"MCP03"},
			Help: "Of several servers' logs, one server declares a tool of the same name as another's (low), or a text of it speaks of another server's tool (medium; high where the text also gives orders to the model).\n\n" +
				"**Evidence.** Both declarations.\n\n**False positive when** both servers are one's own and are meant to work together."},
		{ID: "CM417", Name: "AnalysisIncomplete", Title: "The analysis could not tell everything", Severity: finding.Medium, OWASP: []string{"MCP08"},
			Help: "A detector failed at a frame (`detector_error`, medium), or a bound of the analysis was met (`analysis_limit`, low). The other detectors went on.\n\n**Evidence.** The detector or the bound.\n\n" +
				"**False positive when** never; it says what was not looked at."},
		{ID: "CM418", Name: "GateRecord", Title: "A gate acted", Severity: finding.Info, OWASP: []string{"MCP02"},
			Help: "A gate in the session kept a call from the server, answered in its place, or let one through unchecked. The call itself is still judged by the other rules.\n\n**Evidence.** The gate's own record in the log."},
	}
}
