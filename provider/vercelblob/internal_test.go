package vercelblob

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/rest"
)

func TestStrongETags(t *testing.T) {
	t.Parallel()
	for etag, want := range map[string]bool{
		`"a"`: true, `"0a1b-2"`: true, `""`: false, ``: false, `"`: false, `a`: false, `W/"a"`: false, `w/"a"`: false,
		`"a b"`: false, `"a"b"`: false, "\"a\r\n\"": false, `"ä"`: false,
	} {
		assert.Equal(t, want, isStrong(etag), "%q", etag)
	}
}

// FuzzReplies feeds anything to the decoder of refusals: it must not panic, and nothing of the prose may get out.
func FuzzReplies(f *testing.F) {
	f.Add(400, []byte(`{"error":{"code":"bad_request","message":"m"}}`))
	f.Add(500, []byte(`<html>`))
	f.Add(403, []byte(`{"error":{"code":"a b","message":1}}`))
	f.Add(200, []byte(`{"error":null}`))
	f.Add(429, []byte("{\"error\":{\"code\":\"\xff\"}}"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		code, kind := (&call{}).diagnose(&rest.Response{Status: status, Header: http.Header{}, Body: body})
		if kind == nil {
			t.Fatal("a refusal without a kind")
		}
		if errors.Is(kind, errAbsent) && code != "not_found" {
			t.Fatalf("code %q means an absent object", code)
		}
		if strings.ContainsAny(code, " \n\"<") || len(code) > 64 {
			t.Fatalf("code %q is prose", code)
		}
	})
}

// FuzzPathnames checks that no listed path becomes a key that is not one, and that every key comes back.
func FuzzPathnames(f *testing.F) {
	b := &Backend{prefix: defaultPrefix, name: defaultName}
	f.Add(b.pathname("memscope1_" + strings.Repeat("a", 43)))
	f.Add("eve/memory/file//MEMORY.md")
	f.Add("eve/memory/file/MEMORY.md")
	f.Add("")
	f.Fuzz(func(t *testing.T, pathname string) {
		key, ok := b.keyOf(pathname)
		if !ok {
			return
		}
		if docstore.CheckKey(key) != nil || b.pathname(key) != pathname {
			t.Fatalf("%q became key %q", pathname, key)
		}
	})
}
