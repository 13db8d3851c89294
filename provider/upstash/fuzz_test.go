package upstash

import (
	"slices"
	"strings"
	"testing"

	"github.com/recollect-go/recollect/internal/docstore"
	"github.com/recollect-go/recollect/internal/ecma"
)

// FuzzReplies feeds anything to the decoders of answers: they must not panic, and must not return a record of another key.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{`null`, `[]`, `["ZG9uZQ=="]`, `["Y29uZmxpY3Q=","cg=="]`, `["MA==",["aw=="]]`, `[null,null]`, `["Y29udGVudA==","eA==","dmVyc2lvbg==","cg=="]`, `["!"]`, `1`, `{}`,
		`[["YWdlbnRraXQ6bWVtb3J5U2xvdDprOmlk","MQ==",[["JA==","eyJ1c2VySWQiOiJrIn0="]]]]`} {
		f.Add([]byte(seed))
	}
	p := &Provider{}
	p.opts.setDefaults()
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := reply{raw}
		if v, err := parseVerdict(r); err == nil && v.word == "" {
			t.Fatal("a verdict without a word")
		}
		if fields, err := parseFields(r); err == nil && fields == nil {
			t.Fatal("neither fields nor an error")
		}
		if page, err := parseScan(r, "p:"); err == nil && slices.ContainsFunc(page.keys, func(key string) bool { return !strings.HasPrefix(key, "p:") }) {
			t.Fatal("a key that was not asked for")
		}
		hits, err := p.hits("k", "fuzz", r)
		for _, h := range hits {
			if err == nil && h.UserID != "k" {
				t.Fatal("a record of another key")
			}
		}
	})
}

// FuzzErrors checks that a code is a word and that nothing else of an error's text gets out.
func FuzzErrors(f *testing.F) {
	for _, seed := range []string{"", "ERR x", "WRONGTYPE Operation", "ERR max requests limit exceeded", "index not found", "A\xff b", "sk-1234 x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, kind := diagnose(text)
		if kind == nil || len(code) > 40 || strings.ContainsAny(code, " 0123456789\n") {
			t.Fatalf("%q: code %q, kind %v", text, code, kind)
		}
	})
}

// FuzzCursor checks that a cursor is refused or stays what it is.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add((&cursor{Format: 1, Scan: "17", Left: []string{"memscope1_" + strings.Repeat("a", 43)}}).String())
	f.Add("eyJ2IjoxfQ")
	f.Add("!!")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text)
		if err != nil {
			return
		}
		for _, key := range c.Left {
			if docstore.CheckKey(key) != nil {
				t.Fatal("an invalid key got through")
			}
		}
		again, err := parseCursor(c.String())
		if err != nil || again.String() != c.String() {
			t.Fatalf("%q became %q", c, again)
		}
	})
}

// FuzzDivide checks that a text divided keeps its characters and that every part fits.
func FuzzDivide(f *testing.F) {
	f.Add("one two three", 0)
	f.Add(strings.Repeat("x", 100), 0)
	f.Add("😀😀😀😀😀😀😀😀😀😀 😀", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		text = normalize(strings.ToValidUTF8(text, "\ufffd"))
		limit = minMemoryCharacters + int(uint(limit)%(1<<16))
		parts := divide(text, limit)
		for _, part := range parts {
			if ecma.UTF16Len(part) > limit || part == "" {
				t.Fatalf("part %q", part)
			}
		}
		plain := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if plain(strings.Join(parts, "")) != plain(text) {
			t.Fatalf("%q became %q", text, parts)
		}
	})
}
