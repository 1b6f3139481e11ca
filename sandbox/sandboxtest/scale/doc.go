// Package scale lets tests do a sample of their work by default, so that all of them
// answer in a minute, and the whole of it where COALMINE_DEEP is set. The program
// itself must never import it.
package scale
