package state

import "reflect"

// clone sets dst, a zero value, to a deep copy of src. The shape is exact: the copy is what encoding and decoding src
// would give, only faster.
func clone(s *shape, dst, src reflect.Value) {
	if s.plain {
		dst.Set(src)
		return
	}
	switch src.Kind() {
	case reflect.Struct:
		for i := range s.fields {
			if !s.fields[i].dropped {
				clone(s.fields[i].shape, dst.Field(i), src.Field(i))
			}
		}
	case reflect.Array:
		cloneElements(s, dst, src)
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(s.typ, src.Len(), src.Len()))
			cloneElements(s, dst, src)
		}
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(s.elem.typ))
			clone(s.elem, dst.Elem(), src.Elem())
		}
	case reflect.Map:
		if !src.IsNil() {
			cloneMap(s, dst, src)
		}
	}
}

func cloneElements(s *shape, dst, src reflect.Value) {
	if s.elem.plain {
		reflect.Copy(dst, src)
		return
	}
	for i := range src.Len() {
		clone(s.elem, dst.Index(i), src.Index(i))
	}
}

func cloneMap(s *shape, dst, src reflect.Value) {
	dst.Set(reflect.MakeMapWithSize(s.typ, src.Len()))
	for entries := src.MapRange(); entries.Next(); {
		value := reflect.New(s.elem.typ).Elem()
		clone(s.elem, value, entries.Value())
		dst.SetMapIndex(entries.Key(), value)
	}
}
