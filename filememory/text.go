package filememory

import (
	"strings"

	"github.com/recollect-go/recollect/internal/ecma"
)

// normalize trims text and makes each run of spaces one space.
func normalize(text string) string {
	if isNormal(text) {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, ecma.IsSpace), " ")
}

// isNormal reports whether text is not empty and normalize would not change it.
func isNormal(text string) bool {
	afterSpace := true
	for _, r := range text {
		space := ecma.IsSpace(r)
		if space && (afterSpace || r != ' ') {
			return false
		}
		afterSpace = space
	}
	return !afterSpace
}
