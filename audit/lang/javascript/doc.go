// Package javascript parses JavaScript and TypeScript into the tree of audit/lang.
//
// It reads scripts, CommonJS and ES modules, JSX and TypeScript, as people write them
// and as bundlers and minifiers do. A source that is wrong is read around the error:
// see File.Unread. An expression that is missing there is a Name without an ID.
//
// How the language maps to the tree, where that is not plain:
//
//   - Types are skipped. What exists for types alone has no node: interfaces, aliases,
//     overloads, abstract members, whatever is declared.
//   - A key that is not computed is a String or a Number. So is the name of a field or
//     a method of a class; a computed one is an Assign to this[key].
//   - An element of JSX is a Call of its component with the attributes as named
//     arguments, then the children. The element of a page is a Call of a String, and
//     a fragment is a Collection.
//   - An enum is a Class with a field for each member; a namespace is a Block.
//   - import x = require("y") is an Import, and export = x assigns to module.exports.
//   - a + b + c is one Operation with three operands. a, b is the Operation ",".
//   - A template without substitutions is a String; tag`x` is Call{tag, `x`}.
//
// The parser follows ECMA-262 (2026, with its annex B), the JSX specification and the
// grammar that TypeScript's own parser accepts. It must never run or fetch anything
// that a source or a source map names, never panic, and never take more than linear
// time: backtracking has a budget, and nesting a limit.
package javascript
