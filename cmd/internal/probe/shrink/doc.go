// Package shrink finds, for the findings of a run, the smallest calls that still show
// them, in running and in fresh sandboxes, and writes them as replay files.
//
// It must never change a finding: what it learned is returned, and judged elsewhere.
package shrink
