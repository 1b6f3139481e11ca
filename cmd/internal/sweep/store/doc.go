// Package store keeps what sweeps found, in one SQLite database: schema.sql of version 1 is
// the first of its migrations, and documents every column.
//
// A sweep can be ended at any moment: each result is written in one transaction, and the
// same result twice is one. The package must never hold a secret: what it keeps of a run is
// its verdict and the findings' words, which reports print anyway.
package store
