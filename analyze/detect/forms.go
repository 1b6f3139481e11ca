package detect

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// secretForms finds forms that ask the user for a secret. The specification forbids it:
// "Servers MUST NOT use form mode elicitation to request sensitive information such as
// passwords, API keys, access tokens, or payment credentials" (MCP 2025-11-25,
// client/elicitation; the same in 2025-06-18). A URL that is to be opened may.
type secretForms struct{}

func (secretForms) name() string { return "secret_forms" }

func (secretForms) event(c *context) { eachRequest(c, MethodElicit, tellForm) }

// eachRequest gives tell the parameters of a request of the server's by one method. A result may hold
// some, which ask for input in its place (MCP 2026-07-28).
func eachRequest(c *context, method string, tell func(c *context, params json.RawMessage)) {
	switch {
	case !c.FromServer():
	case c.Kind == wire.Request && c.Method == method:
		tell(c, c.Params)
	case c.Kind == wire.Response:
		EachAsked(c.Result, method, func(params []byte) { tell(c, params) })
	}
}

// EachAsked gives tell the parameters of the requests by one method that a result holds.
func EachAsked(result []byte, method string, tell func(params []byte)) {
	if !mayRequest(result) {
		return
	}
	asked, _ := wire.Member(result, "inputRequests")
	wire.Walk(asked, func(_, request []byte) {
		name, _ := wire.Member(request, "method")
		if s, _ := wire.Text(name); s == method {
			params, _ := wire.Member(request, "params")
			tell(params)
		}
	})
}

// contexts finds requests to a model that ask for what other servers gave: includeContext with the
// value "allServers" (MCP 2025-11-25, client/sampling, which discourages it).
type contexts struct{}

func (contexts) name() string { return "contexts" }

func (contexts) event(c *context) { eachRequest(c, MethodSample, tellContext) }

func tellContext(c *context, params json.RawMessage) {
	included, _ := wire.Member(params, "includeContext")
	if s, _ := wire.Text(included); s != "allServers" {
		return
	}
	c.add(Divergence, "context_asked", 3, askedBy(c, MethodSample), "the server asks the client's model for the context of all servers")
}

// askedBy are the details of a request of the server's: its method, and the tool in whose call it came.
func askedBy(c *context, method string) []any {
	extra := []any{"method", method}
	if c.Asked != nil && c.Asked.Tool != "" {
		extra = append(extra, "tool", name(c.Asked.Tool))
	}
	return extra
}

// mayRequest tells most results that ask for nothing without reading them.
func mayRequest(result json.RawMessage) bool {
	return bytes.Contains(result, []byte("Requests")) || bytes.Contains(result, []byte(`\u`))
}

const (
	// MethodElicit asks the user for input.
	MethodElicit = "elicitation/create"
	// MethodSample asks the client's model for a text.
	MethodSample = "sampling/createMessage"
)

// tellForm tells of a form that asks for a secret.
func tellForm(c *context, params json.RawMessage) {
	var form struct {
		Message string `json:"message"`
		Schema  struct {
			Properties map[string]field `json:"properties"`
		} `json:"requestedSchema"`
	}
	// What can be read of it counts.
	_ = json.Unmarshal(params, &form)
	if mode, _ := wire.Member(params, "mode"); string(mode) == `"url"` {
		return
	}
	what := ""
	open := len(form.Schema.Properties) == 0
	for field, p := range form.Schema.Properties {
		if !p.open() {
			continue
		}
		open = true
		for _, s := range []string{spaced(field), p.Title, p.Description} {
			if asksForSecret(s) && (what == "" || field < what) {
				what = field
			}
		}
	}
	switch {
	case what != "":
		what = "its field " + quoted(what)
	case open && (asksForSecret(form.Message) || codeSent.MatchString(form.Message)) && requested.MatchString(form.Message):
		what = "its message " + quoted(form.Message)
	default:
		return
	}
	c.add(Divergence, "secret_asked", 3, askedBy(c, MethodElicit), "the server asks the user for a secret in a form: %s", what)
}

// field is one of a form.
type field struct {
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Enum        []json.RawMessage `json:"enum"`
	OneOf       []json.RawMessage `json:"oneOf"`
	Maximum     *float64          `json:"maximum"`
}

