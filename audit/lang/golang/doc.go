// Package golang parses Go into the common tree of package lang.
//
// It reads with go/parser alone, file by file: no package is loaded, no build tag is
// obeyed, and no tool is run. Where a file has errors, what go/parser could read has a
// tree, and the rest is in File.Unread.
//
// How the language maps to the tree, where that is not plain:
//
//   - The methods of a type, and the fields of a struct, are in one Class for each type
//     and file. The receiver is a method's first parameter. A field is an Assign to
//     this.field of a Call of its type, so that what the field is can be resolved.
//   - Pointers leave no trace: &x and *x are x, and x.(T) is x.
//   - T{a: 1} is a Call of T with named arguments. Literals of slices and maps, and those
//     without a type, are Collections.
//   - f(x...) has a Spread. Several results and several values are a Tuple.
//   - The Op of a return is "return"; panic is a Call. nil is a Null.
//   - A statement before a condition is in a Block with it. A type switch has no
//     patterns, and select is a Switch without a subject.
//   - An imported package is bound to its last name; without one, to the last element
//     of its path that is no version.
//   - The type []T is the Index of the Name List with T.
//
// The package must never load, build, run or fetch what it reads, and never panic.
package golang
