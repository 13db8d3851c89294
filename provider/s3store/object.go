package s3store

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recollect-go/recollect/filememory"
)

// tokenField is the metadata field that names the write that made an object.
const tokenField = "recollect-write"

var (
	// errCondition is a request that certainly was not carried out, because its condition did not hold.
	errCondition = errors.New("condition does not hold")
	// errAbsent is an object that does not exist.
	errAbsent = errors.New("object does not exist")
	// errDoubt is a request that may have been carried out.
	errDoubt = errors.New("request may have been carried out")
)

// put writes an object if its ETag is expected, or if it does not exist and expected is "". It returns errCondition or
// errDoubt where these apply; any other error means that nothing was written. It does not keep content.
func (s *Store) put(ctx context.Context, name string, content []byte, expected string) (etag string, err error) {
	token := rand.Text()
	input := &s3.PutObjectInput{
		Bucket: &s.bucket, Key: &name, ContentLength: aws.Int64(int64(len(content))),
		// The client may go on reading for a moment after an ended context, when content is the caller's again.
		Body:     bytes.NewReader(bytes.Clone(content)),
		Metadata: map[string]string{tokenField: token},
	}
	if expected == "" {
		input.IfNoneMatch = aws.String("*")
	} else {
		input.IfMatch = &expected
	}
	// A repeated create would bring back a document that was removed in between. Not everybody leaves a tombstone.
	seen := attempts{once: expected == ""}
	out, err := s.client.PutObject(ctx, input, seen.watch)
	if err == nil {
		if etag = aws.ToString(out.ETag); isStrong(etag) {
			return etag, nil
		}
		err = ErrWeakETag
	}
	err = withContext(ctx, err)
	switch {
	case seen.doubt:
		return s.readBack(ctx, name, content, token, err)
	case isCondition(err):
		return "", errCondition
	}
	return "", err
}

// readBack tells whether the write named token made the object, now that its own answer is lost. Another token proves
// nothing: the write may have been replaced since, or still be on its way.
func (s *Store) readBack(ctx context.Context, name string, content []byte, token string, cause error) (etag string, err error) {
	if ctx.Err() == nil {
		found, err := s.get(ctx, name)
		if err == nil && found.token == token && bytes.Equal(found.content, content) {
			return found.etag, nil
		}
	}
	return "", fmt.Errorf("%w: %w", errDoubt, cause)
}

// object is what the store tells about an object.
type object struct {
	content []byte // nil after head
	etag    string
	token   string
	size    int64
}

// head returns errAbsent for an object that does not exist.
func (s *Store) head(ctx context.Context, name string) (*object, error) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: &name})
	if statusOf(err) == http.StatusNotFound {
		return nil, errAbsent
	}
	if err != nil {
		return nil, withContext(ctx, err)
	}
	return &object{etag: aws.ToString(out.ETag), token: out.Metadata[tokenField], size: aws.ToInt64(out.ContentLength)}, nil
}

// readAttempts is how often get asks for an object that does not arrive whole. The client itself repeats only requests.
const readAttempts = 5

// errTorn is content that broke off or that does not belong to its ETag.
var errTorn = errors.New("object did not arrive whole")

// get returns an object, or errAbsent.
func (s *Store) get(ctx context.Context, name string) (found *object, err error) {
	for range readAttempts {
		found, err = s.getOnce(ctx, name)
		if err == nil {
			err = s.checkETag(ctx, name, found)
		}
		if !errors.Is(err, errTorn) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, withContext(ctx, err)
	}
	return found, nil
}

func (s *Store) getOnce(ctx context.Context, name string) (*object, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &name})
	if codeOf(err) == codeNoSuchKey {
		return nil, errAbsent
	}
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	if err := s.checkObject(name, out); err != nil {
		return nil, err
	}
	content, err := readAll(out.Body, aws.ToInt64(out.ContentLength), s.maxBytes)
	if err != nil {
		return nil, err
	}
	if size := int64(len(content)); size > s.maxBytes {
		return nil, s.tooLarge(name, size)
	}
	return &object{content: content, etag: aws.ToString(out.ETag), token: out.Metadata[tokenField], size: int64(len(content))}, nil
}

// checkETag finds an ETag that belongs to an earlier content than the one it came with: some stores look at one after the
// other, and an object may be replaced in between (versitygw 1.8.0 does so). Where ETags are digests, as most are, one
// that fits needs no request.
func (s *Store) checkETag(ctx context.Context, name string, found *object) error {
	if !s.digests || isDigest(found.etag, found.content) {
		return nil
	}
	now, err := s.head(ctx, name)
	if errors.Is(err, errAbsent) || err == nil && now.etag != found.etag {
		return fmt.Errorf("%w: it was replaced meanwhile", errTorn)
	}
	return err
}

// checkObject refuses an object before its content is read.
func (s *Store) checkObject(name string, out *s3.GetObjectOutput) error {
	if size := aws.ToInt64(out.ContentLength); size > s.maxBytes {
		return s.tooLarge(name, size)
	}
	if !isStrong(aws.ToString(out.ETag)) {
		return ErrWeakETag
	}
	switch encoding := aws.ToString(out.ContentEncoding); encoding {
	case "", "identity", "aws-chunked": // the last is how a client sent it, which some stores keep
		return nil
	default:
		return &ShapeError{Key: s.keyIn(name), Found: fmt.Sprintf("encoded as %q", encoding)}
	}
}

// tooLarge is the error of an object over the limit.
func (s *Store) tooLarge(name string, size int64) error {
	return &filememory.TooLargeError{Key: s.keyIn(name), Size: size, Limit: s.maxBytes}
}

// keyIn returns the key of the document that the object called name is.
func (s *Store) keyIn(name string) string { return strings.TrimPrefix(name, s.prefix) }

// readAll reads content of an announced size, which is 0 when it is not known, and one byte more than limit at most.
func readAll(body io.Reader, size, limit int64) ([]byte, error) {
	var content bytes.Buffer
	content.Grow(int(size) + bytes.MinRead)
	if _, err := content.ReadFrom(io.LimitReader(body, limit+1)); err != nil {
		return nil, fmt.Errorf("%w: %w", errTorn, err)
	}
	return content.Bytes(), nil
}
