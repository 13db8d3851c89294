package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// decodeCheckpoint returns the document in a stored checkpoint, and whose it is. The error matches ErrMalformed or
// ErrNewerFormat.
func decodeCheckpoint(content []byte) (*document, ID, error) {
	if !utf8.Valid(content) {
		return nil, ID{}, fmt.Errorf("%w: not valid UTF-8", ErrMalformed)
	}
	if !json.Valid(content) {
		return nil, ID{}, fmt.Errorf("%w: not a JSON object", ErrMalformed)
	}
	o, err := splitObject(content)
	if err != nil {
		return nil, ID{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := o.checkHead(); err != nil {
		return nil, ID{}, err
	}
	d, id, err := o.document()
	if err != nil {
		return nil, ID{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return d, id, nil
}

// checkHead takes format and version before anything else, since another version may mean something else by the rest.
func (o *object) checkHead() error {
	var format string
	if o.take("format", &format) != nil || format != checkpointFormat {
		return fmt.Errorf("%w: its format is not %q", ErrMalformed, checkpointFormat)
	}
	var version int64
	if o.take("version", &version) != nil || version < 1 {
		return fmt.Errorf("%w: its version is not a positive integer", ErrMalformed)
	}
	if version > checkpointVersion {
		return fmt.Errorf("%w: version %d, and this build reads up to version %d", ErrNewerFormat, version, checkpointVersion)
	}
	return nil
}

// document takes the rest of a checkpoint.
func (o *object) document() (*document, ID, error) {
	d, id := &document{}, ID{}
	var updatedAt string
	err := errors.Join(
		o.take("session", &id.Session),
		o.take("node", &id.Node),
		o.take("commit", &d.commit),
		o.take("updatedAt", &updatedAt),
		o.takeEntries("values", &d.values),
		o.takeTurn(&d.turn),
		o.takeMembers("attachments", &d.attachments),
		o.takeSeed(&d.seed),
		o.takeChildCounts(&d.children),
	)
	if err != nil {
		return nil, ID{}, err
	}
	if d.updatedAt, err = time.Parse(time.RFC3339, updatedAt); err != nil {
		return nil, ID{}, errors.New("updatedAt is not an RFC 3339 time")
	}
	d.extra = o.members
	return d, id, errors.Join(id.check(), checkText("commit", d.commit))
}

func (o *object) has(name string) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return m.name == name })
}

// takeRaw removes a member and returns its JSON, or nil when there is none.
func (o *object) takeRaw(name string) json.RawMessage {
	i := slices.IndexFunc(o.members, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	raw := o.members[i].raw
	o.members = slices.Delete(o.members, i, i+1)
	return raw
}

// take removes a member that must be there and decodes it into target.
func (o *object) take(name string, target any) error {
	raw := o.takeRaw(name)
	if raw == nil {
		return fmt.Errorf("the member %q is missing", name)
	}
	if bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, target) != nil {
		return fmt.Errorf("the member %q is of the wrong kind", name)
	}
	return nil
}

// takeMembers removes an object that may be missing and sets target to its members, sorted by name.
func (o *object) takeMembers(name string, target *[]member) error {
	raw := o.takeRaw(name)
	if raw == nil {
		return nil
	}
	inner, err := splitObject(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	slices.SortFunc(inner.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	for _, m := range inner.members {
		if m.name == "" {
			return fmt.Errorf("%s: a name is empty", name)
		}
	}
	*target = inner.members
	return nil
}

func (o *object) takeEntries(name string, target *[]entry) error {
	var members []member
	if err := o.takeMembers(name, &members); err != nil {
		return err
	}
	for _, m := range members {
		*target = append(*target, entry{m.name, &cell{raw: m.raw}})
	}
	return nil
}

func (o *object) takeTurn(target *turn) error {
	raw := o.takeRaw("turn")
	if raw == nil {
		return nil
	}
	inner, err := splitObject(raw)
	if err != nil {
		return fmt.Errorf("turn: %w", err)
	}
	err = errors.Join(
		inner.take("id", &target.id),
		inner.takeSteps(&target.steps),
		inner.takeEntries("values", &target.values),
		inner.takeChildren(&target.children),
		checkText("turn id", target.id),
	)
	target.extra = inner.members
	return err
}

func (o *object) takeSteps(target *[]record) error {
	return o.takeObjects("steps", func(step *object) error {
		r := record{result: step.takeRaw("result")}
		if r.result == nil {
			return errors.New("a step has no result")
		}
		if err := step.take("name", &r.name); err != nil {
			return err
		}
		r.extra = step.members
		*target = append(*target, r)
		return nil
	})
}

func (o *object) takeChildren(target *[]childRecord) error {
	return o.takeObjects("children", func(child *object) error {
		var c childRecord
		err := errors.Join(
			child.take("node", &c.call.node),
			child.take("index", &c.call.index),
			child.take("number", &c.number),
		)
		if step := child.takeRaw("step"); step != nil && err == nil {
			child.members = append(child.members, member{"step", step})
			err = errors.Join(child.take("step", &c.call.step), child.take("occurrence", &c.call.occurrence))
		}
		c.extra = child.members
		*target = append(*target, c)
		return err
	})
}

// takeObjects removes an array of objects that may be missing and calls visit with each.
func (o *object) takeObjects(name string, visit func(*object) error) error {
	if !o.has(name) {
		return nil
	}
	var elements []json.RawMessage
	if err := o.take(name, &elements); err != nil {
		return err
	}
	for _, raw := range elements {
		inner, err := splitObject(raw)
		if err == nil {
			err = visit(inner)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (o *object) takeSeed(target *string) error {
	if !o.has("seed") {
		return nil
	}
	return o.take("seed", target)
}

func (o *object) takeChildCounts(target *[]childCount) error {
	raw := o.takeRaw("children")
	if raw == nil {
		return nil
	}
	inner, err := splitObject(raw)
	if err != nil {
		return fmt.Errorf("children: %w", err)
	}
	for _, m := range inner.members {
		c := childCount{node: m.name}
		if json.Unmarshal(m.raw, &c.count) != nil || m.name == "" {
			return errors.New("children: not a count per node")
		}
		*target = append(*target, c)
	}
	return nil
}
