package upstash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Read returns the document of key with one HGETALL, which tells a missing key from a hash of another shape.
func (d *Documents) Read(ctx context.Context, key string) (content []byte, version string, err error) {
	if err := accept(ctx, "read", key); err != nil {
		return nil, "", err
	}
	result, err := d.client.run(ctx, "read", command{"HGETALL", d.prefix + key})
	if isWrongType(err) {
		return nil, "", d.wrongType(ctx, key)
	}
	if err != nil {
		return nil, "", err
	}
	fields, err := parseFields(result)
	if err != nil {
		return nil, "", badReply("read", err)
	}
	if len(fields) == 0 {
		return nil, "", failed("read", fmt.Errorf("document %q: %w", key, fs.ErrNotExist))
	}
	stored, hasContent := fields[contentField]
	version = fields[versionField]
	if !hasContent || version == "" {
		return nil, "", failed("read", &ShapeError{Key: key, Found: foundHash})
	}
	return decode(stored), version, nil
}

// parseFields reads a hash: names and values in turn.
func parseFields(r reply) (map[string]string, error) {
	parts, err := r.list()
	if err != nil {
		return nil, err
	}
	if len(parts)%2 != 0 {
		return nil, fmt.Errorf("%w: a hash of %d parts", ErrBadReply, len(parts))
	}
	fields := make(map[string]string, len(parts)/2)
	for i := 0; i < len(parts); i += 2 {
		name, err1 := parts[i].must()
		value, err2 := parts[i+1].must()
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		fields[name] = value
	}
	return fields, nil
}

// wrongType returns the error for a key that is no hash, with its type.
func (d *Documents) wrongType(ctx context.Context, key string) error {
	kind, err := d.kind(ctx, key)
	if err != nil {
		return err
	}
	return failed("read", &ShapeError{Key: key, Found: found(kind)})
}

func (d *Documents) kind(ctx context.Context, key string) (string, error) {
	result, err := d.client.run(ctx, "read", command{"TYPE", d.prefix + key})
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
