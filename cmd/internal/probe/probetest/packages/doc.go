// Package packages tests probes of packages, checkouts and images, end to end. It must
// never install anything outside the test's own cache.
package packages
