// Package store keeps what sweeps found, in one SQLite database below a directory, or in a
// PostgreSQL database that several sweeps share. The migrations, 0001.sql and those after it,
// document every column; PostgreSQL gets the same tables in its own words.
//
// A sweep can be ended at any moment: each result is written in one transaction, and the
// same result twice is one. The package must never hold a secret: what it keeps of a run is
// its verdict and the findings' words, which reports print anyway.
package store
