package state

import (
	"reflect"
	"slices"
)

// reference is what a pointer, map or slice refers to.
type reference struct {
	kind   reflect.Kind
	target uintptr
	length int // of a slice
}

func referenceOf(v reflect.Value) reference {
	r := reference{kind: v.Kind(), target: v.Pointer()}
	if r.kind == reflect.Slice {
		r.length = v.Len()
	}
	return r
}

// nearest is how many references a trail looks through one by one.
const nearest = 16

// trail holds the references between the root of a value and a place in it. The zero trail is empty. Most values are not
// deep, and need no map.
type trail struct {
	first []reference
	rest  map[reference]bool
}

func (t *trail) depth() int { return len(t.first) + len(t.rest) }

func (t *trail) has(r reference) bool { return slices.Contains(t.first, r) || t.rest[r] }

func (t *trail) push(r reference) {
	if len(t.first) < nearest {
		t.first = append(t.first, r)
		return
	}
	if t.rest == nil {
		t.rest = map[reference]bool{}
	}
	t.rest[r] = true
}

// pop removes r, which was pushed last.
func (t *trail) pop(r reference) {
	if len(t.rest) > 0 {
		delete(t.rest, r)
		return
	}
	t.first = t.first[:len(t.first)-1]
}
