package answers

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// What is kept of one tree's OpenAPI documents.
const (
	maxOperations = 400
	maxDescribed  = 512 << 10 // bytes of all bodies
	maxSample     = 32 << 10  // of one
	maxTemplate   = 300
)

// verbs are the methods that a path item has (OpenAPI Specification 3.1, section 4.8.9).
var verbs = []string{"get", "put", "post", "delete", "patch"}

// operations adds an answer for each operation of a document, in the order of the paths.
func (t *tree) operations(file string, fits []sinkhole.Fit, size *int) []sinkhole.Fit {
	top, _ := t.document(file).(map[string]any)
	paths := t.object(top["paths"])
	for _, template := range slices.Sorted(maps.Keys(paths)) {
		if !strings.HasPrefix(template, "/") || len(template) > maxTemplate {
			continue
		}
		item := t.object(paths[template])
		for _, verb := range verbs {
			operation := t.object(item[verb])
			if operation == nil {
				continue
			}
			if len(fits) >= maxOperations || *size >= maxDescribed {
				return fits
			}
			if fit, ok := t.answerOf(operation["responses"]); ok {
				fit.Path, fit.Method = template, strings.ToUpper(verb)
				*size += len(fit.Body)
				fits = append(fits, fit)
			}
		}
	}
	return fits
}

// answerOf is the answer of an operation that succeeds: that with the least status of 200 to 299, else the
// one without a status.
func (t *tree) answerOf(v any) (sinkhole.Fit, bool) {
	responses := t.object(v)
	for _, status := range append(slices.Sorted(maps.Keys(responses)), "default") {
		code, err := strconv.Atoi(strings.Replace(strings.ToUpper(status), "2XX", "200", 1))
		if status == "default" {
			code, err = http.StatusOK, nil
		}
		if err != nil || code < 200 || code > 299 {
			continue
		}
		response := t.object(responses[status])
		if response == nil {
			continue
		}
		schema, ok := t.schemaOf(response)
		if !ok {
			return sinkhole.Fit{Status: http.StatusNoContent}, code == http.StatusNoContent
		}
		s := sampler{tree: t, left: maxShapes}
		v, ok := s.value(schema, "", 0)
		if !ok {
			return sinkhole.Fit{}, false
		}
		body, err := json.Marshal(v)
		return sinkhole.Fit{Status: code, Body: string(body)}, err == nil && len(body) <= maxSample
	}
	return sinkhole.Fit{}, false
}

// schemaOf is the schema of a response in JSON: its own in OpenAPI 2.0, that of a media type since 3.0.
func (t *tree) schemaOf(response map[string]any) (schema any, ok bool) {
	if s, ok := response["schema"]; ok {
		return s, true
	}
	content := t.object(response["content"])
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		media := t.object(content[kind])
		if !strings.Contains(kind, "json") && kind != "*/*" || media == nil {
			continue
		}
		if s, ok := media["schema"]; ok {
			return s, true
		}
		if example, ok := media["example"]; ok {
			return map[string]any{"const": example}, true
		}
	}
	return nil, false
}

func readUpTo(r io.Reader, most int) (raw []byte, cut bool) {
	raw, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, false
	}
	if len(raw) > most {
		return raw[:most], true
	}
	return raw, false
}
