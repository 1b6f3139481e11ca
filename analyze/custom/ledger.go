package custom

// Schema is the version of the ledger. Within it members are only added.
const Schema = "coalmine/ledger/v1"

// Ledger is what a run's server did and said, entry by entry, as your own rules see
// it. Decoys and passed values are taken out of all texts.
//
// The tags are the documentation: coalmine schema ledger, docs/ledger.md and the types
// of expressions are made of them. A member that is absent has its type's zero value.
type Ledger struct {
	Schema   string     `json:"schema" doc:"the version of this schema" const:"coalmine/ledger/v1"`
	Effects  []*Effect  `json:"effects" doc:"what the server did"`
	Claims   []*Claim   `json:"claims" doc:"what the server declares"`
	Calls    []*Call    `json:"calls" doc:"what was called"`
	Findings []*Finding `json:"findings" doc:"what coalmine's own rules found, those of the source included"`
}

// Effect is one thing that the server did.
type Effect struct {
	Kind      string       `json:"kind" doc:"what was done" enum:"effect"`
	Target    string       `json:"target" doc:"the object: a path, a host with its port (loopback:PORT within the sandbox, dns:NAME for a question), a program's path, or the id of a decoy"`
	Path      string       `json:"path,omitempty" doc:"the file or program as a policy writes it, of a secret the decoy's file: it begins with ~, $SERVER, $WORKSPACE or /"`
	Phase     string       `json:"phase" doc:"the phase of the run" enum:"phase"`
	Tool      string       `json:"tool,omitempty" doc:"the tool, resource or prompt that was called; (undeclared) for every tool that nobody declared; absent outside calls"`
	Call      int          `json:"call,omitempty" doc:"the call's number, from 1; absent outside calls"`
	Count     int          `json:"count,omitempty" doc:"how often the same was seen in the call"`
	Rung      string       `json:"rung,omitempty" doc:"how far it came; of effects that are no secret, attempted (it failed) or opened" enum:"rung"`
	Actor     string       `json:"actor,omitempty" doc:"the base name of the program that did it"`
	Argv      []string     `json:"argv,omitempty" doc:"the command line of a program that was run"`
	Noise     string       `json:"noise,omitempty" doc:"what makes it ordinary, such as runtime, resolver or locale"`
	Host      string       `json:"host,omitempty" doc:"the name of the peer of what went over the network"`
	Via       string       `json:"via,omitempty" doc:"the channel of what went over the network, such as https, dns or tcp"`
	Encoding  string       `json:"encoding,omitempty" doc:"what a secret was hidden in when it came out"`
	Used      string       `json:"used,omitempty" doc:"where of its protocol a secret's issuer got it as a credential"`
	Opaque    bool         `json:"opaque,omitempty" doc:"what was sent could not be read"`
	Ambiguous bool         `json:"ambiguous,omitempty" doc:"it may be another call's work"`
	Explained *Explanation `json:"explained,omitempty" doc:"what explains it; absent where nothing does"`
	Declared  *Tool        `json:"declared,omitempty" doc:"what the tool of the call declares; absent where it is not a declared tool"`
}

// Explanation is why an effect is no surprise.
type Explanation struct {
	Class    string `json:"class" doc:"the kind of reason" enum:"class"`
	Strength string `json:"strength,omitempty" doc:"what it is worth: certain is what the run shows, claimed what is declared, weak a default, a habit or a mere mention" enum:"strength"`
	Where    string `json:"where,omitempty" doc:"where a claim stands"`
	Text     string `json:"text,omitempty" doc:"the words of a claim, or the kind of noise"`
}

// Claim is one thing that a tool or the server declares.
type Claim struct {
	Kind     string `json:"kind" doc:"what is declared" enum:"claim"`
	Tool     string `json:"tool,omitempty" doc:"the tool that declares it; absent for the server itself"`
	Where    string `json:"where" doc:"where it is said: annotation, name, title, description, schema, instructions, or a file beside the server"`
	Text     string `json:"text" doc:"the words, or an annotation with its value"`
	Declared *Tool  `json:"declared,omitempty" doc:"all that the tool declares; absent for the server itself"`
}

