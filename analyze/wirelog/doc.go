// Package wirelog turns a session log into facts in the order of the wire:
// which response answers which request, what the server has declared by then,
// what the client has granted.
//
// It reads logs of any size in bounded memory and must never judge, never
// believe an id that was used twice at once, and never take what it has not
// seen for something that was not there.
package wirelog
