// Package canaries makes decoy secrets of the true shape, says where to plant
// them, and finds them again in any bytes.
//
// It must never write a value anywhere itself, nor use a word that gives a decoy away.
package canaries
