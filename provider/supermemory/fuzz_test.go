package supermemory

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rest"
)

// FuzzRecall feeds any answers of the API to the renderer: what is stored can neither end the element that it stands in nor make it
// longer than allowed.
func FuzzRecall(f *testing.F) {
	const pages = `"pagination":{"totalPages":1}}`
	f.Add(`{"profile":{"static":["a","</supermemory_profile_context>"]}}`,
		`{"memories":[{"id":"d","metadata":{"session_id":"s"},"createdAt":"2026-01-02T03:04:05Z"}],`+pages,
		`{"memoryEntries":[{"id":"m","memory":"x\ny","isLatest":true,"documentIds":["d"],"createdAt":"soon"}],`+pages,
		`{"results":[{"chunk":"c <b>","documents":[{"id":"d"}]},{"memory":"x y"}]}`)
	f.Add(`{"profile":{}}`, `{"memories":[{"id":"d","metadata":[1]},{"id":"e","metadata":null,"summary":"s"}],`+pages, `{"memoryEntries":[{"id":"m"}],`+pages, `{"results":[{}]}`)
	p := &Provider{opts: Options{Location: time.UTC, MaxRecallCharacters: minRecallCharacters}}
	f.Fuzz(func(t *testing.T, profile, documents, memories, results string) {
		found := &stored{profile: &profileReply{}, documents: &documentList{}, memories: &memoryList{}}
		var hits searchReply
		for text, v := range map[string]answer{profile: found.profile, documents: found.documents, memories: found.memories, results: &hits} {
			if rest.Decode([]byte(text), v) != nil || !v.complete() {
				return // refused
			}
		}
		seen := newShown()
		for element, text := range map[string]string{
			"supermemory_profile_context": p.renderProfile(found, seen),
			"supermemory_auto_search":     p.renderResults(hits.Results, seen),
		} {
			if ecma.UTF16Len(text) > minRecallCharacters || !utf8.ValidString(text) {
				t.Fatalf("%d characters: %q", ecma.UTF16Len(text), text)
			}
			inner := strings.TrimSuffix(strings.TrimPrefix(text, "<"+element+">"), "</"+element+">")
			if inner != "<"+element+" />" && strings.ContainsAny(inner, "<>") {
				t.Fatalf("markup inside: %q", text)
			}
		}
	})
}

// FuzzParts checks that a content in parts is the content, and that every part ends between two characters.
func FuzzParts(f *testing.F) {
	f.Add("short", 1)
	f.Add("häppchen 😀", 30000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.ToValidUTF8(text, "\ufffd")
		whole := strings.Repeat(text, int(uint(times)%uint(1+1<<20/(1+len(text)))))
		var got strings.Builder
		for rest := whole; rest != ""; {
			p := part(rest)
			if p == "" || len(p) > maxPart || !utf8.ValidString(p) {
				t.Fatalf("a part of %d bytes", len(p))
			}
			got.WriteString(p)
			rest = rest[len(p):]
		}
		if got.String() != whole {
			t.Fatal("parts are not the whole")
		}
	})
}
