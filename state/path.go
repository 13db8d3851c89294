package state

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// maxKeyInPath bounds how much of a map key a path shows, in bytes.
const maxKeyInPath = 64

// path is a place in a value, as a chain from the place to the root. The root is nil. A walk keeps its links on the stack and renders
// them only for an error.
type path struct {
	parent *path
	field  string        // set: a struct field
	key    reflect.Value // valid: a map key
	index  int           // otherwise: an element

	target uintptr // what the pointer, map or slice at this place refers to; 0 for other kinds
	length int     // of the slice
}

// String returns the place as a Go expression, without the value's own name: `Checked[2].Load`.
func (p *path) String() string {
	var b strings.Builder
	p.render(&b)
	return strings.TrimPrefix(b.String(), ".")
}

func (p *path) render(b *strings.Builder) {
	if p == nil {
		return
	}
	p.parent.render(b)
	switch {
	case p.field != "":
		b.WriteString("." + p.field)
	case p.key.IsValid():
		b.WriteString("[" + quoteKey(p.key) + "]")
	case p.index >= 0:
		b.WriteString("[" + strconv.Itoa(p.index) + "]")
	}
}

func quoteKey(key reflect.Value) string {
	if key.Kind() != reflect.String {
		return fmt.Sprintf("%v", key)
	}
	text := key.String()
	if len(text) > maxKeyInPath {
		return strconv.Quote(text[:maxKeyInPath]) + "…"
	}
	return strconv.Quote(text)
}

// revisits reports whether the reference at a place refers to what a place above it refers to: the value contains itself.
func (p *path) revisits(target uintptr, length int) bool {
	for ; p != nil; p = p.parent {
		if p.target == target && p.length == length {
			return true
		}
	}
	return false
}
