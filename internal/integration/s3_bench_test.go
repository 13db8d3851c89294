package integration_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/integration/server"
)

// BenchmarkS3 measures each call beside its floor, the bare request through the same client. The bar is 1.15 times the
// floor.
func BenchmarkS3(b *testing.B) {
	running := server.StartS3(b)
	bucket := newBucket(b, running)
	client := running.Client(running.Address, transport(b))
	store := openS3(b, client, bucket, nil)
	ctx := b.Context()
	key, bare := keyOf("subject"), "recollect/"+keyOf("floor")
	version := create(b, store, key, content(0))
	out, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &bare, Body: bytes.NewReader(content(0))})
	require.NoError(b, err)
	bareVersion := out.ETag

	writes, bareWrites := 0, 0
	b.Run("Write", func(b *testing.B) {
		beside(b, 1, func(int) {
			writes++
			var err error
			version, err = store.Write(ctx, key, content(writes), version)
			require.NoError(b, err)
		}, func(int) {
			bareWrites++
			out, err := client.PutObject(ctx, &s3.PutObjectInput{
				Bucket: &bucket, Key: &bare, Body: bytes.NewReader(content(bareWrites)), IfMatch: bareVersion,
			})
			require.NoError(b, err)
			bareVersion = out.ETag
		})
	})
	b.Run("Read", func(b *testing.B) {
		beside(b, 1, func(int) {
			_, _, err := store.Read(ctx, key)
			require.NoError(b, err)
		}, func(int) {
			out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &bare})
			require.NoError(b, err)
			_, err = io.ReadAll(out.Body)
			require.NoError(b, err)
			require.NoError(b, out.Body.Close())
		})
	})
}

// content returns a document that differs from those of other numbers, so that its ETag does.
func content(number int) []byte {
	document := bytes.Repeat([]byte("x"), documentBytes)
	binary.BigEndian.PutUint64(document, uint64(number))
	return document
}
