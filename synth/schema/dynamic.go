package schema

import (
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// dynamic is what is known of references whose end depends on the way that
// leads to them: $dynamicRef and $recursiveRef.
type dynamic struct {
	// ends are the schemas that a name may stand for, "" for $recursiveRef.
	ends map[string][]*jsonschema.Schema
	// reach says of each schema of the graph whether it leads to such a reference.
	reach []bool
}

func (g *graph) findDynamic() {
	g.dynamic.ends = map[string][]*jsonschema.Schema{}
	used := map[string]bool{}
	for _, s := range g.list {
		if s.DynamicAnchor != "" && len(g.dynamic.ends[s.DynamicAnchor]) < maxEnds {
			g.dynamic.ends[s.DynamicAnchor] = append(g.dynamic.ends[s.DynamicAnchor], s)
		}
		if s.RecursiveAnchor && len(g.dynamic.ends[""]) < maxEnds {
			g.dynamic.ends[""] = append(g.dynamic.ends[""], s)
		}
		if name, _, ok := dynamicName(s); ok {
			used[name] = true
		}
	}
	g.dynamic.reach = make([]bool, len(g.list))
	if len(used) == 0 {
		return
	}
	for changed := true; changed; {
		changed = false
		for i, s := range g.list {
			if g.dynamic.reach[i] {
				continue
			}
			_, _, hit := dynamicName(s)
			for _, list := range [][]int{g.same[i], g.down[i]} {
				for _, t := range list {
					hit = hit || g.dynamic.reach[t]
				}
			}
			if hit {
				g.dynamic.reach[i], changed = true, true
			}
		}
	}
}

// dynamicName is the name that s refers to by the way that led to it, and
// where that leads if nothing on the way says otherwise.
func dynamicName(s *jsonschema.Schema) (name string, plain *jsonschema.Schema, ok bool) {
	switch {
	case s.RecursiveRef != nil:
		return "", s.RecursiveRef, s.RecursiveRef.RecursiveAnchor
	case s.DynamicRef != nil && s.DynamicRef.Ref != nil:
		plain := s.DynamicRef.Ref
		return plain.DynamicAnchor, plain, s.DynamicRef.Anchor != "" && plain.DynamicAnchor == s.DynamicRef.Anchor
	}
	return "", nil, false
}

// endsOf are the schemas that the dynamic reference of s may lead to, in one
// order for all that use the name; nil where it leads to one alone.
func (g *graph) endsOf(s *jsonschema.Schema) (name string, ends []*jsonschema.Schema) {
	name, plain, ok := dynamicName(s)
	if plain == nil || !ok || len(g.dynamic.ends[name]) < 2 {
		return "", nil
	}
	return name, g.dynamic.ends[name]
}

// maxEnds bounds the schemas that are considered for one dynamic reference.
const maxEnds = 16

// local says that whether a value satisfies the schemas does not depend on
// the way that leads to them, so that the judge may be asked about them alone.
func (g *graph) local(set []*jsonschema.Schema) bool {
	for _, s := range set {
		if i := g.at(s); i >= 0 && i < len(g.dynamic.reach) && g.dynamic.reach[i] {
			return false
		}
	}
	return true
}

// anchored compiles the places of the documents that a dynamic reference may
// lead to: no plain reference need name them.
func anchored(c *jsonschema.Compiler, doc any, docs documents) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	visit := func(url, pointer string) {
		if len(out) >= maxAnchored {
			return
		}
		if s, err := c.Compile(url + "#" + pointer); err == nil {
			out = append(out, s)
		}
	}
	eachAnchored(doc, "", func(pointer string) { visit(schemaURL, pointer) })
	if len(out) == 0 {
		return nil
	}
	for _, url := range sortedKeys(docs) {
		eachAnchored(docs[url], "", func(pointer string) { visit(url, pointer) })
	}
	return out
}

// maxAnchored bounds the anchors that are considered in all documents.
const maxAnchored = 64

// eachAnchored visits the JSON pointer of every object with a dynamic anchor.
func eachAnchored(v any, pointer string, f func(string)) {
	switch v := v.(type) {
	case map[string]any:
		_, named := v["$dynamicAnchor"].(string)
		if recursive, _ := v["$recursiveAnchor"].(bool); named || recursive {
			f(pointer)
		}
		for _, k := range sortedKeys(v) {
			escaped := strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", " ", "%20").Replace(k)
			eachAnchored(v[k], pointer+"/"+escaped, f)
		}
	case []any:
		for i, item := range v {
			eachAnchored(item, pointer+"/"+strconv.Itoa(i), f)
		}
	}
}
