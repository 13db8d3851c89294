package scope

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// readAttributes reads the attributes of a principal as encoding/json would, except that no two values become one: a member
// that is given twice is an error, at any depth, and a number that a float64 does not hold exactly stays a json.Number.
// Tenants may be told apart by the last digit of an id.
func readAttributes(raw json.RawMessage) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	value, err := readValue(decoder)
	if err != nil || value == nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("not an object")
	}
	return object, nil
}

// readValue reads the next value token by token, so that every byte is looked at once, however deep it is nested.
func readValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return readObject(decoder)
		}
		return readArray(decoder)
	case json.Number:
		return readNumber(token.String()), nil
	}
	return token, nil
}

// readObject reads the members of an object and its closing brace.
func readObject(decoder *json.Decoder) (map[string]any, error) {
	object := make(map[string]any)
	for decoder.More() {
		name, err := readValue(decoder)
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("member %.40q is given twice", key)
		}
		if object[key], err = readValue(decoder); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

// readArray reads the elements of an array and its closing bracket.
func readArray(decoder *json.Decoder) ([]any, error) {
	array := make([]any, 0)
	for decoder.More() {
		element, err := readValue(decoder)
		if err != nil {
			return nil, err
		}
		array = append(array, element)
	}
	_, err := decoder.Token()
	return array, err
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

// decimalOf reads a valid JSON number. An exponent that no int holds becomes one that no float64 has.
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
