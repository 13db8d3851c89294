package s3store_test

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/recollect-go/recollect/provider/s3store"
)

// One client serves the documents of file memory and the checkpoints of sessions, each in a folder of its own. Amazon S3
// removes objects conditionally; other stores keep the default.
func Example() {
	ctx := context.Background()
	client := s3.New(s3.Options{Region: "eu-central-1"}) // with the application's credentials
	documents, err := s3store.New(ctx, client, "my-bucket", &s3store.Options{
		Prefix: "agents/memory", ConditionalDelete: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	checkpoints, err := s3store.New(ctx, client, "my-bucket", &s3store.Options{
		Prefix: "agents/state", ConditionalDelete: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	_, _ = documents, checkpoints // a filememory.Backend and a state.Store
}

// Every problem of the arguments is in one error, before anything is sent.
func ExampleNew() {
	_, err := s3store.New(context.Background(), nil, "bucket", &s3store.Options{Prefix: "/memory"})
	fmt.Println(err)
	// Output:
	// s3store: prefix has an empty part or one of dots
	// client is missing
}
