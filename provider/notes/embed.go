package notes

import (
	"context"
	"fmt"
)

// embedAtOnce is how many texts one call of the Embedder gets at most.
const embedAtOnce = 64

// embedAll gives every draft its vector, if there is an Embedder.
func (s *Store) embedAll(ctx context.Context, drafts []prepared) error {
	if s.opts.Embedder == nil {
		return nil
	}
	for start := 0; start < len(drafts); start += embedAtOnce {
		part := drafts[start:min(start+embedAtOnce, len(drafts))]
		texts := make([]string, len(part))
		for i := range part {
			texts[i] = part[i].Text
		}
		vectors, err := s.embed(ctx, &EmbedRequest{Texts: texts})
		if err != nil {
			return err
		}
		for i := range part {
			part[i].vector = vectors[i]
		}
	}
	return nil
}

// embed asks the Embedder and checks what it returns. The vectors have length 1.
func (s *Store) embed(ctx context.Context, r *EmbedRequest) ([][]float32, error) {
	vectors, err := s.opts.Embedder.Embed(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEmbedding, err)
	}
	if len(vectors) != len(r.Texts) {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrEmbedding, len(vectors), len(r.Texts))
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		if len(v) != s.opts.Embedder.Dimensions {
			return nil, fmt.Errorf("%w: a vector of %d dimensions, not %d", ErrEmbedding, len(v), s.opts.Embedder.Dimensions)
		}
		if out[i], err = normalize(v); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEmbedding, err)
		}
	}
	return out, nil
}

func (c *change) addVector(kind Kind, seq int64, vector []float32) error {
	if vector == nil {
		return nil
	}
	_, err := c.execute(c.sql.addVector, c.opts.Embedder.Model, int64(kind), seq, encodeVector(vector))
	return err
}

// Reembed gives a vector of the Embedder's model to every note of the key that has none, and returns how many it gave: after
// an Embedder was added or its model changed. It can be repeated, and goes on where it was interrupted. Vectors of other
// models stay until their note is deleted.
func (s *Store) Reembed(ctx context.Context, key string) (int, error) {
	if s.opts.Embedder == nil {
		return 0, fmt.Errorf("%w: Reembed without an Embedder", ErrOption)
	}
	given, after := 0, int64(0)
	for {
		rows, err := s.withoutVector(ctx, key, after)
		if err != nil || len(rows) == 0 {
			return given, failed(ctx, "reembed", err)
		}
		after = rows[len(rows)-1].seq
		n, err := s.reembed(ctx, key, rows)
		given += n
		if err != nil {
			return given, failed(ctx, "reembed", err)
		}
	}
}

// withoutVector returns the next notes without a vector of the model.
func (s *Store) withoutVector(ctx context.Context, key string, after int64) ([]row, error) {
	if err := s.admit(ctx, key); err != nil {
		return nil, err
	}
	return s.query(ctx, s.sql.withoutVector, key, s.opts.Embedder.Model, after, embedAtOnce)
}

// reembed gives the notes their vectors, but for those that changed meanwhile, which have one already.
func (s *Store) reembed(ctx context.Context, key string, rows []row) (given int, err error) {
	texts := make([]string, len(rows))
	for i := range rows {
		texts[i] = string(rows[i].body)
	}
	vectors, err := s.embed(ctx, &EmbedRequest{Texts: texts})
	if err != nil {
		return 0, err
	}
	err = s.reduce(ctx, key, func(c *change) error {
		given = 0
		for i := range rows {
			now, err := c.rows([]int64{rows[i].seq})
			if err != nil {
				return err
			}
			if len(now) == 0 || now[0].version != rows[i].version {
				continue
			}
			if err := c.addVector(rows[i].kind, rows[i].seq, vectors[i]); err != nil {
				return err
			}
			given++
		}
		return nil
	})
	return given, err
}
