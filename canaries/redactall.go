package canaries

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// deepest bounds how far RedactAll follows what points to something else.
const deepest = 100

// RedactAll takes the values out of all texts of what v points to: of its exported fields, its
// elements and its keys. Whoever shows them may then cut and escape them, which Redact
// would not see through.
func (r *Redactor) RedactAll(v any) {
	if r != nil {
		r.redactAll(reflect.ValueOf(v), deepest)
	}
}

func (r *Redactor) redactAll(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(r.Redact(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			r.redactAll(v.Elem(), depth-1)
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(r.redacted(v.Elem(), depth))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				r.redactAll(f, depth-1)
			}
		}
	case reflect.Slice, reflect.Array:
		r.redactList(v, depth)
	case reflect.Map:
		r.redactMap(v, depth)
	}
}

func (r *Redactor) redactList(v reflect.Value, depth int) {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		if v.CanSet() && v.Len() > 0 {
			v.SetBytes(r.redactBytes(v.Bytes(), v.Type() == reflect.TypeFor[json.RawMessage]()))
		}
		return
	}
	for i := range v.Len() {
		r.redactAll(v.Index(i), depth-1)
	}
}

// redactBytes keeps JSON what it is: its strings are redacted.
func (r *Redactor) redactBytes(data []byte, isJSON bool) []byte {
	if !isJSON {
		if clean := r.Redact(string(data)); clean != string(data) {
			return []byte(clean)
		}
		return data
	}
	was, ok := decoded(data)
	now, _ := decoded(data)
	if r.RedactAll(&now); ok && reflect.DeepEqual(was, now) {
		return data
	}
	if !ok {
		return []byte(`"` + Passed + `"`)
	}
	out, err := json.Marshal(now)
	if err != nil {
		return []byte(`"` + Passed + `"`) // a number that held a value
	}
	return out
}

func decoded(data []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // a number keeps all its digits, and is a text
	ok = d.Decode(&v) == nil
	return v, ok
}

func (r *Redactor) redactMap(v reflect.Value, depth int) {
	if v.IsNil() {
		return
	}
	clean := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		clean.SetMapIndex(r.redacted(it.Key(), depth), r.redacted(it.Value(), depth))
	}
	v.Clear()
	for it := clean.MapRange(); it.Next(); {
		v.SetMapIndex(it.Key(), it.Value())
	}
}

// redacted is a copy of a value that cannot be set.
func (r *Redactor) redacted(v reflect.Value, depth int) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	r.redactAll(out, depth-1)
	return out
}
