package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// MarshalJSON writes the message as eve stores it.
func (m Message) MarshalJSON() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.m.raw != nil {
		return slices.Clone(m.m.raw), nil
	}
	return m.m.append(nil), nil
}

// append writes a message that was built from its fields.
func (m *message) append(dst []byte) []byte {
	dst = append(dst, `{"role":`...)
	dst = ecma.AppendQuote(dst, m.role)
	if m.kind != "" {
		dst = append(dst, `,"kind":`...)
		dst = ecma.AppendQuote(dst, m.kind)
	}
	dst = append(dst, `,"content":`...)
	if m.content != nil {
		dst = append(dst, m.content...)
	} else {
		dst = ecma.AppendQuote(dst, m.text)
	}
	if m.attribution != nil {
		dst = append(dst, `,"metadata":`...)
		dst = m.attribution.appendMetadata(dst)
	}
	return append(dst, '}')
}

// UnmarshalJSON reads a message as eve stores it. It is an error when data is no object, when its role is missing, when a
// role or kind is no text, when a member is given twice, and when data is not valid UTF-8. A malformed attribution is kept
// and becomes an error where the history is used.
func (m *Message) UnmarshalJSON(data []byte) error {
	decoded, err := decodeMessage(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidMessage, err)
	}
	m.m = decoded
	return nil
}

func decodeMessage(data []byte) (*message, error) {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return nil, err
	}
	members, err := rawjson.Members(raw)
	if err != nil {
		return nil, err
	}
	m := &message{raw: raw}
	for _, member := range members {
		if err := m.read(member); err != nil {
			return nil, fmt.Errorf("%.40q: %w", member.Name, err)
		}
	}
	if m.role == "" {
		return nil, errors.New("no role")
	}
	return m, m.readAttribution(members)
}

func (m *message) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "role":
		m.role, err = rawjson.String(member.Value)
	case "kind":
		if rawjson.Kind(member.Value) != 'n' {
			m.kind, err = rawjson.String(member.Value)
		}
	case "content":
		m.readContent(member.Value)
	case "metadata":
		m.metadata = member.Value
	}
	return err
}

func (m *message) readContent(value json.RawMessage) {
	if rawjson.Kind(value) == '"' {
		m.text = rawjson.Text(value)
		return
	}
	m.content = value
}

// readAttribution looks for an attribution in the metadata. One that is no object belongs to somebody else and is left alone.
func (m *message) readAttribution(members []rawjson.Member) error {
	if rawjson.Kind(m.metadata) != '{' {
		return nil
	}
	metadata, err := rawjson.Members(m.metadata)
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	value := rawjson.Find(metadata, attributionName)
	if rawjson.Kind(value) != '{' {
		return nil
	}
	attribution, err := decodeAttribution(value)
	if err != nil {
		m.fault = ErrAttribution
		return nil
	}
	m.attribution = attribution
	m.bare = m.withoutAttribution(members, metadata)
	return nil
}

// withoutAttribution returns the message as a model sees it. Metadata that held nothing but the attribution goes with it.
func (m *message) withoutAttribution(members, metadata []rawjson.Member) *message {
	bare := &message{role: m.role, kind: m.kind, text: m.text, content: m.content}
	metadata = slices.DeleteFunc(slices.Clone(metadata), func(d rawjson.Member) bool { return d.Name == attributionName })
	kept := make([]rawjson.Member, 0, len(members))
	for _, member := range members {
		if member.Name != "metadata" {
			kept = append(kept, member)
			continue
		}
		if len(metadata) > 0 {
			bare.metadata = rawjson.AppendObject(nil, metadata)
			kept = append(kept, rawjson.Member{Name: "metadata", Value: bare.metadata})
		}
	}
	bare.raw = rawjson.AppendObject(nil, kept)
	return bare
}

// claimsAttribution reports whether the metadata has the member that only the library writes, whatever is in it.
func (m *message) claimsAttribution() bool {
	if m.attribution != nil || m.malformed() {
		return true
	}
	if rawjson.Kind(m.metadata) != '{' {
		return false
	}
	metadata, err := rawjson.Members(m.metadata)
	return err != nil || rawjson.Find(metadata, attributionName) != nil
}
