// Package slots is a weighted semaphore that all test processes of one user share,
// so that tests which start sandboxes may run with high -p and -parallel without
// overloading the machine. The program itself must never import it.
package slots
