package wire

import "slices"

// Toolset is one complete declaration of tools: all pages of one listing.
type Toolset struct {
	// Seq is the frame that completed it.
	Seq uint64
	// List are the tools in the order of the listing. Of those with one name the
	// last one counts.
	List  []Tool
	Tools map[string]*Tool
	// Names are sorted.
	Names []string
}

// NewToolset makes a Toolset of a listing's tools, which it keeps.
func NewToolset(seq uint64, list []Tool) *Toolset {
	s := &Toolset{Seq: seq, List: list, Tools: make(map[string]*Tool, len(list))}
	for i := range list {
		s.Tools[list[i].Name] = &list[i]
	}
	for name := range s.Tools {
		s.Names = append(s.Names, name)
	}
	slices.Sort(s.Names)
	return s
}

// Has reports whether the tool is declared.
func (s *Toolset) Has(tool string) bool { return s != nil && s.Tools[tool] != nil }

// holds reports whether a Toolset was made of the same listing.
func (s *Toolset) holds(list []Tool) bool {
	return s != nil && len(list) > 0 && len(list) == len(s.List) && &list[0] == &s.List[0]
}

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

// Since lists how s differs from an earlier listing: what the earlier one has in
// its order, and then what is new in that of s. Each tool is named once.
func (s *Toolset) Since(earlier *Toolset) (out []Change) {
	if earlier.holds(s.List) {
		return nil
	}
	for i := range earlier.List {
		old := &earlier.List[i]
		if earlier.Tools[old.Name] != old {
			continue // another of this name counts
		}
		switch now := s.Tools[old.Name]; {
		case now == nil:
			out = append(out, Change{old.Name, Disappeared})
		case !SameJSON(old.Raw, now.Raw):
			out = append(out, Change{old.Name, Redeclared})
		}
	}
	for i := range s.List {
		if t := &s.List[i]; s.Tools[t.Name] == t && earlier.Tools[t.Name] == nil {
			out = append(out, Change{t.Name, Appeared})
		}
	}
	return out
}
