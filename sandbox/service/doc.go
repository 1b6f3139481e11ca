// Package service starts real services (PostgreSQL, MariaDB, Redis) for a server that is probed:
// each in a sandbox of its own without a network, as an ordinary user, with rows that are decoys.
// The sinkhole of the server's sandbox carries connections to it.
//
// It must never start a service outside a sandbox, give one a way out or a file of the user's, nor
// let what one run did to it be there in another.
package service
