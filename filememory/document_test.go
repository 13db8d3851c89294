package filememory

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/ecma"
)

func sample(tb testing.TB, elements ...string) []byte {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, elements...)...))
	require.NoError(tb, err)
	return content
}

func samples(tb testing.TB, folder string) []string {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*.md"))
	require.NoError(tb, err)
	require.NotEmpty(tb, names)
	for i, name := range names {
		names[i] = filepath.Base(name)
	}
	return names
}

// Stored documents stay readable for good: a sample in testdata/v1 is never changed or removed.
func TestEverySampleOfTheFormatIsRead(t *testing.T) {
	t.Parallel()
	want := map[string]document{
		"typical.md": {3, []Entry{
			{0, "用户偏好中文回答，代码和日志保持原文"}, {2, "The pager is in the second drawer."}, {3, "常看的服务是 payment-api 和 checkout-api"},
		}},
		"never-used.md":        {-1, []Entry{}},
		"all-removed.md":       {12, []Entry{}},
		"out-of-order.md":      {3, []Entry{{0, "zero"}, {3, "three"}}},
		"leading-zeros.md":     {7, []Entry{{7, "seven"}}},
		"looks-like-markup.md": {1, []Entry{{0, "0: nested"}, {1, "<!-- eve-memory-file-v1 lastAllocatedIndex=9 -->"}}},
		"odd-characters.md":    {2, []Entry{{0, "a\u0085b"}, {1, "\u200ba"}, {2, "a\x00b"}}},
		"largest-index.md":     {MaxIndex, []Entry{{MaxIndex, "last"}}},
		"longest-text.md":      {0, []Entry{{0, strings.Repeat("x", MaxEntryBytes)}}},
	}
	for _, name := range samples(t, "v1") {
		require.Contains(t, want, name)
		doc, invalid := parse(sample(t, "v1", name))
		require.Nil(t, invalid, name)
		require.Equal(t, want[name], doc, name)
		delete(want, name)
	}
	require.Empty(t, want, "samples that are gone")
}

func TestADocumentIsWrittenInOneWay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"typical.md", "never-used.md", "all-removed.md", "looks-like-markup.md", "odd-characters.md", "largest-index.md"} {
		doc, invalid := parse(sample(t, "v1", name))
		require.Nil(t, invalid)
		require.Equal(t, string(sample(t, "v1", name)), string(doc.encode()), name)
	}
	for name, want := range map[string]string{
		"out-of-order.md":  "<!-- eve-memory-file-v1 lastAllocatedIndex=3 -->\n0: zero\n3: three\n",
		"leading-zeros.md": "<!-- eve-memory-file-v1 lastAllocatedIndex=7 -->\n7: seven\n",
	} {
		doc, invalid := parse(sample(t, "v1", name))
		require.Nil(t, invalid)
		require.Equal(t, want, string(doc.encode()), name)
	}
}

func TestEveryMalformedDocumentIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	const (
		badHeader = "is not the header of a file memory"
		badLast   = "has a last index that is neither -1 nor a number up to 2^53-1 without leading zeros"
		badEntry  = "is not an index, a colon, a space and a text"
		badSpaces = "has a text with spaces other than single ones between words"
		overLast  = "has an index over the last index in the header"
		twice     = "has an index that an earlier line has"
		unended   = "does not end in a line feed"
		unclosed  = "is not a header: it does not end in -->"
	)
	want := map[string]DocumentError{
		"empty": {Line: 1, Problem: badHeader}, "no-header": {Line: 1, Problem: badHeader}, "prose": {Line: 1, Problem: badHeader},
		"byte-order-mark":    {Line: 1, Problem: "begins with a byte order mark"},
		"newer-version":      {Line: 1, Problem: "says that this is format version 2; this library reads version 1"},
		"much-newer-version": {Line: 1, Problem: "says that this is format version 10; this library reads version 1"},
		"header-not-closed":  {Line: 1, Problem: unclosed}, "crlf": {Line: 1, Problem: unclosed},
		"no-header-line-feed": {Line: 1, Problem: unended}, "no-last-line-feed": {Line: 2, Problem: unended},
		"header-plus": {Line: 1, Problem: badLast}, "header-zeros": {Line: 1, Problem: badLast}, "header-fraction": {Line: 1, Problem: badLast},
		"header-minus-two": {Line: 1, Problem: badLast}, "header-too-large": {Line: 1, Problem: badLast},
		"header-space": {Line: 1, Problem: badLast}, "header-empty": {Line: 1, Problem: badLast},
		"invalid-utf8": {Line: 3, Problem: "is not valid UTF-8"},
		"blank-line":   {Line: 3, Problem: badEntry}, "negative": {Line: 2, Problem: badEntry}, "no-space": {Line: 2, Problem: badEntry},
		"wide-digits": {Line: 2, Problem: badEntry}, "space-before-colon": {Line: 2, Problem: badEntry}, "exponent": {Line: 2, Problem: badEntry},
		"no-index": {Line: 2, Problem: badEntry}, "huge-index": {Line: 2, Problem: badEntry},
		"over-last": {Line: 2, Problem: overLast},
		"twice":     {Line: 3, Problem: twice}, "twice-apart": {Line: 5, Problem: twice},
		"no-text": {Line: 2, Problem: badSpaces}, "two-spaces": {Line: 2, Problem: badSpaces}, "space-at-end": {Line: 2, Problem: badSpaces},
		"tab": {Line: 2, Problem: badSpaces}, "line-separator": {Line: 2, Problem: badSpaces}, "crlf-entry": {Line: 2, Problem: badSpaces},
		"too-long-text": {Line: 2, Problem: "has a text of 2049 bytes, over the limit of 2048"},
	}
	for _, file := range samples(t, "malformed") {
		name := strings.TrimSuffix(file, ".md")
		require.Contains(t, want, name)
		_, invalid := parse(sample(t, "malformed", file))
		require.NotNil(t, invalid, name)
		require.Equal(t, want[name], *invalid, name)
		delete(want, name)
	}
	require.Empty(t, want, "samples that are gone")
}

