package memory

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// form is what the JSON of a Go type must look like. encoding/json alone is too lenient for what a model writes: it ignores
// the case of names, takes a missing member or a null for a zero, and the last of two members of one name.
type form struct {
	kind     formKind
	bits     int              // of an integer
	fields   []field          // of an object
	elem     *form            // of an array, a map or what may be null
	nullable bool             // only a pointer
	known    string           // the names of an object, for the model
	index    map[string]*form // of an object
}

type formKind int

const (
	formAny formKind = iota
	formObject
	formMap
	formArray
	formText
	formInteger
	formUnsigned
	formNumber
	formBool
)

// String says to a model what is expected.
func (k formKind) String() string {
	switch k {
	case formObject, formMap:
		return "an object"
	case formArray:
		return "an array"
	case formText:
		return "a string"
	case formInteger:
		return "an integer"
	case formUnsigned:
		return "an integer of at least 0"
	case formNumber:
		return "a number"
	case formBool:
		return "true or false"
	}
	return "any value"
}

type field struct {
	name     string
	required bool
}

// inputForm returns the form of a tool's input.
func inputForm(t reflect.Type) (*form, error) {
	f, err := (&formBuilder{known: make(map[reflect.Type]*form)}).build(t)
	if err == nil && f.kind != formObject {
		err = fmt.Errorf("the input type %s is no struct", t)
	}
	return f, err
}

// formBuilder knows the forms that were begun, since a type may contain itself.
type formBuilder struct{ known map[reflect.Type]*form }

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (b *formBuilder) build(t reflect.Type) (*form, error) {
	if f, ok := b.known[t]; ok {
		return f, nil
	}
	f := new(form)
	b.known[t] = f
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(unmarshaler):
		f.kind = formAny
		return f, nil
	case pointer.Implements(textUnmarshaler):
		f.kind = formText
		return f, nil
	}
	return f, b.fill(f, t)
}

func (b *formBuilder) fill(f *form, t reflect.Type) (err error) {
	switch t.Kind() {
	case reflect.String:
		f.kind = formText
	case reflect.Bool:
		f.kind = formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.kind, f.bits = formInteger, t.Bits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.kind, f.bits = formUnsigned, t.Bits()
	case reflect.Float32, reflect.Float64:
		f.kind = formNumber
	case reflect.Pointer:
		f.nullable = true
		f.elem, err = b.build(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			f.kind = formText // base64, as encoding/json reads it
			return nil
		}
		f.kind = formArray
		f.elem, err = b.build(t.Elem())
	case reflect.Map:
		f.kind = formMap
		if t.Key().Kind() != reflect.String || reflect.PointerTo(t.Key()).Implements(textUnmarshaler) {
			return fmt.Errorf("the map %s has no plain string keys", t)
		}
		f.elem, err = b.build(t.Elem())
	case reflect.Struct:
		return b.fillObject(f, t)
	case reflect.Interface:
		f.kind = formAny
		if t.NumMethod() > 0 {
			return fmt.Errorf("JSON cannot fill the interface %s", t)
		}
	default:
		return fmt.Errorf("JSON cannot fill a %s", t)
	}
	return err
}

func (b *formBuilder) fillObject(f *form, t reflect.Type) error {
	f.kind = formObject
	f.index = make(map[string]*form)
	var names []string
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous {
			return fmt.Errorf("%s.%s is embedded", t, sf.Name)
		}
		tag := sf.Tag.Get("json")
		if !sf.IsExported() || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = sf.Name
		}
		if hasOption(options, "string") {
			return fmt.Errorf("%s.%s has the option string", t, sf.Name)
		}
		if f.index[name] != nil {
			return fmt.Errorf("%s has two fields with the name %q", t, name)
		}
		elem, err := b.build(sf.Type)
		if err != nil {
			return err
		}
		f.index[name] = elem
		f.fields = append(f.fields, field{name, !hasOption(options, "omitempty") && !hasOption(options, "omitzero")})
		names = append(names, strconv.Quote(name))
	}
	f.known = strings.Join(names, ", ")
	return nil
}

func hasOption(options, option string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == option {
			return true
		}
	}
	return false
}

