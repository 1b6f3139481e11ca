// Package experiment holds the further runs of a server: each is
// a changed plan with a reason and a question that it answers. Adding one is a file
// with its entry in Table and its tests.
//
// It must never change the plan that it is given, nor judge a log by itself.
package experiment
