package oracle

import "github.com/coalmine-dev/coalmine/sandbox/session"

// Line is a line break and a field of a token's name after it, as headers (RFC 5322, section 2.2) and YAML write one, and
// as .env and ini files do.
func Line(token string) Input {
	return Input{Text: "\n" + token + ": 1\n" + token + "=1", Append: true, Injection: session.Injection{Oracle: session.OracleLine, Context: "line break", Token: token}}
}
