// Package sandbox runs a target where nothing leaves and everything is seen:
// Spec says what to run, a Backend makes the place, Run is the target alive.
//
// It must never choose inputs nor judge: synth and analyze do.
package sandbox
