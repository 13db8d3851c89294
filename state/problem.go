package state

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxKeyInPath bounds how much of a map key a path shows, in bytes.
const maxKeyInPath = 64

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

func (p *problem) inField(name string) *problem {
	p.path = "." + name + p.path
	return p
}

func (p *problem) inElement(i int) *problem {
	p.path = "[" + strconv.Itoa(i) + "]" + p.path
	return p
}

func (p *problem) inKey(key reflect.Value) *problem {
	p.path = "[" + quoteKey(key) + "]" + p.path
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
	cut := maxKeyInPath
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(text[:cut]) + "…"
}
