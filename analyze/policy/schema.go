package policy

import _ "embed"

// JSONSchema is the JSON Schema (draft 2020-12) of coalmine.yaml, for editors. Parse checks
// more: that a path is clean, that an expression compiles, that a rule is one.
//
//go:embed policy.schema.json
var JSONSchema []byte
