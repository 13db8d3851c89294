package notes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/recollect-go/recollect/provider/notes/internal/rank"
)

// VectorIndex finds the notes whose meaning is nearest to that of a question. It is the place for an index of the database
// (pgvector, sqlite-vec) or a service. The store writes the vectors to its own table and deletes them there; an index of its
// own follows that table. All functions may be called concurrently.
type VectorIndex interface {
	// Nearest returns up to r.Limit notes of r.Key, the nearest first. A vector of another key, kind or model may not
	// influence the result. A number of a note that is not there any more is ignored.
	Nearest(ctx context.Context, r *NearestRequest) ([]Near, error)
}

// NearestRequest asks for the notes of one kind under one key.
type NearestRequest struct {
	Key    string
	Kind   Kind
	Model  string
	Vector []float32 // of length 1
	Limit  int
}

// Near is a note and how near it is.
type Near struct {
	Number     int64   // the note's number in its scope, as in the table of vectors
	Similarity float64 // the cosine, from -1 to 1
}

// scan is the VectorIndex that compares with every vector of the scope.
type scan struct{ s *Store }

func (x scan) Nearest(ctx context.Context, r *NearestRequest) (nearest []Near, err error) {
	err = x.s.retry(ctx, func() error {
		nearest, err = x.compare(ctx, r)
		return err
	})
	return nearest, err
}

func (x scan) compare(ctx context.Context, r *NearestRequest) ([]Near, error) {
	rows, err := x.s.db.QueryContext(ctx, x.s.sql.vectors, r.Key, r.Model, int64(r.Kind))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	best := rank.NewTop(r.Limit)
	for rows.Next() {
		var n rank.Scored
		var data []byte
		if err := rows.Scan(&n.Number, (*raw)(&data)); err != nil {
			return nil, err
		}
		if len(data) != 4*len(r.Vector) {
			return nil, fmt.Errorf("%w: note %d has a vector of the same model of %d dimensions, not %d: give the Embedder another Model, and call Reembed",
				ErrEmbedding, n.Number, len(data)/4, len(r.Vector))
		}
		n.Score = similarity(r.Vector, data)
		best.Offer(n)
	}
	var nearest []Near
	for _, n := range best.Best() {
		nearest = append(nearest, Near{Number: n.Number, Similarity: n.Score})
	}
	return nearest, rows.Err()
}

// similarity returns the cosine of two vectors of length 1, of which one is encoded.
func similarity(a []float32, b []byte) float64 {
	var sum float32
	for i, x := range a {
		sum += x * math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return float64(sum)
}

// raw scans bytes without a copy: they are used before the next row.
type raw []byte

func (r *raw) Scan(value any) error {
	data, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("%w: %T in place of bytes", ErrMalformed, value)
	}
	*r = data
	return nil
}

// encodeVector returns v with four bytes for each number, the lowest first.
func encodeVector(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

var errZeroVector = errors.New("a vector has no direction: it is all zeros, or not finite")

// normalize scales v to length 1.
func normalize(v []float32) ([]float32, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, errZeroVector
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out, nil
}
