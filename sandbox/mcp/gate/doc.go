// Package gate decides which messages of a session pass: calls of tools that
// the server has declared, that a policy allows, whose declaration is the one
// that was locked, and whose arguments the declared schema accepts; and results
// that hold no secret.
//
// It must never let a client that is held wait longer than it says, never
// answer for the server without saying that it is the gate that speaks, and
// never pass what it could not check where it was told to fail closed.
package gate
