package state

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
)

// shape is what encoding/json does with a Go type: which fields it visits, and which it leaves out.
type shape struct {
	typ       reflect.Type
	opaque    bool // a value has its own MarshalJSON or MarshalText
	ptrOpaque bool // a pointer to it has; the encoder uses that where the value is addressable
	fields    []field
	elem, key *shape
}

// field is one field of a struct.
type field struct {
	index    int
	name     string
	dropped  bool // the encoder never visits it
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
	if s.byType == nil {
		s.byType = map[reflect.Type]*shape{}
	}
	return s.build(t)
}

// build fills in the shape of t and of every type below it. It enters the shape before its parts, so a recursive type ends.
func (s *shapes) build(t reflect.Type) *shape {
	if known := s.byType[t]; known != nil {
		return known
	}
	made := &shape{typ: t}
	s.byType[t] = made
	made.opaque = encodesItself(t)
	made.ptrOpaque = t.Kind() != reflect.Pointer && encodesItself(reflect.PointerTo(t))
	switch t.Kind() {
	case reflect.Struct:
		made.fields = s.fields(t)
	case reflect.Map:
		made.key, made.elem = s.build(t.Key()), s.build(t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Array:
		made.elem = s.build(t.Elem())
	}
	return made
}

func (s *shapes) fields(t reflect.Type) []field {
	all := make([]field, t.NumField())
	for i := range all {
		f := t.Field(i)
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[i] = field{
			index:    i,
			name:     f.Name,
			dropped:  f.Tag.Get("json") == "-" || !visited(f),
			omitZero: strings.Contains(","+options+",", ",omitzero,"),
			shape:    s.build(f.Type),
		}
	}
	return all
}

// visited reports whether the encoder looks at a field at all: it is exported, or an embedded struct whose own fields may be.
func visited(f reflect.StructField) bool {
	if f.IsExported() {
		return true
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct
}

func encodesItself(t reflect.Type) bool {
	return t.Implements(marshalerType) || t.Implements(textMarshalerType)
}

// isPlain reports whether assigning a value of t copies all of it. Strings and times cannot be changed in place.
func isPlain(t reflect.Type) bool {
	if t == timeType {
		return true
	}
	switch t.Kind() {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.UnsafePointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func:
		return false
	}
	return true
}
