package state

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// shape is what encoding/json does with a Go type: which fields it visits, and which it leaves out.
type shape struct {
	typ       reflect.Type
	opaque    bool // a value has its own MarshalJSON or MarshalText
	ptrOpaque bool // a pointer to it has; the encoder uses that where the value is addressable
	simple    bool // a bool or an integer: every value of it is JSON
	plain     bool // an assignment copies everything: no pointer, slice, map, interface or channel inside
	narrow    bool // decoding may leave out the end of an array or digits of a number without an error; when in doubt it may
	exact     bool // a value that inspect accepts comes back from JSON as it was, and as a deep copy
	fields    []field
	elem, key *shape
}

// field is one field of a struct, at the same index as in its type.
type field struct {
	name     string
	dropped  bool // the encoder never visits it
	flat     bool // an embedded struct, or a pointer to one, whose fields the encoder takes for those of the outer one
	omitZero bool
	shape    *shape
}

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	timeType          = reflect.TypeFor[time.Time]()
)

// shapes remembers the shapes of types. It may be used concurrently.
type shapes struct {
	mu     sync.Mutex
	byType map[reflect.Type]*shape
}

func (s *shapes) of(t reflect.Type) *shape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.byType[t]; known != nil {
		return known
	}
	if s.byType == nil {
		s.byType = map[reflect.Type]*shape{}
	}
	return s.build(t)
}

// build makes the shape of t and of every type below it. It enters the shape before its parts, so a recursive type ends;
// since the shape is not exact, and is narrow, until all parts are known, such a type is never exact and always narrow.
func (s *shapes) build(t reflect.Type) *shape {
	if known := s.byType[t]; known != nil {
		return known
	}
	made := &shape{typ: t, simple: t.Kind() == reflect.Bool || isInteger(t), narrow: true}
	s.byType[t] = made
	made.opaque = encodesItself(t)
	made.ptrOpaque = t.Kind() != reflect.Pointer && encodesItself(reflect.PointerTo(t))
	if made.opaque || made.ptrOpaque {
		made.simple = false
	}
	switch t.Kind() {
	case reflect.Struct:
		made.fields = s.fields(t)
	case reflect.Map:
		made.key, made.elem = s.build(t.Key()), s.build(t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Array:
		made.elem = s.build(t.Elem())
	}
	made.narrow = made.isNarrow()
	made.plain = made.isPlain()
	made.exact = made.isExact()
	return made
}

func (s *shapes) fields(t reflect.Type) []field {
	all := make([]field, t.NumField())
	for i := range all {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[i] = field{
			name:     f.Name,
			dropped:  f.Tag.Get("json") == "-" || !f.IsExported() && !embedsStruct(f),
			flat:     name == "" && embedsStruct(f),
			omitZero: strings.Contains(","+options+",", ",omitzero,"),
			shape:    s.build(f.Type),
		}
	}
	return all
}

func embedsStruct(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct
}

// flattened returns the embedded struct whose fields count as those of the outer one, or nil when value is no such struct.
func (f *field) flattened(value reflect.Value) (*shape, reflect.Value) {
	switch {
	case !f.flat:
		return nil, value
	case value.Kind() != reflect.Pointer:
		return f.shape, value
	case value.IsNil():
		return nil, value
	}
	return f.shape.elem, value.Elem()
}

func encodesItself(t reflect.Type) bool {
	return t.Implements(marshalerType) || t.Implements(textMarshalerType)
}

// encodesItself reports whether the encoder leaves v, which is not nil, to its own method.
func (s *shape) encodesItself(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return false // what they refer to is looked at
	}
	return s.opaque || s.ptrOpaque && v.CanAddr()
}

func isInteger(t reflect.Type) bool { return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr }

// isNarrow reports whether the type has an array, or a float or an interface, which a number may be decoded into, anywhere.
func (s *shape) isNarrow() bool {
	switch s.typ.Kind() {
	case reflect.Array, reflect.Float32, reflect.Float64, reflect.Interface:
		return true
	case reflect.Struct:
		return slices.ContainsFunc(s.fields, func(f field) bool { return f.shape.narrow })
	case reflect.Map, reflect.Pointer, reflect.Slice:
		return s.elem.narrow
	}
	return false
}

// isPlain reports whether assigning a value copies all of it. Strings and times cannot be changed in place.
func (s *shape) isPlain() bool {
	if s.typ == timeType {
		return true
	}
	switch s.typ.Kind() {
	case reflect.Array:
		return s.elem.plain
	case reflect.Struct:
		for i := range s.fields {
			if !s.fields[i].shape.plain {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.UnsafePointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func:
		return false
	}
	return true
}

// isExact reports whether JSON keeps every value of the type that inspect accepts. When in doubt it does not: then each
// value is decoded again and compared.
func (s *shape) isExact() bool {
	if s.opaque || s.ptrOpaque {
		return false
	}
	switch s.typ.Kind() {
	case reflect.Float32, reflect.Float64:
		return true
	case reflect.String:
		return s.typ != reflect.TypeFor[json.Number]()
	case reflect.Pointer: // a pointer to what may itself be null is not told from a nil one
		switch s.elem.typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
			return false
		}
		return s.elem.exact
	case reflect.Slice, reflect.Array:
		return s.elem.exact
	case reflect.Map:
		return s.elem.exact && (s.key.exact && s.key.typ.Kind() == reflect.String || s.key.simple && isInteger(s.key.typ))
	case reflect.Struct:
		return exactFields(s.typ, s.fields)
	}
	return s.simple
}

// exactFields reports whether a struct has nothing but exact fields of their own names, without embedding and without
// options.
func exactFields(t reflect.Type, fields []field) bool {
	names := map[string]bool{}
	for i := range fields {
		if fields[i].dropped {
			continue
		}
		name, ordinary := ordinaryName(t.Field(i))
		if !ordinary || names[name] || !fields[i].shape.exact {
			return false
		}
		names[name] = true
	}
	return true
}

// ordinaryName returns a field's name in JSON, and whether it is one that needs no knowledge of the encoder's finer rules.
func ordinaryName(f reflect.StructField) (name string, ordinary bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		name = f.Name
	}
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	return name, !odd && options == "" && !f.Anonymous
}
