// Package canaries makes decoy secrets of the true shape, says where to plant
// them, and finds them again in any bytes.
//
// A Set is a decoy HOME of an ordinary developer, and the environment that
// goes with it. Every value is drawn from the caller's source of randomness,
// so that it exists nowhere else in the world: wherever it turns up, it came
// from the Set.
//
// What a client sends is judged too: in the credential's place of a request to
// its issuer a canary is used, anywhere else it has left.
//
// The package must never write a value anywhere itself, use a word that gives
// a decoy away, or call something a find that could be there by chance.
package canaries
