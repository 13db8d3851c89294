package s3store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// foreignETag has the form of an ETag and is that of no object.
const foreignETag = `"00000000000000000000000000000000"`

const cleanUpPatience = 5 * time.Second

// probe tries everything that the package relies on, on an object of its own.
func (s *Store) probe(ctx context.Context) error {
	p := &probe{store: s, name: s.prefix + "recollect-probe-" + rand.Text()}
	err := p.run(ctx)
	if p.written {
		err = errors.Join(err, p.cleanUp(ctx))
	}
	return err
}

type probe struct {
	store   *Store
	name    string
	written bool
	etag    string
}

func (p *probe) run(ctx context.Context) error {
	steps := []struct {
		what string
		do   func(context.Context) error
	}{
		{"reading a missing object", p.readMissing},
		{"replacing a missing object (If-Match)", func(ctx context.Context) error { return p.refuse(ctx, "0", foreignETag) }},
		{"creating an object (If-None-Match)", func(ctx context.Context) error { return p.write(ctx, "1", "") }},
		{"creating it again (If-None-Match)", func(ctx context.Context) error { return p.refuse(ctx, "2", "") }},
		{"replacing another version of it (If-Match)", func(ctx context.Context) error { return p.refuse(ctx, "3", foreignETag) }},
		{"replacing it (If-Match)", func(ctx context.Context) error { return p.write(ctx, "4", p.etag) }},
		{"reading it back", func(ctx context.Context) error { return p.read(ctx, "4") }},
	}
	if p.store.conditionalDelete {
		steps = append(steps, []struct {
			what string
			do   func(context.Context) error
		}{
			{"deleting another version of it (If-Match)", p.refuseDelete},
			{"deleting it (If-Match)", p.remove},
		}...)
	}
	for _, step := range steps {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

func (p *probe) readMissing(ctx context.Context) error {
	_, err := p.store.get(ctx, p.name)
	switch {
	case errors.Is(err, errAbsent):
		return nil
	case err == nil:
		return errors.New("it is there")
	default:
		return fmt.Errorf("it is not reported as missing, for which the credentials may lack s3:ListBucket: %w", err)
	}
}

// write expects a write to be carried out.
func (p *probe) write(ctx context.Context, content, expected string) error {
	p.written = true
	etag, err := p.store.put(ctx, p.name, []byte(content), expected)
	if err == nil && etag == p.etag {
		err = errors.New("another content has the same ETag")
	}
	p.etag = etag
	return err
}

// refuse expects a write to be refused because of its condition.
func (p *probe) refuse(ctx context.Context, content, expected string) error {
	p.written = true
	return refusal(p.store.put(ctx, p.name, []byte(content), expected))
}

// refusal returns the error for what should have been refused.
func refusal(_ string, err error) error {
	switch {
	case errors.Is(err, errCondition):
		return nil
	case err == nil:
		return ErrUnconditional
	default:
		return err
	}
}

// read expects content and the ETag of the last write, and learns whether ETags are digests.
func (p *probe) read(ctx context.Context, content string) error {
	found, err := p.store.get(ctx, p.name)
	switch {
	case err != nil:
		return err
	case string(found.content) != content:
		return errors.New("it is not what was written last")
	case found.etag != p.etag:
		return fmt.Errorf("its ETag is %s, and %s when it was written", found.etag, p.etag)
	}
	p.store.digests = isDigest(found.etag, found.content)
	return nil
}

func (p *probe) refuseDelete(ctx context.Context) error {
	err := refusal("", p.store.remove(ctx, p.name, foreignETag))
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; leave ConditionalDelete off", err)
}

func (p *probe) remove(ctx context.Context) error {
	if err := p.store.remove(ctx, p.name, p.etag); err != nil {
		return err
	}
	return p.readMissing(ctx)
}

// cleanUp goes on for a moment when ctx has ended.
func (p *probe) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpPatience)
	defer cancel()
	_, err := p.store.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &p.store.bucket, Key: &p.name})
	if err != nil {
		return fmt.Errorf("removing the probe's object: %w", err)
	}
	return nil
}
