// Package dialect reads what clients and databases say to each other: PostgreSQL's protocol 3,
// the protocol of MySQL and MariaDB, and RESP of Redis. Each statement is told with what it
// does and what came of it.
//
// It must never change what is said, trust a length that it reads, hold more than a bounded
// part of a message, or call a statement done before the service has said so.
package dialect
