package scope

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/recollect-go/recollect/internal/rawjson"
)

// readAttributes reads the attributes of a principal as encoding/json would, except that no two values become one: a member
// that is given twice is an error, at any depth, and a number that a float64 does not hold exactly stays a json.Number.
// Tenants may be told apart by the last digit of an id.
func readAttributes(raw json.RawMessage) (map[string]any, error) {
	switch rawjson.Kind(raw) {
	case 'n':
		return nil, nil
	case '{':
		return readObject(raw)
	}
	return nil, errors.New("not an object")
}

func readObject(raw json.RawMessage) (map[string]any, error) {
	members, err := rawjson.Members(raw)
	if err != nil {
		return nil, err
	}
	object := make(map[string]any, len(members))
	for _, m := range members {
		if object[m.Name], err = readValue(m.Value); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func readArray(raw json.RawMessage) ([]any, error) {
	elements, err := rawjson.Elements(raw)
	if err != nil {
		return nil, err
	}
	array := make([]any, len(elements))
	for i, element := range elements {
		if array[i], err = readValue(element); err != nil {
			return nil, err
		}
	}
	return array, nil
}

// readValue reads a compact JSON value.
func readValue(raw json.RawMessage) (any, error) {
	switch rawjson.Kind(raw) {
	case '{':
		return readObject(raw)
	case '[':
		return readArray(raw)
	case '"':
		return rawjson.String(raw)
	case 't':
		return true, nil
	case 'f':
		return false, nil
	case 'n':
		return nil, nil
	}
	return readNumber(string(raw)), nil
}

// readNumber returns a float64 if that is written as the same number again, else a json.Number.
func readNumber(text string) any {
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && decimalOf(text) == decimalOf(strconv.FormatFloat(f, 'e', -1, 64)) {
		return f
	}
	return json.Number(text)
}

// decimal is a decimal number: 0.<digits> times ten to the power of exponent. However a number is written, it is one decimal.
type decimal struct {
	negative bool
	digits   string // neither the first nor the last is 0
	exponent int
}

// decimalOf reads a valid JSON number. Its exponent fits an int, or ParseFloat would have refused the number, or it is 0.
func decimalOf(text string) decimal {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{negative: negative}
	}
	exponent, _ := strconv.Atoi(power)
	exponent += len(digits) - len(fraction)
	return decimal{negative, strings.TrimRight(digits, "0"), exponent}
}
