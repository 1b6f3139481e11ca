// Package faults tests probes of servers that misbehave, and probes that are
// interrupted or starved, end to end. It must never end a process of others.
package faults
