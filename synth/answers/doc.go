// Package answers finds out what a server's source expects of the services that it asks:
// which members of a decoded JSON answer the code reads, and how it treats them. From
// that it makes an answer with which the code goes on.
//
// It also reads the descriptions of APIs that lie beside the source, in OpenAPI and GraphQL, and a
// tool's own outputSchema: what they promise is what a service answers.
//
// Of code it reads JavaScript, TypeScript and Python by their words alone. A shape that it
// guesses wrong costs a call, and is no fault.
//
// It must never run anything, never leave the directory that it is given or ask the network for what
// a reference names, never read
// without bound, and never depend on the order in which files are found.
package answers
