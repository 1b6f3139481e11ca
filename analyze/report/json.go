package report

import (
	_ "embed"
	"encoding/json"
	"io"

	"github.com/coalmine-dev/coalmine/analyze"
)

// Schema is the JSON Schema (draft 2020-12) of report.json.
//
//go:embed report.schema.json
var Schema []byte

// JSON writes report.json.
func JSON(w io.Writer, res *analyze.Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(res)
}
