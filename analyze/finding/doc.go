// Package finding holds the words of a verdict: effects, rules, findings,
// severities, evidence, locations and fingerprints.
//
// It must never decide anything: rules decide, reports show.
package finding