// Tool is all that one tool declares.
type Tool struct {
	Name            string   `json:"name" doc:"the tool's name"`
	ReadOnlyHint    *bool    `json:"readOnlyHint,omitempty" doc:"the annotation; absent where the tool leaves it out"`
	DestructiveHint *bool    `json:"destructiveHint,omitempty" doc:"the annotation; absent where the tool leaves it out"`
	IdempotentHint  *bool    `json:"idempotentHint,omitempty" doc:"the annotation; absent where the tool leaves it out"`
	OpenWorldHint   *bool    `json:"openWorldHint,omitempty" doc:"the annotation; absent where the tool leaves it out"`
	Claims          []*Claim `json:"claims,omitempty" doc:"what it claims, without the member declared"`
	Paths           []string `json:"paths,omitempty" doc:"the arguments that carry paths"`
	URLs            []string `json:"urls,omitempty" doc:"the arguments that carry addresses"`
	Commands        []string `json:"commands,omitempty" doc:"the arguments that carry commands"`
}

// Call is one call of a tool, resource or prompt.
type Call struct {
	Call       int            `json:"call" doc:"its number, from 1"`
	What       string         `json:"what" doc:"what was called" enum:"what"`
	Tool       string         `json:"tool" doc:"the name of the tool, resource or prompt; (undeclared) for every tool that nobody declared"`
	Outcome    string         `json:"outcome,omitempty" doc:"what came of it; absent where it never ended" enum:"outcome"`
	Undeclared bool           `json:"undeclared,omitempty" doc:"the tool was not declared: coalmine tries such names"`
	Arguments  map[string]any `json:"arguments,omitempty" doc:"what it was given, each number as a double; uri for a resource; long texts are cut"`
	Effects    []*Effect      `json:"effects,omitempty" doc:"the effects during the call"`
	Declared   *Tool          `json:"declared,omitempty" doc:"what the tool declares; absent where it is not a declared tool"`
}

// Finding is what one of coalmine's own rules found.
type Finding struct {
	Rule       string `json:"rule" doc:"the rule's id; coalmine rules lists them"`
	Severity   string `json:"severity" doc:"its severity" enum:"severity"`
	Title      string `json:"title,omitempty" doc:"the rule's title"`
	Message    string `json:"message,omitempty" doc:"what was observed"`
	Tool       string `json:"tool,omitempty" doc:"the tool, resource or prompt that was called; absent outside calls"`
	Call       int    `json:"call,omitempty" doc:"the call's number, from 1; absent outside calls"`
	Phase      string `json:"phase,omitempty" doc:"the phase of the run" enum:"phase"`
	Rung       string `json:"rung,omitempty" doc:"how far the evidence climbed" enum:"rung"`
	Confidence string `json:"confidence,omitempty" doc:"how surely it belongs there" enum:"confidence"`
	Path       string `json:"path,omitempty" doc:"the file that it is located in, relative to what was audited"`
	Declared   *Tool  `json:"declared,omitempty" doc:"what the tool declares; absent where it is not a declared tool"`
}

// Collection is a list of the ledger, by the name that an expression has for one entry.
type Collection string

// The collections.
const (
	Effects  Collection = "effect"
	Claims   Collection = "claim"
	Calls    Collection = "call"
	Findings Collection = "finding"
)

// Collections lists all collections.
var Collections = []Collection{Effects, Claims, Calls, Findings}

// enums are the words that a member may hold.
var enums = map[string][]string{
	"effect":     {"file.read", "file.write", "file.delete", "file.meta", "exec", "net.connect", "net.listen", "net.unix", "statement", "secret", "tamper", "crash", "protocol"},
	"phase":      {"fetch", "build", "start", "handshake", "list", "call", "calls", "idle", "shutdown", "static"},
	"rung":       {"attempted", "opened", "read", "returned", "left"},
	"class":      {"ordinary", "policy", "argument", "own file", "own state", "default", "claim"},
	"strength":   {"certain", "claimed", "weak"},
	"claim":      {"local", "network", "exec", "environment", "write", "delete", "confined", "outward", "shell", "code", "hosts", "offline"},
	"what":       {"tool", "resource", "prompt", "completion"},
	"outcome":    {"ok", "iserror", "error", "timeout", "crash", "cancelled"},
	"severity":   {"critical", "high", "medium", "low", "info"},
	"confidence": {"certain", "probable", "ambiguous"},
}
