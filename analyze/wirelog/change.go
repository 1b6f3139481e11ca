package wirelog

// ChangeKind says how two listings of tools differ in one tool. Fingerprints are made
// of it: a value stays as it is.
type ChangeKind string

// The kinds.
const (
	// Appeared is a tool that only the later listing has.
	Appeared ChangeKind = "appeared"
	// Disappeared is a tool that only the earlier listing has.
	Disappeared ChangeKind = "disappeared"
	// Redeclared is a tool of both listings, with another text or schema.
	Redeclared ChangeKind = "redeclared"
)

// Change is a difference between two listings of one session.
type Change struct {
	// Tool is the tool's name as the server gave it.
	Tool string
	Kind ChangeKind
}
