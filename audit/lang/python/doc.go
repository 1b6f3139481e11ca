// Package python parses Python 3.8 to 3.14 into the common tree of package lang.
//
// A scanner turns the bytes into tokens (the lexical analysis of the Python reference,
// with PEP 701 and PEP 750), and a parser by recursive descent turns these into
// statements. Where a statement cannot be parsed, the parser goes on at the next
// logical line of the same indentation and notes the part in File.Unread. A source of
// Python 2 and one in an encoding that is not read have no tree at all.
//
// What the tree leaves open, this package fills so:
//
//   - "..." is the Name Ellipsis, and f"{x:>{w}}" is a Template with the Operation
//     "format" of x and its format. A conversion such as !r leaves no trace.
//   - assert is an ExprStmt of the Operation "assert", and "raise x from y" raises the
//     Operation "from" of both.
//   - "a if b else c" is the Operation "if else" of a, b and c.
//   - A comprehension is the Operation "comprehension" of its element and of one
//     Operation "for" per clause: target, iterable, conditions. The element of a dict
//     comprehension is a Collection with one item. A generator is the Operation
//     "generator" of the same.
//   - A chain of one operator is one Operation: a + b + c has three operands.
//   - x[1, 2] has one key, a tuple. A slice within a tuple is the Operation ":".
//   - "type X = Y" is an Assign with the Op "type". With type parameters its value is
//     the Operation "type" of Y, the bounds and the defaults.
//   - In patterns, a class pattern is the Operation "class pattern" of the class and the
//     patterns of its arguments, "p as n" the Operation "as", alternatives within a
//     pattern the Operation "|", and the wildcard the Operation "_".
//   - A function and a class begin at their keyword, not at their decorators.
//
// The package must never panic, run what it reads, or take more than linear time and
// memory. What is nested too deeply for it becomes Unread.
package python
