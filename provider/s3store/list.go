package s3store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/recollect-go/recollect/filememory"
)

// maxPage is the protocol's largest page.
const maxPage = 1000

// List returns the keys of a page of at most limit objects under the prefix. Objects that are no documents are left out,
// so a page may be short; each tombstone costs one request. A limit over 1000, the protocol's largest page, means 1000.
func (s *Store) List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error) {
	if limit < 1 {
		return nil, "", failed("list", errors.New("limit is less than 1"))
	}
	input := &s3.ListObjectsV2Input{
		Bucket: &s.bucket, Prefix: &s.prefix, MaxKeys: aws.Int32(int32(min(limit, maxPage))),
		Delimiter: aws.String("/"), // folders below are other stores'
	}
	if cursor != "" {
		input.ContinuationToken = &cursor
	}
	page, err := s.client.ListObjectsV2(ctx, input)
	if err != nil {
		return nil, "", failed("list", withContext(ctx, err))
	}
	for _, found := range page.Contents {
		key, ok, err := s.keyOf(ctx, &found)
		if err != nil {
			return nil, "", failed("list", err)
		}
		if ok {
			keys = append(keys, key)
		}
	}
	if !aws.ToBool(page.IsTruncated) {
		return keys, "", nil
	}
	if aws.ToString(page.NextContinuationToken) == "" {
		return nil, "", failed("list", errors.New("store has more objects and does not say how to go on"))
	}
	return keys, *page.NextContinuationToken, nil
}

// keyOf returns the key of the document that found is, if it is one.
func (s *Store) keyOf(ctx context.Context, found *types.Object) (key string, ok bool, err error) {
	key = s.keyIn(aws.ToString(found.Key))
	if filememory.CheckKey(key) != nil {
		return "", false, nil
	}
	if aws.ToInt64(found.Size) != int64(tombstoneSize) {
		return key, true, nil
	}
	object, err := s.get(ctx, s.prefix+key)
	if errors.Is(err, errAbsent) {
		return "", false, nil
	}
	return key, err == nil && !isTombstone(object.content), err
}