var headerLine = regexp.MustCompile(`^<!-- eve-memory-file-v1 lastAllocatedIndex=(-1|0|[1-9][0-9]*) -->$`)
var entryLine = regexp.MustCompile(`^([0-9]+): (.+)$`)

// wellFormed says the format once more, slowly.
func wellFormed(content []byte) bool {
	text := string(content)
	if !utf8.ValidString(text) || !strings.HasSuffix(text, "\n") {
		return false
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	header := headerLine.FindStringSubmatch(lines[0])
	if header == nil {
		return false
	}
	last, err := strconv.ParseInt(header[1], 10, 64)
	if err != nil || last > MaxIndex {
		return false
	}
	seen := map[int64]bool{}
	for _, line := range lines[1:] {
		entry := entryLine.FindStringSubmatch(line)
		if entry == nil {
			return false
		}
		index, err := strconv.ParseInt(entry[1], 10, 64)
		words := strings.FieldsFunc(entry[2], ecma.IsSpace)
		if err != nil || index > last || seen[index] || len(entry[2]) > MaxEntryBytes || strings.Join(words, " ") != entry[2] {
			return false
		}
		seen[index] = true
	}
	return true
}

func FuzzParse(f *testing.F) {
	for _, folder := range []string{"v1", "malformed"} {
		for _, name := range samples(f, folder) {
			f.Add(sample(f, folder, name))
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		doc, invalid := parse(content)
		require.Equal(t, wellFormed(content), invalid == nil, "%v", invalid)
		if invalid != nil {
			require.Positive(t, invalid.Line)
			require.LessOrEqual(t, invalid.Line, strings.Count(string(content), "\n")+1)
			return
		}
		require.True(t, slices.IsSortedFunc(doc.entries, func(a, b Entry) int { return int(a.Index - b.Index) }))
		again, invalid := parse(doc.encode())
		require.Nil(t, invalid, "what is written can be read")
		require.Equal(t, doc, again)
		require.LessOrEqual(t, len(doc.encode()), len(content), "a document never grows by being rewritten")
		if len(doc.entries) > 0 {
			text := recallText("profile", doc.entries, false)
			require.Equal(t, ecma.UTF16Len(text), recallLength("profile", doc.entries, false))
		}
	})
}

func FuzzNormalize(f *testing.F) {
	for _, text := range []string{"", " ", "a", " a ", "a  b", "a\u00a0b", "a\ufeff", "\u0085", "a\u2028\u2029b", "\u180e", "租户　偏好"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd") // admit refuses anything else before
		normal := normalize(text)
		require.Equal(t, strings.Join(strings.FieldsFunc(text, ecma.IsSpace), " "), normal)
		require.Equal(t, normal, normalize(normal))
		require.Equal(t, text == normal && text != "", isNormal(text))
	})
}

func TestTheLengthOfARecallIsCountedWithoutWritingIt(t *testing.T) {
	t.Parallel()
	entries := []Entry{{0, "a"}, {12, "租户 🙂🙂"}, {MaxIndex, strings.Repeat("é", 100)}}
	for _, slot := range []string{"profile", "a", "Slot_name-9"} {
		for _, readOnly := range []bool{false, true} {
			text := recallText(slot, entries, readOnly)
			require.Equal(t, ecma.UTF16Len(text), recallLength(slot, entries, readOnly))
			require.LessOrEqual(t, len(text), recallSize(slot, entries), "room for the text")
			require.Equal(t, !readOnly, strings.Contains(text, removeName))
		}
	}
}
