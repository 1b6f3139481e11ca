// Package profile is what a server did: it folds a run's log into effects, each
// with its phase, call, actor and evidence, in one pass and bounded memory.
//
// It must never drop a path before asking whether it is a secret, nor pin on a
// tool what could belong to another.
package profile
