// Package shell parses scripts of POSIX shells, Bash and mksh into the common tree of
// package lang, by mvdan.cc/sh.
//
// How the language maps to the tree, where that is not plain:
//
//   - A command is a Call. Its Func is a Name where the program is a constant word.
//   - A word is a Const, a Name for one variable alone, or a Template of its parts.
//   - "$( )" and "<( )" are Operations of these names, with the commands as operands.
//   - "a | b", "a && b" and "a || b" are Operations. A redirection is one with the
//     operator, the command and the word.
//   - A subshell and a group are Blocks. A test, such as [[ ]], has no tree.
//
// Of a file that does not parse there is no tree at all: where a shell stops depends on
// what ran before.
//
// The package must never run what it reads, expand a word with the host's files or
// variables, or panic.
package shell
