package state

// maxDepth is how deeply arrays and objects of a stored value may nest. encoding/json reads 10,000 levels, some of which
// are the checkpoint's own; a value that fills them would make the whole checkpoint unreadable.
const maxDepth = 9_000

func tooDeep() *problem { return problemOf("it nests deeper than %d levels", maxDepth) }

// isTooDeep reports whether JSON, which is valid, nests deeper than maxDepth.
func isTooDeep(raw []byte) bool {
	depth, inText := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}
