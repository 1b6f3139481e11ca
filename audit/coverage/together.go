package coverage

import "strings"

// own are the kinds of what never ran of a function itself.
func (x *comparison) own(i int) (out kindSet) {
	for _, s := range x.unrun[i] {
		if !strings.HasPrefix(s.Name, "urllib.request.urlopen.") { // what came is read, and nothing is sent
			out.add(s)
		}
	}
	return out
}

// unentered calls f with the functions that a function may call and that never ran.
// Dependencies are left out.
func (x *comparison) unentered(i int, f func(j int)) {
	for _, id := range x.functions[i].Calls {
		if j, ok := x.at[id]; ok && !x.entered[j] && x.owners[j] != Foreign {
			f(j)
		}
	}
}

// gather adds up what never ran of each function and of the functions that never ran and
// that it leads to.
func (x *comparison) gather() {
	callers := make([][]int, len(x.functions))
	var queue []int
	for i := range x.functions {
		x.unentered(i, func(j int) { callers[j] = append(callers[j], i) })
		if x.together[i] = x.own(i); x.together[i] != 0 {
			queue = append(queue, i)
		}
	}
	// A function comes back at most once for each kind.
	for len(queue) > 0 {
		j := queue[0]
		queue = queue[1:]
		for _, i := range callers[j] {
			if with := x.together[i] | x.together[j]; with != x.together[i] {
				x.together[i] = with
				queue = append(queue, i)
			}
		}
	}
}

// maxDepth bounds the calls in a row that are followed to find the function to be named.
const maxDepth = 500

// named finds the functions that are named for what weighs: those nearest to it. A function
// that only calls such a one is not named for that too.
func (x *comparison) named() []bool {
	named, covers, seen := make([]bool, len(x.functions)), make([]bool, len(x.functions)), make([]bool, len(x.functions))
	var visit func(i, depth int)
	visit = func(i, depth int) {
		seen[i] = true
		rest := x.own(i)
		x.unentered(i, func(j int) {
			if !seen[j] && depth < maxDepth && x.weighs(j, x.together[j]) {
				visit(j, depth+1)
			}
			if covers[j] {
				covers[i] = true
			} else {
				rest |= x.together[j]
			}
		})
		if x.weighs(i, rest) {
			named[i], covers[i] = true, true
		}
	}
	for i := range x.functions {
		if !seen[i] && x.weighs(i, x.together[i]) {
			visit(i, 0)
		}
	}
	return named
}
