// Package oracle makes inputs that prove themselves: each carries a token, or
// aims at a planted file, and only an effect outside the answer (a program, a
// file, a request, a text that stands nowhere else) can show that a server fell
// for it.
//
// It must never judge, never draw from anything but the seed, and never write
// the token of a command or an expression into its text whole: who echoes,
// splits or stores the text must not make the effect.
package oracle