// decode reads an input into a value of the form's type. The error lists everything that is wrong with it, the first of it
// when that is much.
func (f *form) decode(input []byte, into any) error {
	if err := ecma.ValidJSON(input); err != nil {
		return err
	}
	raw, err := rawjson.Compact(input)
	if err != nil {
		return err
	}
	var c formCheck
	c.value("", f, raw)
	if len(c.problems) > 0 {
		return errors.New(strings.Join(c.problems, "; "))
	}
	return json.Unmarshal(raw, into)
}

// Bounds of what a model gets back, and of what it can make a check do.
const (
	maxProblems = 16
	maxNesting  = 100
)

// formCheck collects what is wrong with an input, in words for a model.
type formCheck struct {
	problems []string
	depth    int
}

// full reports whether there are enough problems for one answer.
func (c *formCheck) full() bool { return len(c.problems) >= maxProblems }

func (c *formCheck) problem(path, format string, args ...any) {
	if path == "" {
		path = "the input"
	}
	c.problems = append(c.problems, path+" "+fmt.Sprintf(format, args...))
}

func (c *formCheck) value(path string, f *form, raw json.RawMessage) {
	if f.nullable {
		if rawjson.Kind(raw) != 'n' {
			c.value(path, f.elem, raw)
		}
		return
	}
	if !f.matches(raw) {
		c.problem(path, "must be %s", f.kind)
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxNesting {
		c.problems = append(c.problems, fmt.Sprintf("the input is nested more than %d deep", maxNesting))
		return
	}
	switch f.kind {
	case formObject:
		c.object(path, f, raw)
	case formArray:
		c.array(path, f, raw)
	case formMap:
		c.dictionary(path, f, raw)
	}
}

// matches reports whether a value has the form's type, without looking into it.
func (f *form) matches(raw json.RawMessage) bool {
	kind := rawjson.Kind(raw)
	switch f.kind {
	case formObject, formMap:
		return kind == '{'
	case formArray:
		return kind == '['
	case formText:
		return kind == '"'
	case formBool:
		return kind == 't' || kind == 'f'
	case formNumber:
		_, err := strconv.ParseFloat(string(raw), 64)
		return err == nil
	case formInteger:
		_, err := strconv.ParseInt(string(raw), 10, f.bits)
		return err == nil
	case formUnsigned:
		_, err := strconv.ParseUint(string(raw), 10, f.bits)
		return err == nil
	}
	return true
}

func (c *formCheck) object(path string, f *form, raw json.RawMessage) {
	members, err := rawjson.Members(raw)
	if err != nil {
		c.problem(path, "is ambiguous: %v", err)
		return
	}
	for _, m := range members {
		if c.full() {
			return
		}
		elem, ok := f.index[m.Name]
		if !ok {
			c.problem(join(path, m.Name), "is unknown; known are %s", f.known)
			continue
		}
		c.value(join(path, m.Name), elem, m.Value)
	}
	for _, field := range f.fields {
		if field.required && rawjson.Find(members, field.name) == nil {
			c.problem(join(path, field.name), "is missing")
		}
	}
}

func (c *formCheck) array(path string, f *form, raw json.RawMessage) {
	elements, err := rawjson.Elements(raw)
	if err != nil {
		c.problem(path, "must be an array")
		return
	}
	for i, element := range elements {
		if c.full() {
			return
		}
		c.value(fmt.Sprintf("%s[%d]", path, i), f.elem, element)
	}
}

func (c *formCheck) dictionary(path string, f *form, raw json.RawMessage) {
	members, err := rawjson.Members(raw)
	if err != nil {
		c.problem(path, "is ambiguous: %v", err)
		return
	}
	for _, m := range members {
		if c.full() {
			return
		}
		c.value(join(path, m.Name), f.elem, m.Value)
	}
}

// maxNameInError bounds what of a model's own text is repeated to it.
const maxNameInError = 80

func join(path, name string) string {
	if len(name) > maxNameInError {
		name = strings.ToValidUTF8(name[:maxNameInError], "") + "…"
	}
	if path == "" {
		return strconv.Quote(name)
	}
	return path + "." + strconv.Quote(name)
}

// encode returns the JSON of a tool's output. Text that is not UTF-8 is an error; encoding/json would replace it.
func encode(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if ecma.Replaced(text) {
		return nil, ecma.ErrInvalidUTF8
	}
	return text, nil
}
