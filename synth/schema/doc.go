// Package schema turns a tool's JSON Schema into a gopter generator of
// arguments: values that mean something to the tool, and values at random over
// the whole schema. A real validator judges every value before it is handed out.
//
// It must never fetch a reference, never draw from anything but the seed,
// never depend on the order of a map, and never spend unbounded time or memory
// on a schema, whoever wrote it.
package schema
