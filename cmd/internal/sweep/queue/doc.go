// Package queue hands jobs to workers and takes their results: NATS JetStream, embedded in
// this process without a port, or a cluster that workers on many machines reach. The same
// code serves both.
//
// A job is delivered until a worker acknowledges it, so it can be delivered twice: results
// are kept under the job's name, and the first one counts. Each delivery keeps its run under
// a name of its own, which the result names, so that no run takes another's place. What a
// cluster cannot do while it chooses a new leader is tried again for a while.
//
// A mark stops a queue: Stopped tells of it, and whoever uses the queue has to ask.
//
// The package must never lose a job silently: one that no worker finishes is delivered with
// the number of its tries. A worker must never need the right to make, change or remove a
// stream.
package queue
