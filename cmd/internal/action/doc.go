// Package action holds the test of action.yml: it runs the composite action's
// steps as a workflow's runner does.
//
// It must never hold code that is shipped.
package action
