// Package sweep runs the servers of a list, each at one version once, and keeps what was
// found: cmd/internal/sweep/listing lists, cmd/internal/sweep/queue hands out,
// cmd/internal/sweep/store keeps, and cmd/internal/sweep/site shows.
//
// What is unchanged under the same rules is not run again, and under newer rules it is
// judged again from its kept run directory. The package must never take a result for
// another content, version, or set of options than it was made of, and never end a sweep
// as whole where a job has no result.
package sweep
