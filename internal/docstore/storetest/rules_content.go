package storetest

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

var contentRules = []Rule{
	{
		Name: "content-exact",
		Text: "Contents come back byte for byte: quotes, percent signs, underscores, line ends, markup, spaces at the ends, every plane of Unicode.",
		check: func(p *probe) {
			for i, content := range texts() {
				p.requireKept(key(i), content)
			}
		},
	},
	{
		Name: "content-bytes",
		Text: "Contents that are no text, with NUL or invalid UTF-8, come back byte for byte, or are refused and not stored.",
		check: func(p *probe) {
			for i, content := range []string{"\x00", "a\x00b", "\xff\xfe", "caf\xe9", "\xed\xa0\x80", string(allBytes())} {
				if p.opts.TextOnly {
					p.requireRefused(key(i), content)
					continue
				}
				p.requireKept(key(i), content)
			}
		},
	},
	{
		Name: "content-empty",
		Text: "A content of no bytes is a document, not an absent one, or is refused and not stored.",
		check: func(p *probe) {
			if p.opts.NoEmpty {
				p.requireRefused(key(1), "")
				return
			}
			p.requireKept(key(1), "")
			version := p.create(key(2), "one")
			p.requireStored(key(2), "", p.write(key(2), "", version))
			_, err := p.store.Write(p.ctx(), key(2), []byte("two"), "")
			require.Error(p, err, "create over an empty document")
		},
	},
	{
		Name: "content-sizes",
		Text: "Contents of every size up to the declared limit come back whole.",
		check: func(p *probe) {
			for i, size := range sizes(p.opts.MaxBytes) {
				p.requireKept(key(i), text(size))
			}
		},
	},
	{
		Name:  "content-over-the-limit",
		Text:  "A content over the store's own limit is refused, and what is stored stays.",
		needs: bound,
		check: func(p *probe) {
			large := text(p.opts.MaxBytes + 1)
			p.requireRefused(key(1), large)
			version := p.create(key(2), "one")
			_, err := p.store.Write(p.ctx(), key(2), []byte(large), version)
			require.Error(p, err)
			require.NotErrorIs(p, err, docstore.ErrConflict)
			p.requireStored(key(2), "one", version)
		},
	},
	{
		Name: "content-shrinks",
		Text: "A shorter content replaces a longer one completely.",
		check: func(p *probe) {
			version := p.create(key(1), text(min(p.opts.MaxBytes, 1<<20)))
			p.requireStored(key(1), "short", p.write(key(1), "short", version))
		},
	},
}

func bound(opts *Options, _ docstore.Store) string {
	if !opts.Bounded {
		return "Options.Bounded is not set, so the store has no limit of its own"
	}
	return ""
}

// requireKept creates a document, and fails unless it comes back exactly.
func (p *probe) requireKept(k, content string) {
	p.requireStored(k, content, p.create(k, content))
}

// requireRefused tries to create a document, and fails unless that is an error and nothing is there.
func (p *probe) requireRefused(k, content string) {
	_, err := p.store.Write(p.ctx(), k, []byte(content), "")
	require.Error(p, err, "Write of %s", describe(content))
	p.requireSane(err)
	p.requireAbsent(k)
}

func texts() []string {
	return []string{
		"plain",
		" spaces at both ends ",
		"one\ntwo\r\nthree\rfour\n",
		`%s %d %% _ ' " ` + "`" + ` \ \\ \' $1 ?1 :name ; -- /* */`,
		"<!-- comment --> <b>&amp;</b> {\"json\": [null, 1.0]}",
		"租户 偏好 かな 한글 עברית العربية",
		"\u0001\u001b\u007f\u0085\u00a0\u200b\u2028\u2029\ufeff",
		"e\u0301 is not \u00e9, \u212b is not \u00c5",
		everyPlane(),
	}
}

// everyPlane returns some characters of each of Unicode's 17 planes, the last code points included.
func everyPlane() string {
	var out strings.Builder
	for plane := range rune(17) {
		for _, offset := range []rune{0x0101, 0x4e00, 0xfffd, 0xfffe, 0xffff} {
			if r := plane<<16 | offset; utf8.ValidRune(r) {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

func allBytes() []byte {
	out := make([]byte, 256)
	for i := range out {
		out[i] = byte(i)
	}
	return out
}

// sizes returns sizes where buffers, pages and packets end.
func sizes(limit int) []int {
	var out []int
	for _, size := range []int{1, 2, 255, 256, 1023, 1024, 4095, 4096, 4097, 8191, 16384, 32767, 65535, 65536, 1 << 20} {
		if size < limit {
			out = append(out, size)
		}
	}
	return append(out, limit)
}

// text returns size bytes of text that no compression and no truncation leaves unnoticed.
func text(size int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 \n"
	random := rand.New(rand.NewPCG(uint64(size), 1))
	out := make([]byte, size)
	for i := 0; i < size; {
		for bits := random.Uint64(); bits != 0 && i < size; i++ {
			out[i] = alphabet[bits%64]
			bits /= 64
		}
	}
	return string(out)
}
