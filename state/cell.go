package state

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
)

// cell is one stored value. Its JSON never changes; an Update makes another cell.
type cell struct {
	raw  []byte
	view atomic.Pointer[view] // nil until a handle of this build has read it
}

// view is a cell as the handles of one Go type read it.
type view struct {
	raw   []byte // what decodes to the value: the cell's JSON, or what a migration made of it
	value any    // *T, of which nobody else has a pointer; nil where a private copy is made by decoding
}

// entry is a value under its handle's name.
type entry struct {
	name string
	cell *cell
}

// lookUp returns the cell of name in entries sorted by name, or nil.
func lookUp(entries []entry, name string) *cell {
	if i, ok := slices.BinarySearchFunc(entries, name, byName); ok {
		return entries[i].cell
	}
	return nil
}

// withEntry returns entries with the cell of name replaced. It never changes its argument.
func withEntry(entries []entry, name string, c *cell) []entry {
	i, ok := slices.BinarySearchFunc(entries, name, byName)
	next := make([]entry, 0, len(entries)+1)
	next = append(next, entries[:i]...)
	next = append(next, entry{name, c})
	if ok {
		i++
	}
	return append(next, entries[i:]...)
}

func byName(e entry, name string) int { return strings.Compare(e.name, name) }

// viewOf returns the cell as a handle of T reads it. The first reader decodes strictly.
func viewOf[T any](h *Handle[T], c *cell) (*view, error) {
	if v := c.view.Load(); v != nil {
		if _, same := v.value.(*T); !same {
			return nil, errTwoTypes(h.id.name)
		}
		return v, nil
	}
	v, err := h.firstView(c.raw)
	if err != nil {
		return nil, err
	}
	c.view.CompareAndSwap(nil, v)
	return v, nil
}

// firstView decodes the JSON of a stored value, or what the migration makes of it.
func (h *Handle[T]) firstView(raw []byte) (*view, error) {
	value := new(T)
	err := decodeWhole(h.codec.shape, raw, value)
	if err != nil && h.migrate != nil {
		return h.migrated(raw, err)
	}
	if err != nil {
		return nil, &DecodeError{Handle: h.id.name, Reason: explain(err) + "; the option state.Migrated can rewrite it", Err: err}
	}
	return h.view(raw, value), nil
}

func (h *Handle[T]) migrated(raw []byte, cause error) (*view, error) {
	next, err := h.migrate(slices.Clone(raw))
	if err != nil {
		return nil, &DecodeError{Handle: h.id.name, Reason: "its migration failed", Err: err}
	}
	value := new(T)
	if err := decodeWhole(h.codec.shape, next, value); err != nil {
		return nil, &DecodeError{Handle: h.id.name, Reason: "after its migration: " + explain(err), Err: err}
	}
	return h.view(slices.Clone(next), value), nil
}

// view takes over raw and value.
func (h *Handle[T]) view(raw []byte, value *T) *view {
	if s := h.codec.shape; !s.plain && !s.exact {
		value = nil
	}
	return &view{raw: raw, value: value}
}

// copyOf returns a private copy of the value.
func copyOf[T any](h *Handle[T], v *view) (T, error) {
	value := v.value.(*T)
	if value != nil && h.codec.shape.plain {
		return *value, nil
	}
	return deepCopy(h, v, value)
}

func deepCopy[T any](h *Handle[T], v *view, value *T) (private T, err error) {
	if value != nil {
		clone(h.codec.shape, reflect.ValueOf(&private).Elem(), reflect.ValueOf(value).Elem())
		return private, nil
	}
	if err := json.Unmarshal(v.raw, &private); err != nil {
		return private, &DecodeError{Handle: h.id.name, Reason: explain(err), Err: err}
	}
	return private, nil
}
