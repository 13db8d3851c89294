package filememory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the format, which is eve's.
const (
	// MaxEntryBytes is the longest text, in bytes, after normalization.
	MaxEntryBytes = 2048
	// MaxDocumentBytes is the largest document, in bytes.
	MaxDocumentBytes = 65536
	// MaxIndex is the largest index, 2^53-1: the largest integer that every JSON reader keeps.
	MaxIndex = 1<<53 - 1
)

const (
	headerStart  = "<!-- eve-memory-file-v1 lastAllocatedIndex="
	headerEnd    = " -->"
	headerFamily = "<!-- eve-memory-file-v"
	noIndex      = -1 // the last index of a document that never had an entry
	maxDigits    = len("9007199254740991")
)

// Entry is one memory.
type Entry struct {
	Index int64  `json:"index"` // 0 to MaxIndex, never used again for another text
	Text  string `json:"text"`  // 1 to MaxEntryBytes bytes on one line
}

// document is a decoded document.
type document struct {
	last    int64   // the largest index ever used, or noIndex
	entries []Entry // by ascending index
}

// parse decodes a stored document of at most MaxDocumentBytes. The error has no key yet.
func parse(content []byte) (document, *DocumentError) {
	text := string(content)
	if !utf8.ValidString(text) {
		return document{}, malformed(lineOfInvalidUTF8(text), "is not valid UTF-8")
	}
	header, rest, found := strings.Cut(text, "\n")
	last, err := parseHeader(header)
	if err != nil {
		return document{}, err
	}
	if !found {
		return document{}, malformed(1, "does not end in a line feed")
	}
	entries, err := parseEntries(rest, last)
	if err != nil {
		return document{}, err
	}
	return document{last: last, entries: entries}, nil
}

func malformed(line int, problem string) *DocumentError {
	return &DocumentError{Line: line, Problem: problem}
}

func lineOfInvalidUTF8(text string) int {
	line := 1
	for i, r := range text {
		if r == '\n' {
			line++
		}
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return line
		}
	}
	return line
}

func parseHeader(header string) (int64, *DocumentError) {
	number, found := strings.CutPrefix(header, headerStart)
	if !found {
		return 0, malformed(1, headerProblem(header))
	}
	number, found = strings.CutSuffix(number, headerEnd)
	if !found {
		return 0, malformed(1, "is not a header: it does not end in -->")
	}
	if number == strconv.Itoa(noIndex) {
		return noIndex, nil
	}
	last, ok := parseIndex(number)
	if !ok || len(number) > 1 && number[0] == '0' {
		return 0, malformed(1, "has a last index that is neither -1 nor a number up to 2^53-1 without leading zeros")
	}
	return last, nil
}

// headerProblem says what is in the place of the header.
func headerProblem(header string) string {
	if strings.HasPrefix(header, "\ufeff") {
		return "begins with a byte order mark"
	}
	version, found := strings.CutPrefix(header, headerFamily)
	version, _, _ = strings.Cut(version, " ")
	if number, ok := parseIndex(version); found && ok && number != 1 {
		return fmt.Sprintf("says that this is format version %d; this library reads version 1", number)
	}
	return "is not the header of a file memory"
}

func parseEntries(text string, last int64) ([]Entry, *DocumentError) {
	entries := make([]Entry, 0, strings.Count(text, "\n")+1) // room for one more
	ascending := true
	for line := 2; text != ""; line++ {
		row, rest, found := strings.Cut(text, "\n")
		if !found {
			return nil, malformed(line, "does not end in a line feed")
		}
		entry, err := parseEntry(row, line, last)
		if err != nil {
			return nil, err
		}
		if n := len(entries); n > 0 && entry.Index <= entries[n-1].Index {
			ascending = false
		}
		entries = append(entries, entry)
		text = rest
	}
	if ascending {
		return entries, nil
	}
	return sorted(entries)
}

func parseEntry(row string, line int, last int64) (Entry, *DocumentError) {
	number, text, found := strings.Cut(row, ": ")
	index, ok := parseIndex(number)
	switch {
	case !found || !ok:
		return Entry{}, malformed(line, "is not an index, a colon, a space and a text")
	case index > last:
		return Entry{}, malformed(line, "has an index over the last index in the header")
	case !isNormal(text):
		return Entry{}, malformed(line, "has a text with spaces other than single ones between words")
	case len(text) > MaxEntryBytes:
		return Entry{}, malformed(line, fmt.Sprintf("has a text of %d bytes, over the limit of %d", len(text), MaxEntryBytes))
	}
	return Entry{Index: index, Text: text}, nil
}

// parseIndex returns the value of ASCII digits, up to MaxIndex. Leading zeros are fine.
func parseIndex(digits string) (int64, bool) {
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
	}
	significant := strings.TrimLeft(digits, "0")
	if digits == "" || len(significant) > maxDigits {
		return 0, false
	}
	if significant == "" {
		return 0, true
	}
	index, err := strconv.ParseInt(significant, 10, 64)
	return index, err == nil && index <= MaxIndex
}

// sorted orders entries, which are one to a line from the second on, by index.
func sorted(entries []Entry) ([]Entry, *DocumentError) {
	seen := make(map[int64]struct{}, len(entries))
	for i, entry := range entries {
		if _, ok := seen[entry.Index]; ok {
			return nil, malformed(i+2, "has an index that an earlier line has")
		}
		seen[entry.Index] = struct{}{}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Index, b.Index) })
	return entries, nil
}

// find returns the index of the first entry with the given text.
func (d *document) find(text string) (int64, bool) {
	for _, entry := range d.entries {
		if entry.Text == text {
			return entry.Index, true
		}
	}
	return 0, false
}

// add appends text under the next index. It reports false when there is none.
func (d *document) add(text string) bool {
	if d.last == MaxIndex {
		return false
	}
	d.last++
	d.entries = append(d.entries, Entry{Index: d.last, Text: text})
	return true
}

// remove drops the entry with the given index, and reports whether there was one.
func (d *document) remove(index int64) bool {
	i := slices.IndexFunc(d.entries, func(e Entry) bool { return e.Index == index })
	if i < 0 {
		return false
	}
	d.entries = slices.Delete(d.entries, i, i+1)
	return true
}

// encode returns the document as it is stored.
func (d *document) encode() []byte {
	size := len(headerStart) + maxDigits + len(headerEnd) + 1
	for _, entry := range d.entries {
		size += maxDigits + len(": ") + len(entry.Text) + 1
	}
	out := make([]byte, 0, size)
	out = append(out, headerStart...)
	out = strconv.AppendInt(out, d.last, 10)
	out = append(out, headerEnd...)
	out = append(out, '\n')
	for _, entry := range d.entries {
		out = entry.append(out)
		out = append(out, '\n')
	}
	return out
}

// append appends the entry as it stands in the document and in the recalled message, without a line end.
func (e Entry) append(dst []byte) []byte {
	dst = strconv.AppendInt(dst, e.Index, 10)
	dst = append(dst, ": "...)
	return append(dst, e.Text...)
}
