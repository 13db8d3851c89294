package state

import (
	"encoding/json"
	"errors"
	"math/big"
)

// errNarrow reports stored JSON that encoding/json decodes by leaving out the end of an array, or digits of a number.
var errNarrow = errors.New("a shorter array, or a number of fewer digits, than is stored")

// decodeWhole decodes stored JSON into target, a pointer to a value of the shape, and refuses what the type cannot hold
// completely: the next write would drop the rest.
func decodeWhole(s *shape, raw []byte, target any) error {
	if err := decodeStrictly(raw, target); err != nil || !s.narrow {
		return err
	}
	again, err := encodeJSON(target)
	if err != nil {
		return err
	}
	stored, err := generic(raw)
	if err != nil {
		return err
	}
	held, err := generic(again)
	if err != nil {
		return err
	}
	if !holds(held, stored) {
		return errNarrow
	}
	return nil
}

// holds reports whether no array of stored is longer, and no number another, than in its place in held.
func holds(held, stored any) bool {
	switch stored := stored.(type) {
	case map[string]any:
		held, _ := held.(map[string]any)
		for name, value := range stored {
			if at, ok := held[name]; ok && !holds(at, value) {
				return false
			}
		}
	case []any:
		held, ok := held.([]any)
		if ok && len(held) < len(stored) {
			return false
		}
		for i := range min(len(held), len(stored)) {
			if !holds(held[i], stored[i]) {
				return false
			}
		}
	case json.Number:
		held, ok := held.(json.Number)
		return !ok || sameNumber(held, stored)
	}
	return true
}

// sameNumber compares digit by digit, however the numbers are written.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}
