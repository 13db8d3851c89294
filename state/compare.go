package state

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
)

const changedByJSON = "JSON would change it"

// compare returns where want, a value, and got, the same value after encoding and decoding, differ. A nil and an empty slice or map
// count as equal, and so do values that encode themselves to the same JSON, and values in an interface that are the same JSON.
func compare(p *path, s *shape, want, got reflect.Value) *problem {
	if want.Kind() == reflect.Pointer {
		return comparePointer(p, s, want, got)
	}
	if s.opaque || s.ptrOpaque || want.Kind() == reflect.Interface {
		return compareJSON(p, want, got)
	}
	switch want.Kind() {
	case reflect.Struct:
		for i := range s.fields {
			f := &s.fields[i]
			if f.dropped {
				continue
			}
			at := &path{parent: p, field: f.name}
			if found := compare(at, f.shape, want.Field(f.index), got.Field(f.index)); found != nil {
				return found
			}
		}
		return nil
	case reflect.Map:
		return compareMap(p, s, want, got)
	case reflect.Slice, reflect.Array:
		return compareElements(p, s, want, got)
	case reflect.Func:
		return nil // nil and left out, or it would not have been encoded
	}
	if !want.Equal(got) {
		return problemAt(p, changedByJSON)
	}
	return nil
}

func comparePointer(p *path, s *shape, want, got reflect.Value) *problem {
	if want.IsNil() != got.IsNil() {
		return problemAt(p, changedByJSON)
	}
	if want.IsNil() {
		return nil
	}
	return compare(p, s.elem, want.Elem(), got.Elem())
}

func compareMap(p *path, s *shape, want, got reflect.Value) *problem {
	if want.Len() != got.Len() {
		return problemAt(p, changedByJSON)
	}
	for entries := want.MapRange(); entries.Next(); {
		at := &path{parent: p, key: entries.Key()}
		decoded := got.MapIndex(entries.Key())
		if !decoded.IsValid() {
			return problemAt(at, changedByJSON)
		}
		if found := compare(at, s.elem, entries.Value(), decoded); found != nil {
			return found
		}
	}
	return nil
}

func compareElements(p *path, s *shape, want, got reflect.Value) *problem {
	if want.Len() != got.Len() {
		return problemAt(p, changedByJSON)
	}
	if s.elem.typ.Kind() == reflect.Uint8 && want.Kind() == reflect.Slice && !s.elem.opaque && !s.elem.ptrOpaque {
		if !bytes.Equal(want.Bytes(), got.Bytes()) {
			return problemAt(p, changedByJSON)
		}
		return nil
	}
	for i := range want.Len() {
		if found := compare(&path{parent: p, index: i}, s.elem, want.Index(i), got.Index(i)); found != nil {
			return found
		}
	}
	return nil
}

// compareJSON compares the JSON of two values, numbers digit by digit: an integer that lost digits as a float64 is not equal.
func compareJSON(p *path, want, got reflect.Value) *problem {
	if !want.CanInterface() {
		return nil
	}
	if want.Type() == timeType && sameTime(want.Interface().(time.Time), got.Interface().(time.Time)) {
		return nil
	}
	a, err := genericJSON(want)
	if err != nil {
		return &problem{path: p.String(), reason: "JSON cannot encode it", err: err}
	}
	b, err := genericJSON(got)
	if err != nil {
		return &problem{path: p.String(), reason: "JSON cannot restore it", err: err}
	}
	if !reflect.DeepEqual(a, b) {
		return problemAt(p, changedByJSON)
	}
	return nil
}

// sameTime reports whether two times are the same instant at the same offset: what the JSON of a time holds.
func sameTime(a, b time.Time) bool {
	_, offsetA := a.Zone()
	_, offsetB := b.Zone()
	return a.Equal(b) && offsetA == offsetB
}

func genericJSON(v reflect.Value) (any, error) {
	value := v.Interface()
	if v.CanAddr() {
		value = v.Addr().Interface()
	}
	raw, err := encodeJSON(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var generic any
	err = decoder.Decode(&generic)
	return generic, err
}
