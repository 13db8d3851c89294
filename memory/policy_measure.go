package memory

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/recollect-go/recollect/internal/rawjson"
)

// bytesPerTextToken is how many bytes of UTF-8 count as a token. Counting characters instead would count Chinese at a third.
const bytesPerTextToken = 4

// toTokens turns a weight, which is in bytes so that sums are exact, into tokens.
func toTokens(weight int64) int64 { return (weight + bytesPerTextToken - 1) / bytesPerTextToken }

func (p *Policy) weigh(messages []Message) int64 {
	total := int64(0)
	for _, m := range messages {
		total += p.weighMessage(m)
	}
	return total
}

func (p *Policy) weighMessage(m Message) int64 {
	if m.m == nil {
		return 0
	}
	weight := int64(m.m.size())
	if mayHoldMedia(m.m.content) {
		weight += p.mediaSurcharge(m.m.content)
	}
	return weight
}

// mayHoldMedia keeps the usual message, which is text alone, from being taken apart.
func mayHoldMedia(content json.RawMessage) bool {
	for _, word := range []string{`"image`, `"file`, `"media`} {
		if bytes.Contains(content, []byte(word)) {
			return true
		}
	}
	return false
}

// mediaSurcharge returns the difference between what the media in a content cost by the table and what their base64 text
// weighs.
func (p *Policy) mediaSurcharge(content json.RawMessage) int64 {
	total := int64(0)
	for _, part := range elements(content) {
		if media := mediaPart(part); media != nil {
			total += bytesPerTextToken*p.mediaTokens(media) - int64(len(media.Base64))
			continue
		}
		if kind, value := typedOutput(part); kind == outputContent {
			total += p.mediaSurcharge(value)
		}
	}
	return total
}

func (p *Policy) mediaTokens(m *MediaPart) int64 {
	if p != nil && p.Media != nil {
		if tokens, ok := p.Media(m); ok {
			return max(0, tokens)
		}
	}
	return DefaultMediaTokens(m)
}

// elements returns the elements of a JSON array, nil when it is none.
func elements(raw json.RawMessage) []json.RawMessage {
	list, err := rawjson.Elements(raw)
	if err != nil {
		return nil
	}
	return list
}

// mediaPart reads the forms in which a content part, or an element of a tool result, carries media; nil for any other part.
func mediaPart(raw json.RawMessage) *MediaPart {
	members, err := rawjson.Members(raw)
	if err != nil {
		return nil
	}
	kind := stringMember(members, "type")
	source := "data"
	switch kind {
	case "image":
		source = "image"
	case "file", "media", "file-data", "image-data":
	case "file-url", "image-url":
		source = "url"
	default:
		return nil
	}
	media := &MediaPart{Type: stringMember(members, "mediaType")}
	if media.Type == "" && strings.HasPrefix(kind, "image") {
		media.Type = "image/*"
	}
	media.read(rawjson.Find(members, source))
	return media
}

// read takes a base64 text, a data URL, a URL, or an object that holds one of them.
func (m *MediaPart) read(source json.RawMessage) {
	var text string
	switch rawjson.Kind(source) {
	case '"':
		text = rawjson.Text(source)
	case '{':
		members, err := rawjson.Members(source)
		if err != nil {
			return
		}
		text = stringMember(members, "data") + stringMember(members, "url")
	}
	head, content, isData := strings.Cut(text, ",")
	switch {
	case isData && strings.HasPrefix(head, "data:"):
		if mediaType, _, _ := strings.Cut(head[len("data:"):], ";"); m.Type == "" || strings.HasSuffix(m.Type, "/*") {
			m.Type = mediaType
		}
		m.Base64 = content
	case strings.Contains(text, "://"):
		m.URL = text
	default:
		m.Base64 = text
	}
}
