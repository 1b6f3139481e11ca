// Package yamldoc reads a YAML file of the user's member by member: the policy, and
// rules of one's own. A fault has its place in the file.
//
// It must never guess: an unknown, doubled or aliased member is a fault. It must never
// panic or grow beyond the file, whatever the file holds.
package yamldoc
