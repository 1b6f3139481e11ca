// Package attest makes and checks signed verdicts: in-toto statements in DSSE envelopes, with
// ed25519 keys in files.
//
// A statement names one target by its digest. The package must never accept a statement whose
// signature it has not checked, or take one for another digest, another judgement, an earlier
// program, a smaller budget or a later time than it says.
//
// Sources: in-toto Attestation Framework, spec/v1 (statement, envelope); DSSE v1.0.2
// (protocol, envelope).
package attest
