package state

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"unicode/utf8"
)

// inspector walks a value before it is encoded and finds what encoding/json would refuse without saying where, or drop
// without a word.
type inspector struct {
	shapes *shapes
	probe  bool  // also call every MarshalJSON, to find the one that fails
	above  trail // what the places between the root and the current one refer to
}

// inspect returns the first problem of v in a depth-first walk, or nil.
func (in *inspector) inspect(s *shape, v reflect.Value) *problem {
	if s.encodesItself(v) {
		return in.inspectOpaque(v)
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return problemOf("%v is not JSON", f)
		}
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return problemOf("text is not valid UTF-8")
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return problemOf("a %s is not JSON", v.Kind())
	case reflect.Interface:
		if !v.IsNil() {
			return in.inspect(in.shapes.of(v.Elem().Type()), v.Elem())
		}
	case reflect.Struct:
		return in.inspectStruct(s, v)
	case reflect.Array:
		return in.inspectElements(s, v)
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return in.inspectReference(s, v)
	}
	return nil
}

func (in *inspector) inspectStruct(s *shape, v reflect.Value) *problem {
	for i := range s.fields {
		f := &s.fields[i]
		value := v.Field(i)
		if f.dropped {
			if !value.IsZero() {
				return problemOf("JSON would drop it: the field is unexported or excluded").inField(f.name)
			}
			continue
		}
		if f.omitZero && value.IsZero() {
			continue
		}
		if found := in.inspectField(f, value); found != nil {
			return found.inField(f.name)
		}
	}
	return nil
}

func (in *inspector) inspectField(f *field, value reflect.Value) *problem {
	inner, flat := f.flattened(value)
	switch {
	case inner == nil:
		return in.inspect(f.shape, value)
	case value.Kind() == reflect.Pointer:
		return in.inside(value, func() *problem { return in.inspectStruct(inner, flat) })
	}
	return in.inspectStruct(inner, flat)
}

// inspectReference walks what v refers to.
func (in *inspector) inspectReference(s *shape, v reflect.Value) *problem {
	if v.Kind() == reflect.Map && !encodableKey(s.key.typ) {
		return problemOf("a map key of type %s is not JSON", s.key.typ)
	}
	if v.IsNil() {
		return nil
	}
	if s.exact { // of no recursive type
		return in.inspectTarget(s, v)
	}
	return in.inside(v, func() *problem { return in.inspectTarget(s, v) })
}

// inside calls walk, which goes into what v refers to, unless v is already inside that, or too deep.
func (in *inspector) inside(v reflect.Value, walk func() *problem) *problem {
	r := referenceOf(v)
	if in.above.has(r) {
		return problemOf("the value contains itself")
	}
	if in.above.depth() == maxDepth {
		return tooDeep()
	}
	in.above.push(r)
	defer in.above.pop(r)
	return walk()
}

func (in *inspector) inspectTarget(s *shape, v reflect.Value) *problem {
	switch v.Kind() {
	case reflect.Pointer:
		return in.inspect(s.elem, v.Elem())
	case reflect.Map:
		return in.inspectMap(s, v)
	}
	return in.inspectElements(s, v)
}

func (in *inspector) inspectMap(s *shape, v reflect.Value) *problem {
	for entries := v.MapRange(); entries.Next(); {
		found := in.inspectKey(s.key, entries.Key())
		if found == nil {
			found = in.inspect(s.elem, entries.Value())
		}
		if found != nil {
			return found.inKey(entries.Key())
		}
	}
	return nil
}

func (in *inspector) inspectKey(s *shape, key reflect.Value) *problem {
	switch {
	case key.Kind() == reflect.String:
		if !utf8.ValidString(key.String()) {
			return problemOf("map key is not valid UTF-8")
		}
	case key.Kind() == reflect.Pointer && key.IsNil():
		return nil // is the empty text
	case s.opaque:
		return in.inspectOpaque(key)
	}
	return nil
}

// encodableKey follows encoding/json: text, integers, and what marshals to text.
func encodableKey(t reflect.Type) bool {
	return t.Kind() == reflect.String || isInteger(t) || t.Implements(textMarshalerType)
}

func (in *inspector) inspectElements(s *shape, v reflect.Value) *problem {
	if s.elem.simple {
		return nil
	}
	for i := range v.Len() {
		if found := in.inspect(s.elem, v.Index(i)); found != nil {
			return found.inElement(i)
		}
	}
	return nil
}

// inspectOpaque checks a value that encodes itself. The encoder would replace invalid UTF-8 in what MarshalText returns.
func (in *inspector) inspectOpaque(v reflect.Value) *problem {
	if !v.CanInterface() {
		return problemOf("the encoding of an embedded unexported type cannot be called")
	}
	value := encoded(v)
	if _, ok := value.(json.Marshaler); ok {
		return in.probeJSON(value)
	}
	text, ok := value.(encoding.TextMarshaler)
	if !ok {
		return nil
	}
	raw, err := text.MarshalText()
	if err != nil {
		return &problem{reason: "its MarshalText failed", err: err}
	}
	if !utf8.Valid(raw) {
		return problemOf("its MarshalText returned text that is not valid UTF-8")
	}
	return nil
}

func (in *inspector) probeJSON(value any) *problem {
	if !in.probe {
		return nil
	}
	raw, err := encodeJSON(value)
	if err != nil {
		return &problem{reason: "its MarshalJSON failed", err: err}
	}
	if !utf8.Valid(raw) {
		return problemOf("its MarshalJSON returned text that is not valid UTF-8")
	}
	return nil
}
