package upstash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Read returns the document of key. An absent document costs a second command, which tells it from a hash of another shape.
func (d *Documents) Read(ctx context.Context, key string) (content []byte, version string, err error) {
	if err := accept(ctx, "read", key); err != nil {
		return nil, "", err
	}
	fields, err := d.fields(ctx, key)
	if err != nil {
		return nil, "", err
	}
	if fields == nil {
		return nil, "", failed("read", fmt.Errorf("document %q: %w", key, fs.ErrNotExist))
	}
	return decode(fields.content), fields.version, nil
}

type fields struct{ content, version string }

// fields returns what is stored under key, nil when the key does not exist.
func (d *Documents) fields(ctx context.Context, key string) (*fields, error) {
	stored, err := d.readFields(ctx, key)
	if err != nil || stored != nil {
		return stored, err
	}
	kind, err := d.kind(ctx, key)
	if err != nil || kind == "none" {
		return nil, err
	}
	// It was created in between, or has another shape.
	if stored, err = d.readFields(ctx, key); err != nil || stored != nil {
		return stored, err
	}
	return nil, failed("read", &ShapeError{Key: key, Found: found(kind)})
}

// readFields returns nil unless both fields are there.
func (d *Documents) readFields(ctx context.Context, key string) (*fields, error) {
	result, _, err := d.client.run(ctx, "read", command{"HMGET", d.prefix + key, contentField, versionField})
	if isWrongType(err) {
		kind, err := d.kind(ctx, key)
		if err != nil {
			return nil, err
		}
		return nil, failed("read", &ShapeError{Key: key, Found: found(kind)})
	}
	if err != nil {
		return nil, err
	}
	stored, err := parseFields(result)
	if err != nil {
		return nil, badReply("read", err)
	}
	return stored, nil
}

func parseFields(r reply) (*fields, error) {
	values, err := r.list()
	if err != nil {
		return nil, err
	}
	if len(values) != 2 {
		return nil, fmt.Errorf("%w: %d values for two fields", ErrBadReply, len(values))
	}
	content, hasContent, err := values[0].text()
	if err != nil {
		return nil, err
	}
	version, _, err := values[1].text()
	if err != nil || !hasContent || version == "" {
		return nil, err
	}
	return &fields{content: content, version: version}, nil
}

func (d *Documents) kind(ctx context.Context, key string) (string, error) {
	result, _, err := d.client.run(ctx, "read", command{"TYPE", d.prefix + key})
	if err != nil {
		return "", err
	}
	kind, err := result.must()
	if err != nil {
		return "", badReply("read", err)
	}
	return kind, nil
}

func isWrongType(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == "WRONGTYPE"
}
