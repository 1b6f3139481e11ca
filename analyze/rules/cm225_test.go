package rules

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// drawing is a run of a tool that was called as the lines say: "arguments => answer". A line that
// begins with "!" failed.
func drawing(name, text, properties string, lines ...string) *Run {
	r := newRun(wire.Tool{Name: name, Description: text, InputSchema: json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)})
	r.Profile.Calls, r.Profile.Answers = nil, map[int]profile.Answer{}
	for i, line := range lines {
		line, failed := strings.CutPrefix(line, "!")
		args, answer, _ := strings.Cut(line, " => ")
		r.Profile.Calls = append(r.Profile.Calls, profile.Call{N: i + 1, Tool: name, What: "tool", Outcome: "ok"})
		r.Args[i+1] = json.RawMessage(args)
		r.Profile.Answers[i+1] = profile.Answer{Sum: sha256.Sum256([]byte(answer)), Text: answer, Failed: failed}
	}
	return r
}

// restarted is a run to which another start is compared that gave the answers of its lines, one for each call.
func restarted(r *Run, answers ...string) *Run {
	other := *r
	p := *r.Profile
	p.Answers = map[int]profile.Answer{}
	for i, a := range answers {
		p.Answers[i+1] = profile.Answer{Sum: sha256.Sum256([]byte(a)), Text: a}
	}
	other.Profile = &p
	r.Controls = append(r.Controls, &other)
	return r
}

// without is a run whose last other start did not make the first call, so that its calls have other numbers.
func without(r *Run) *Run {
	other := r.Controls[len(r.Controls)-1]
	p, args := *other.Profile, map[int]json.RawMessage{}
	p.Calls, p.Answers = nil, map[int]profile.Answer{}
	for _, c := range other.Profile.Calls[1:] {
		p.Answers[c.N-1], args[c.N-1] = other.Profile.Answers[c.N], other.Args[c.N]
		c.N--
		p.Calls = append(p.Calls, c)
	}
	other.Profile, other.Args = &p, args
	return r
}

const (
	makesPIN  = "Makes a cryptographically random PIN that nobody can predict."
	someDigit = `"digits":{"type":"integer"}`
	makesKey  = `"length":{"type":"integer"}`
)

