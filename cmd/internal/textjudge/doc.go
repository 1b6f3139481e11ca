// Package textjudge asks an outside program, the user's own, which of the texts that a
// server said are orders to a model. The program runs on the host, beside coalmine.
//
// It must never start a shell, let the program outlive its time or the run, nor take
// its silence for an answer.
package textjudge
