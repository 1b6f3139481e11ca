// Package pii finds credentials and personal data in text that crossed the
// wire, by shape and by check digits.
//
// It must never return, log or hash what it found in a form that could be turned
// back: a Hit says where, and Tag says what and how long. It must stay linear in
// its input, and a user's bad pattern must never blind the built-in ones.
package pii