// fewest is how many values a secret number can have at least: one of four digits has more.
const fewest = 1000

// open reports whether a field can take a secret: whether to keep a password is no password,
// and neither is one of a few values that the form lists, nor a small number.
func (f *field) open() bool {
	switch f.Type {
	case "", "string":
		return len(f.Enum)+len(f.OneOf) == 0
	case "number", "integer":
		return len(f.Enum) == 0 && (f.Maximum == nil || *f.Maximum >= fewest)
	}
	return false
}

// secretNames are the names of secrets, in the words of forms.
var secretNames = lazyregexp.New(`(?i)\b(?:passwords?|passwd|pass ?phrase|passcode|pwd|api ?-?keys?|(?:secret|private|access|encryption|signing|license|ssh) keys?|client secret|secret|` +
	`(?:access|api|auth|bearer|refresh|session|personal access|security|oauth|github|gitlab|slack|bot)[ -]tokens?|credentials?|otp|2fa code|one[- ]time (?:code|password)|verification code|pin(?: code| number)?|cvv|cvc|` +
	`(?:credit |debit )?card number|social security number|ssn|(?:seed|recovery|mnemonic) phrase|mnemonic|` +
	`passwort|kennwort|zugangsdaten|mot de passe|contraseña|clave (?:api|privada)|senha|palavra-passe|wachtwoord|hasło|şifre|parola d.ordine|parolă|parola(?:n[ıi]z|y[ıi]|n[ıi]|ta|m[ıi])?\pL* (?:girin|yazın|ta|dvs|dumneavoastră|contului)|parola(?:n[ıi]z|y[ıi]|n[ıi])\pL*|(?:introduc\pL*|tastează) parola)(?:$|[^\pL])` +
	`|парол|密码|口令|密钥|パスワード|暗証番号|비밀번호|كلمة المرور`)

// Digits tell what a form that names nothing is for: cardDigits are those of a card for payment, codeSent is a
// code that somebody else just gave the user.
var (
	cardDigits = lazyregexp.New(`(?i)\b(?:sixteen|16)[- ](?:digits?|figures?|numbers?)\b|\b(?:three|3)[- ](?:digits?|figures?|numbers?) (?:on|at|from) (?:the )?(?:back|reverse)\b`)
	codeSent   = lazyregexp.New(`(?i)\b(?:bank|phone|mobile|sms|text message|authenticator|e-?mail)\b[^.?!]{0,40}\b(?:sent|shown|showed|shows|texted|received|gave|displayed|displays)\b[^.?!]{0,40}\b(?:digits?|code|figures)\b` +
		`|\b(?:digits?|code|figures)\b[^.?!]{0,40}\b(?:sent|shown|showed|shows|texted|received|gave|displayed|displays)\b[^.?!]{0,40}\b(?:bank|phone|mobile|sms|text message|authenticator|e-?mail)\b`)
)

// aboutSecret are what a form may say of a secret without asking for it.
var aboutSecret = lazyregexp.New(`(?i)\b(?:length|policy|strength|hint|name|manager|reset|file|path|expir\w*|do not|don't|never|without|environment variable|required\?|protected)\b`)

// requested says that a message asks for something.
var requested = lazyregexp.New(`(?i)\b(?:enter|provide|type|give|input|paste|supply|confirm|need|please|what is|share|gib|eingeben|geben|entrez|saisissez|fournir|introduzca|ingres\w*|escriba|digite|insira|informe|inserisci|voer|podaj|girin)\b|введите|укажите|输入|提供|入力|입력|أدخل`)

// asksForSecret reports whether a label names a secret that is to be given.
func asksForSecret(s string) bool {
	return (secretNames.MatchString(s) || cardDigits.MatchString(s)) && !aboutSecret.MatchString(s) || bareToken(s)
}

// bareToken reports whether a label is nothing but "token".
func bareToken(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "token") }

// spaced is a field's name in words: "accessToken" and "access_token" are "access token".
func spaced(field string) string {
	var b strings.Builder
	was := rune(0)
	for _, r := range field {
		switch {
		case r == '_' || r == '-' || r == '.':
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(was):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		was = r
	}
	return b.String()
}
