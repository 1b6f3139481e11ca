// Package doctor finds out what of coalmine's needs this machine meets.
//
// It must never guess, change anything that outlives the question, or need
// more rights than the user has: what cannot be found out is unknown.
package doctor
