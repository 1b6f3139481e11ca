// Package literals finds the strings and numbers that a server's source is
// written with: what a program compares its input to is what an input must
// hold to reach the code behind the comparison.
//
// It must never run anything, never leave the directory that it is given, never
// read without bound, and never depend on the order in which files are found.
package literals
