package rawjson

import "bytes"

// Equal reports whether two compact JSON values say the same: texts may be escaped in other ways, and members may have
// another order. Numbers are compared as they are written. Two nil values are equal.
func Equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if Kind(a) != Kind(b) {
		return false
	}
	switch Kind(a) {
	case '"':
		return Text(a) == Text(b)
	case '[':
		return equalArrays(a, b)
	case '{':
		return equalObjects(a, b)
	}
	return false
}

func equalArrays(a, b []byte) bool {
	as, errA := Elements(a)
	bs, errB := Elements(b)
	if errA != nil || errB != nil || len(as) != len(bs) {
		return false
	}
	for i := range as {
		if !Equal(as[i], bs[i]) {
			return false
		}
	}
	return true
}

// equalObjects takes an object with a member given twice for unlike any other.
func equalObjects(a, b []byte) bool {
	as, errA := Members(a)
	bs, errB := Members(b)
	if errA != nil || errB != nil || len(as) != len(bs) {
		return false
	}
	for _, m := range as {
		if value := Find(bs, m.Name); value == nil || !Equal(m.Value, value) {
			return false
		}
	}
	return true
}