var ofChance = []ruleCase{
	{"CM225", "a PIN twice", drawing("make_pin", makesPIN, someDigit, `{"digits":8} => 48210377`, `{"digits":4} => 4821`, `{"digits":8} => 48210377`), finding.High},
	{"CM225", "short PINs several times", drawing("make_pin", makesPIN, someDigit, `{"digits":4} => 4821`, `{"digits":4} => 4821`, `{"digits":5} => 48210`, `{"digits":5} => 48210`), finding.High},
	{"CM225", "a passphrase of words", drawing("make_passphrase", "Makes a passphrase of words drawn by the system's secure random source.", `"words":{"type":"integer"}`,
		`{"words":5} => amber-fjord-koala-maple-tulip`, `{"words":3} => amber-fjord-koala`, `{"words":5} => amber-fjord-koala-maple-tulip`), finding.High},
	{"CM225", "a password for a site", drawing("new_password", "Generates a strong password.", `"site":{"type":"string"},"length":{"type":"integer"}`,
		`{"site":"a","length":12} => Your password: k7#Fq2!mZx9w`, `{"length":12,"site":"a"} => Your password: k7#Fq2!mZx9w`), finding.High},
	{"CM225", "a token without arguments", drawing("token", "Returns an unguessable session token.", "", `{} => {"token":"9f86d081884c7d65"}`, `{} => {"token":"9f86d081884c7d65"}`), finding.High},
	{"CM225", "a random id", drawing("new_id", "Returns a random identifier.", "", `{} => 6f1c1d5e-2a0b-4c3d-8e4f-5a6b7c8d9e0f`, `{} => 6f1c1d5e-2a0b-4c3d-8e4f-5a6b7c8d9e0f`), finding.Medium},
	{"CM225", "the same in each start", restarted(drawing("new_key", "Generates an API key.", "", `{} => sk_4f9a8c2e71`, `{} => sk_77b01d3c9e`), "sk_4f9a8c2e71", "sk_77b01d3c9e"), finding.High},
	{"CM225", "the same in a start that makes fewer calls", without(restarted(drawing("new_key", "Generates an API key.", makesKey, `{"n":1} => 0`, `{"n":2} => sk_4f9a8c2e71`, `{"n":3} => sk_77b01d3c9e`), "0", "sk_4f9a8c2e71", "sk_77b01d3c9e")), finding.High},
	{"CM225", "another value in a start that makes fewer calls", without(restarted(drawing("new_key", "Generates an API key.", makesKey, `{"n":1} => 0`, `{"n":2} => sk_4f9a8c2e71`, `{"n":3} => sk_77b01d3c9e`), "0", "sk_11ab47f0de", "sk_4f9a8c2e71")), ""},
	{"CM225", "another value each time", drawing("make_pin", makesPIN, someDigit, `{"digits":8} => 48210377`, `{"digits":8} => 11930462`), ""},
	{"CM225", "a name that it does not follow from, as it says", drawing("door_pin", "Makes a PIN for a badge. PINs are different every time.", `"name":{"type":"string"}`, `{"name":"a"} => a: 48210377`, `{"name":"a"} => a: 48210377`), finding.High},
	{"CM225", "a name, and no such promise", drawing("door_pin", "Makes a PIN for a badge.", `"name":{"type":"string"}`, `{"name":"a"} => a: 48210377`, `{"name":"a"} => a: 48210377`), ""},
	{"CM225", "other arguments", drawing("make_pin", makesPIN, someDigit, `{"digits":8} => 48210377`, `{"digits":6} => 482103`), ""},
	{"CM225", "another value in each start", restarted(drawing("new_key", "Generates an API key.", "", `{} => sk_4f9a8c2e71`), "sk_77b01d3c9e"), ""},
	{"CM225", "chance", drawing("make_pin", makesPIN, someDigit, `{"digits":4} => 4821`, `{"digits":4} => 4821`), ""},
	{"CM225", "a dice", drawing("roll", "Rolls a random die.", `"sides":{"type":"integer"}`, `{"sides":6} => 4`, `{"sides":6} => 4`), ""},
	{"CM225", "a coin", drawing("flip", "Flips a coin at random.", "", `{} => heads`, `{} => heads`), ""},
	{"CM225", "with a seed", drawing("draw", "Draws a random string.", `"seed":{"type":"integer"}`, `{"seed":1} => k7fq2mzx9w4h`, `{"seed":1} => k7fq2mzx9w4h`), ""},
	{"CM225", "an optional seed in another spelling", drawing("draw", "Draws a random string.", `"randomSeed":{"type":"integer"}`, `{} => k7fq2mzx9w4h`, `{} => k7fq2mzx9w4h`), ""},
	{"CM225", "a name's UUID", drawing("uuid5", "Generates a UUID, random or of a name.", `"name":{"type":"string"}`, `{"name":"a"} => 6f1c1d5e-2a0b-5c3d-8e4f-5a6b7c8d9e0f`, `{"name":"a"} => 6f1c1d5e-2a0b-5c3d-8e4f-5a6b7c8d9e0f`), ""},
	{"CM225", "derived by declaration", drawing("site_password", "Generates a strong password. It is derived from the site.", `"site":{"type":"string"}`, `{"site":"a"} => k7#Fq2!mZx9w`, `{"site":"a"} => k7#Fq2!mZx9w`), ""},
	{"CM225", "a password's hash", drawing("hash_password", "Generates the hash of a password.", `"password":{"type":"string"}`, `{"password":"a"} => 9f86d081884c7d65`, `{"password":"a"} => 9f86d081884c7d65`), ""},
	{"CM225", "checks a password", drawing("check", "Says how strong a password is.", `"candidate":{"type":"string"}`, `{"candidate":"a"} => score 12.5 of 1000`, `{"candidate":"a"} => score 12.5 of 1000`), ""},
	{"CM225", "the number of the day", drawing("lucky", "Draws the random number of the day.", "", `{} => 482103775511`, `{} => 482103775511`), ""},
	{"CM225", "errors", drawing("make_pin", makesPIN, someDigit, `!{"digits":99} => error 0x80042109`, `!{"digits":99} => error 0x80042109`), ""},
	{"CM225", "a refusal in words", drawing("make_pin", makesPIN, someDigit, `{"digits":99} => digits must be between 4 and 12`, `{"digits":99} => digits must be between 4 and 12`), ""},
	{"CM225", "a picked word", drawing("pick", "Picks a random word.", `"list":{"type":"string"}`, `{"list":"a"} => lantern`, `{"list":"a"} => lantern`), ""},
	{"CM225", "a version", drawing("make_pin", makesPIN, "", `{} => ready, v1.12.203`, `{} => ready, v1.12.203`), ""},
	{"CM225", "stars", drawing("make_pin", makesPIN, "", `{} => **** **** ****`, `{} => **** **** ****`), ""},
	{"CM225", "from a service", with(drawing("random", "Asks api.random.example for a random number.", "", `{} => 482103775511`, `{} => 482103775511`), func(r *Run) {
		r.Profile.Asked = map[int][]string{1: {"api.random.example:443"}}
	}), ""},
	{"CM225", "a pin on a board", drawing("create_pin", "Creates a pin on a board.", `"board":{"type":"string"}`, `{"board":"a"} => pin-48210377`, `{"board":"a"} => pin-48210377`), ""},
	{"CM225", "no promise", drawing("order_number", "Returns the order's reference.", "", `{} => 482103775511`, `{} => 482103775511`), ""},
}
