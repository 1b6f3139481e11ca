package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// pep691 is the kind of a page that says when each file was uploaded (PEP 691, PEP 700).
const pep691 = "application/vnd.pypi.simple.v1+json"

// errUndated says that an index leaves out when its files were uploaded.
var errUndated = errors.New("the index does not say when its files were uploaded (PEP 700), so that none can be left out")

// dates reports whether a request is for a page whose files have moments that count.
func (e *exchange) dates() bool {
	x := e.access
	return x.registry != nil && x.registry.role == rolePages && !x.isArchive() && (!e.p.before.IsZero() || e.p.dated != nil)
}

// pass sends a page that was read for its links, without the files that came later than
// Options.Before.
func (e *exchange) pass(s stored, size int64, body io.Reader) error {
	if !e.dates() {
		e.header(s, size)
		_, err := io.Copy(e.client(), body)
		return err
	}
	data, err := e.earlier(s, body)
	if err != nil {
		return &unsentError{err}
	}
	s.ETag, s.LastModified = "", "" // those of the whole page
	e.header(s, int64(len(data)))
	_, err = e.client().Write(data)
	return err
}

// earlier is a page without its later files, and tells of when the others came.
func (e *exchange) earlier(s stored, body io.Reader) ([]byte, error) {
	if s.Encoding != "" || mediaType(s.Type) != pep691 {
		return nil, errUndated
	}
	var page map[string]json.RawMessage
	var files []json.RawMessage
	if json.NewDecoder(body).Decode(&page) != nil || json.Unmarshal(page["files"], &files) != nil {
		return nil, fmt.Errorf("the page of the index cannot be read: %w", errUnread)
	}
	kept, known := []json.RawMessage{}, false
	for _, raw := range files {
		var f struct {
			Filename string    `json:"filename"`
			Uploaded time.Time `json:"upload-time"`
		}
		if json.Unmarshal(raw, &f) != nil || f.Uploaded.IsZero() {
			continue
		}
		known = true
		if !e.p.before.IsZero() && f.Uploaded.After(e.p.before) {
			continue
		}
		kept = append(kept, raw)
		if e.p.dated != nil {
			e.p.dated(f.Filename, f.Uploaded)
		}
	}
	if len(files) > 0 && !known {
		return nil, errUndated
	}
	var err error
	if page["files"], err = json.Marshal(kept); err != nil {
		return nil, err
	}
	return json.Marshal(page)
}
