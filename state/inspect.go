package state

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"
)

// problem is why a value cannot be stored, and where.
type problem struct {
	path   string
	reason string
	err    error
}

func problemAt(p *path, reason string) *problem { return &problem{path: p.String(), reason: reason} }

// inspector walks a value before it is encoded and finds what encoding/json would refuse without saying where, or drop without a word.
type inspector struct {
	shapes *shapes
	probe  bool // also call every MarshalJSON and MarshalText, to find the one that fails
}

// inspect returns the first problem of v in a depth-first walk, or nil.
func (in *inspector) inspect(p *path, s *shape, v reflect.Value) *problem {
	if s.opaque && v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface || s.ptrOpaque && v.CanAddr() {
		return in.inspectOpaque(p, v)
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return problemAt(p, fmt.Sprintf("%v is not JSON", f))
		}
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return problemAt(p, "text is not valid UTF-8")
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return problemAt(p, fmt.Sprintf("a %s is not JSON", v.Kind()))
	case reflect.Interface:
		if !v.IsNil() {
			return in.inspect(p, in.shapes.of(v.Elem().Type()), v.Elem())
		}
	case reflect.Pointer:
		return in.inspectPointer(p, s, v)
	case reflect.Struct:
		return in.inspectStruct(p, s, v)
	case reflect.Map:
		return in.inspectMap(p, s, v)
	case reflect.Slice:
		return in.inspectSlice(p, s, v)
	case reflect.Array:
		return in.inspectElements(p, s, v)
	}
	return nil
}

func (in *inspector) inspectStruct(p *path, s *shape, v reflect.Value) *problem {
	for i := range s.fields {
		f := &s.fields[i]
		value := v.Field(f.index)
		at := &path{parent: p, field: f.name}
		if f.dropped {
			if !value.IsZero() {
				return problemAt(at, "JSON would drop it: the field is unexported or excluded")
			}
			continue
		}
		if f.omitZero && value.IsZero() {
			continue
		}
		if found := in.inspect(at, f.shape, value); found != nil {
			return found
		}
	}
	return nil
}

func (in *inspector) inspectPointer(p *path, s *shape, v reflect.Value) *problem {
	if v.IsNil() {
		return nil
	}
	target := v.Pointer()
	if p.revisits(target, -1) {
		return problemAt(p, "the value contains itself")
	}
	return in.inspect(&path{parent: p, index: -1, target: target, length: -1}, s.elem, v.Elem())
}

func (in *inspector) inspectMap(p *path, s *shape, v reflect.Value) *problem {
	if !encodableKey(s.key) {
		return problemAt(p, fmt.Sprintf("a map key of type %s is not JSON", s.key.typ))
	}
	if v.IsNil() {
		return nil
	}
	target := v.Pointer()
	if p.revisits(target, -2) {
		return problemAt(p, "the value contains itself")
	}
	for entries := v.MapRange(); entries.Next(); {
		at := &path{parent: p, key: entries.Key(), target: target, length: -2}
		if found := in.inspectKey(at, s.key, entries.Key()); found != nil {
			return found
		}
		if found := in.inspect(at, s.elem, entries.Value()); found != nil {
			return found
		}
	}
	return nil
}

func (in *inspector) inspectKey(p *path, s *shape, key reflect.Value) *problem {
	switch {
	case key.Kind() == reflect.String:
		if !utf8.ValidString(key.String()) {
			return problemAt(p, "map key is not valid UTF-8")
		}
	case s.opaque:
		return in.inspectOpaque(p, key)
	}
	return nil
}

// encodableKey follows encoding/json: text, integers, and what marshals to text.
func encodableKey(s *shape) bool {
	switch s.typ.Kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return s.typ.Implements(textMarshalerType)
}

func (in *inspector) inspectSlice(p *path, s *shape, v reflect.Value) *problem {
	if v.Len() == 0 {
		return nil
	}
	target := v.Pointer()
	if p.revisits(target, v.Len()) {
		return problemAt(p, "the value contains itself")
	}
	return in.inspectElements(&path{parent: p, index: -1, target: target, length: v.Len()}, s, v)
}

func (in *inspector) inspectElements(p *path, s *shape, v reflect.Value) *problem {
	if neverProblematic(s.elem) {
		return nil
	}
	for i := range v.Len() {
		if found := in.inspect(&path{parent: p, index: i}, s.elem, v.Index(i)); found != nil {
			return found
		}
	}
	return nil
}

func neverProblematic(s *shape) bool {
	return s.typ.Kind() >= reflect.Bool && s.typ.Kind() <= reflect.Uintptr && !s.opaque && !s.ptrOpaque
}

// inspectOpaque checks a value that encodes itself. The encoder would replace invalid UTF-8 in what MarshalText returns.
func (in *inspector) inspectOpaque(p *path, v reflect.Value) *problem {
	if !v.CanInterface() {
		return nil
	}
	value := v.Interface()
	if v.CanAddr() {
		value = v.Addr().Interface()
	}
	if _, ok := value.(json.Marshaler); ok {
		return in.probeJSON(p, value)
	}
	text, ok := value.(encoding.TextMarshaler)
	if !ok {
		return nil
	}
	encoded, err := text.MarshalText()
	if err != nil {
		return &problem{path: p.String(), reason: "its MarshalText failed", err: err}
	}
	if !utf8.Valid(encoded) {
		return problemAt(p, "its MarshalText returned text that is not valid UTF-8")
	}
	return nil
}

func (in *inspector) probeJSON(p *path, value any) *problem {
	if !in.probe {
		return nil
	}
	raw, err := encodeJSON(value)
	if err != nil {
		return &problem{path: p.String(), reason: "its MarshalJSON failed", err: err}
	}
	if !utf8.Valid(raw) {
		return problemAt(p, "its MarshalJSON returned text that is not valid UTF-8")
	}
	return nil
}
