package rules

import (
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm432 = Rule{Rule: cm432Doc, Check: checkCM432, Shrink: ShrinkNever}

var cm432Doc = finding.Rule{
	ID: "CM432", Name: "ArgumentAsksForMore", Title: "Argument asks for secrets or the conversation", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A model fills in whatever an argument asks for, and the server gets it with each call.", Fix: "Take only what the tool's answer needs, and say in the tool's description what it is for.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP03", "MCP10"},
	Help: "The schema of a tool has an argument that asks for what the tool, by its name and description, does not work on: the contents of a file of secrets (a `.env`, a private key, a kubeconfig, what `printenv` shows) is high; " +
		"the conversation, the system prompt, the model's reasoning or the list of other tools is medium. The argument's name (`system_prompt`, `content_of_id_rsa`) or its description asks.\n\n" +
		"**Evidence.** The name and the description of the argument.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says what the argument is for.",
}

// askedThing is a kind of thing that an argument may ask for, with the words by which a tool or a server declares to work on it.
type askedThing struct {
	what  string
	named *lazyregexp.Regexp
	// in matches a description that asks for the thing.
	in       *lazyregexp.Regexp
	words    []string
	severity finding.Severity
}

// giving is an order to hand over what a thing holds.
const giving = `\b(?:paste|copy|dump|attach|upload|hand over|(?:full |whole |entire |raw )?(?:contents?|output|text|body) of|what (?:is|stands) in|as (?:it|they) (?:stands?|runs?|is|are))\b`

// givesWhole matches a thing near such an order, in one sentence.
func givesWhole(thing string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)` + giving + `[^.!?\n]{0,80}?(?:` + thing + `)|(?:` + thing + `)[^.!?\n]{0,40}?(?:with (?:its|their|all) values|` + giving + `)`)
}

var askedThings = []askedThing{
	{what: "the contents of a .env file or the environment", named: lazyregexp.New(`\b(?:dotenv|env file|printenv|env) (?:contents?|text|dump)\b|\b(?:contents?|dump|reading|output) (?:of |from )*(?:reading )?(?:the )?(?:dotenv|env|environment|printenv)\b`), in: givesWhole(`\.env\b|\bdotenv\b|\bprintenv\b|\benvironment variables\b`), words: []string{"env", "dotenv", "environment", "environments", "variables"}, severity: finding.High},
	{what: "a private key", named: lazyregexp.New(`\bid (?:rsa|ed25519|ecdsa)\b|\b(?:contents?|reading) (?:of |from )*(?:reading )?(?:the )?ssh\b`), in: givesWhole(`\bid_(?:rsa|ed25519|ecdsa)\b|~/\.ssh\b|\bprivate (?:ssh )?keys?\b`), words: []string{"ssh", "key", "keys", "keypair", "pem", "pgp", "gpg", "certificate", "certificates", "sign", "signs", "signature", "decrypt"}, severity: finding.High},
	{what: "a file of credentials", in: givesWhole(`\.aws/credentials\b|\.kube/config\b|\bkubeconfig\b|\.git-credentials\b|\.netrc\b|\.npmrc\b|\.pypirc\b|\bmcp\.json\b|claude_desktop_config`),
		words: []string{"credential", "credentials", "aws", "kubeconfig", "kubernetes", "cluster", "clusters", "git", "netrc", "npmrc", "npm", "pypirc", "mcp", "login", "logins"}, severity: finding.High},
	{what: "the system prompt", named: lazyregexp.New(`\b(?:system|developer) (?:prompt|message|instructions?)$`), in: lazyregexp.New(`(?i)\b(?:your|the (?:full|entire|whole|complete|current|active)) (?:system|developer) (?:prompt|message|instructions?)\b`),
		words: promptWords, severity: finding.Medium},
	{what: "the model's reasoning", named: lazyregexp.New(`\bchain of thought$`), in: lazyregexp.New(`(?i)\byour (?:full|entire|whole|complete) (?:chain of thought|reasoning)\b`), words: append([]string{"think", "thinking", "thought", "thoughts", "reasoning", "reason"}, promptWords...), severity: finding.Medium},
	{what: "the conversation", named: lazyregexp.New(`\b(?:(?:conversation|chat|dialog(?:ue)?) (?:history|context|transcript|log|so far)|(?:full|entire|whole|complete|previous|prior) (?:conversation|chat|messages|dialog(?:ue)?))$`),
		in:    lazyregexp.New(`(?i)\b(?:full|entire|whole|complete) (?:conversation|chat|dialog(?:ue)?)\b|\b(?:conversation|chat) (?:history|so far|up to (?:now|here))\b|\ball (?:previous|prior|earlier) messages\b|\beverything the user (?:said|wrote|asked)\b`),
		words: append([]string{"conversation", "conversations", "chat", "chats", "transcript", "transcripts", "dialog", "dialogue", "dialogues", "memory", "memories", "remember", "summarize", "summary", "message", "messages", "session", "sessions"}, promptWords...), severity: finding.Medium},
	{what: "the list of other tools", named: lazyregexp.New(`\b(?:(?:available|other|all|installed|connected) (?:tools|servers|mcp servers)|tools? list|tool call history)$`),
		in:    lazyregexp.New(`(?i)\b(?:all|other|available|connected|installed) (?:mcp )?(?:tools|servers)\b[^.!?\n]{0,40}\b(?:you (?:have|can|may)|available to you|your client|at your disposal)\b`),
		words: append([]string{"mcp", "toolset", "workflow", "workflows", "plan", "plans", "orchestrate"}, promptWords...), severity: finding.Medium},
}

// promptWords are those of tools that work with models or their prompts.
var promptWords = []string{"prompt", "prompts", "llm", "llms", "model", "models", "agent", "agents", "assistant", "assistants", "completion", "completions", "chatbot", "gpt", "claude", "openai", "anthropic", "gemini", "ollama"}

func checkCM432(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Surface.Tools {
		t := &r.Surface.Tools[i]
		said := saidWords(t.Name, t.Title, t.Description, r.Surface.Server.Name, r.Surface.Server.Title, r.Surface.Instructions)
		for _, a := range r.Scope.Tool(t.Name).Arguments {
			if len(out) >= maxEvidence {
				return out
			}
			thing := asksForMore(&a)
			if thing == nil || slices.ContainsFunc(thing.words, func(w string) bool { return said[w] }) {
				continue
			}
			out = append(out, finding.Finding{
				Rule: cm432Doc.ID, Severity: thing.severity, Title: cm432Doc.Title, Tool: t.Name, Phase: finding.PhaseList, Confidence: finding.Certain,
				Message:     "the argument “" + quote(a.Name) + "” of “" + t.Name + "” asks for " + thing.what + ", which the tool's name and description do not speak of",
				Evidence:    []finding.Evidence{{Source: "frame", Text: "“" + quote(a.Name) + "”: “" + quote(a.Text) + "”"}},
				Fingerprint: finding.Fingerprint(cm432Doc.ID, t.Name, a.Name),
			})
		}
	}
	return out
}

// asksForMore is what an argument asks for of askedThings, nil for none of them.
func asksForMore(a *scope.Argument) *askedThing {
	name := strings.Join(wordsOfName(a.Name[strings.LastIndexByte(a.Name, '.')+1:]), " ")
	for i := range askedThings {
		t := &askedThings[i]
		if t.named != nil && t.named.MatchString(name) {
			return t
		}
		if s := t.in.FindString(a.Text); s != "" && !denial.MatchString(sentenceAround(a.Text, s)) {
			return t
		}
	}
	return nil
}

// sentenceAround is the sentence of a text in which a part of it stands.
func sentenceAround(text, part string) string {
	for _, s := range sentenceEnd.Split(text, -1) {
		if strings.Contains(s, part) {
			return s
		}
	}
	return text
}

// saidWords are the words of some texts in lower case, those of identifiers apart.
func saidWords(texts ...string) map[string]bool {
	said := map[string]bool{}
	for _, t := range texts {
		for _, w := range append(wordsOfName(t), nameWords(t)...) {
			said[w] = true
		}
	}
	return said
}

// wordsOfName are the words of an identifier in lower case: "systemPrompt" has two.
func wordsOfName(s string) []string {
	var b strings.Builder
	lower := false
	for _, c := range s {
		if unicode.IsUpper(c) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(c) || unicode.IsDigit(c)
		b.WriteRune(c)
	}
	return nameWords(b.String())
}
