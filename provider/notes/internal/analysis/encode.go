package analysis

import (
	"encoding/binary"
	"errors"
	"slices"
)

// ErrMalformed: bytes are not an encoded Text of this version.
var ErrMalformed = errors.New("malformed terms")

// Encode returns t as bytes: the version, the number of words and of extra terms as unsigned varints, and then all of them
// with eight bytes each, the lowest first.
func (t Text) Encode() []byte {
	out := make([]byte, 0, 1+2*binary.MaxVarintLen32+8*(len(t.Words)+len(t.Extra)))
	out = append(out, Version)
	out = binary.AppendUvarint(out, uint64(len(t.Words)))
	out = binary.AppendUvarint(out, uint64(len(t.Extra)))
	for _, terms := range [][]Term{t.Words, t.Extra} {
		for _, term := range terms {
			out = binary.LittleEndian.AppendUint64(out, uint64(term))
		}
	}
	return out
}

// Decode reads what Encode wrote.
func Decode(data []byte) (Text, error) {
	if len(data) == 0 || data[0] != Version {
		return Text{}, ErrMalformed
	}
	data = data[1:]
	words, n := binary.Uvarint(data)
	if n <= 0 {
		return Text{}, ErrMalformed
	}
	data = data[n:]
	extra, n := binary.Uvarint(data)
	if n <= 0 {
		return Text{}, ErrMalformed
	}
	data = data[n:]
	total := uint64(len(data) / 8)
	if len(data)%8 != 0 || words > total || extra != total-words {
		return Text{}, ErrMalformed
	}
	terms := make([]Term, total)
	for i := range terms {
		terms[i] = Term(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return Text{Words: terms[:words:words], Extra: terms[words:]}, nil
}

// Distinct returns every term by which t is looked up once, in ascending order.
func (t Text) Distinct() []Term {
	all := slices.Concat(t.Words, t.Extra)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(term Term) bool { return term == Asks })
}
