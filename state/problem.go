package state

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPath bounds a path, and maxKeyInPath what it shows of a map key, in bytes.
const (
	maxPath      = 1000
	maxKeyInPath = 64
)

// problem is why a value cannot be stored, and where in it. A walk that finds one adds the place on its way back up, so
// that a walk that finds none pays nothing for it.
type problem struct {
	path   string // a Go expression without the value's own name, with the dot in front: `.Checked[2].Load`
	reason string
	err    error
}

func problemOf(format string, args ...any) *problem {
	return &problem{reason: fmt.Sprintf(format, args...)}
}

func (p *problem) inField(name string) *problem { return p.under("." + name) }

func (p *problem) inElement(i int) *problem { return p.under("[" + strconv.Itoa(i) + "]") }

func (p *problem) inKey(key reflect.Value) *problem { return p.under("[" + quoteKey(key) + "]") }

// under puts a place in front of the path. A path that grows too long keeps its beginning.
func (p *problem) under(place string) *problem {
	p.path = shorten(place+p.path, maxPath)
	return p
}

// place returns the path as an error shows it.
func (p *problem) place() string { return strings.TrimPrefix(p.path, ".") }

func quoteKey(key reflect.Value) string {
	if key.Kind() != reflect.String {
		return fmt.Sprintf("%v", key)
	}
	text := key.String()
	if len(text) <= maxKeyInPath {
		return strconv.Quote(text)
	}
	return strconv.Quote(cut(text, maxKeyInPath)) + "…"
}

// shorten returns text, or its beginning and an ellipsis.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return cut(text, limit) + "…"
}

// cut returns at most limit bytes of text, in whole characters.
func cut(text string, limit int) string {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
