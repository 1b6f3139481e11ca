// Package drift says how a server's sessions differ from all that it was seen
// doing before. The baseline is built anew from the logs each time: there is
// nothing beside them that could be lost or forged.
//
// It must never run detectors, never take a session without a list of tools for
// one with an empty list, and never call a change harmless because it was announced.
package drift
