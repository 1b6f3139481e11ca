// Package synth drives a server: it decides which tool, resource and prompt is
// called next and with what, learns from the answers, and says what it could
// not reach.
//
// It must never judge what a server did, never call in another order for the
// same seed and the same answers, and never leave a shortfall unsaid.
package synth
