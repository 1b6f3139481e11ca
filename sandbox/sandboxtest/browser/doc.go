// Package browser looks at pages in a real Chromium, for tests: at a phone's and a
// desk's width, in light and dark, with axe-core's rules for people who cannot see,
// and with every request that a page makes.
//
// It must never load anything from a network: the browser resolves no name, and knows the
// loopback address only.
package browser
