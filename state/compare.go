package state

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"
)

// compare returns where want, a value, and got, the same value after encoding and decoding, differ. A nil and an empty
// slice or map count as equal, and so do values that encode themselves to the same JSON, and values in an interface that
// are the same JSON.
func compare(s *shape, want, got reflect.Value) *problem {
	if want.Kind() == reflect.Pointer {
		return comparePointer(s, want, got)
	}
	if s.opaque || s.ptrOpaque || want.Kind() == reflect.Interface {
		return compareJSON(want, got)
	}
	switch want.Kind() {
	case reflect.Struct:
		return compareStruct(s, want, got)
	case reflect.Map:
		return compareMap(s, want, got)
	case reflect.Slice, reflect.Array:
		return compareElements(s, want, got)
	case reflect.Func:
		return nil // nil and left out, or it would not have been encoded
	}
	if !want.Equal(got) {
		return changedByJSON()
	}
	return nil
}

func changedByJSON() *problem { return problemOf("JSON would change it") }

func comparePointer(s *shape, want, got reflect.Value) *problem {
	if want.IsNil() != got.IsNil() {
		return changedByJSON()
	}
	if want.IsNil() {
		return nil
	}
	return compare(s.elem, want.Elem(), got.Elem())
}

// compareStruct leaves out the fields that the encoder does: they are zero, or they would have been refused.
func compareStruct(s *shape, want, got reflect.Value) *problem {
	for i := range s.fields {
		f := &s.fields[i]
		if f.dropped {
			continue
		}
		if found := compareField(f, want.Field(i), got.Field(i)); found != nil {
			return found.inField(f.name)
		}
	}
	return nil
}

func compareField(f *field, want, got reflect.Value) *problem {
	inner, wantInner := f.flattened(want)
	_, gotInner := f.flattened(got)
	if inner != nil && wantInner.Type() == gotInner.Type() {
		return compareStruct(inner, wantInner, gotInner)
	}
	return compare(f.shape, want, got)
}

func compareMap(s *shape, want, got reflect.Value) *problem {
	if want.Len() != got.Len() {
		return changedByJSON()
	}
	for entries := want.MapRange(); entries.Next(); {
		restored := got.MapIndex(entries.Key())
		if !restored.IsValid() {
			return changedByJSON().inKey(entries.Key())
		}
		if found := compare(s.elem, entries.Value(), restored); found != nil {
			return found.inKey(entries.Key())
		}
	}
	return nil
}

func compareElements(s *shape, want, got reflect.Value) *problem {
	if want.Len() != got.Len() {
		return changedByJSON()
	}
	for i := range want.Len() {
		if found := compare(s.elem, want.Index(i), got.Index(i)); found != nil {
			return found.inElement(i)
		}
	}
	return nil
}

// compareJSON compares the JSON of two values, numbers digit by digit: an integer that lost digits as a float64 is not
// equal.
func compareJSON(want, got reflect.Value) *problem {
	if want.Type() == timeType && sameTime(want.Interface().(time.Time), got.Interface().(time.Time)) {
		return nil
	}
	a, err := genericJSON(want)
	if err != nil {
		return &problem{reason: "JSON cannot encode it", err: err}
	}
	b, err := genericJSON(got)
	if err != nil {
		return &problem{reason: "JSON cannot restore it", err: err}
	}
	if !reflect.DeepEqual(a, b) {
		return changedByJSON()
	}
	return nil
}

// sameTime reports whether two times are the same instant at the same offset: what the JSON of a time holds.
func sameTime(a, b time.Time) bool {
	_, offsetA := a.Zone()
	_, offsetB := b.Zone()
	return a.Equal(b) && offsetA == offsetB
}

// genericJSON returns the JSON of v as maps, slices and json.Numbers.
func genericJSON(v reflect.Value) (any, error) {
	raw, err := encodeJSON(encoded(v))
	if err != nil {
		return nil, err
	}
	return generic(raw)
}

// generic decodes JSON as maps, slices and json.Numbers.
func generic(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// encoded returns v as the encoder sees it inside a larger value: by its address where it has one.
func encoded(v reflect.Value) any {
	if v.CanAddr() {
		return v.Addr().Interface()
	}
	return v.Interface()
}
