package auto_test

import (
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/provider/auto"
)

// The choice is made, and can fail, while the program starts.
func ExampleBackend() {
	environment := map[string]string{"BLOB_READ_WRITE_TOKEN": "vercel_blob_rw_Ab12cd34Ef56_s3cretS3cret"}
	options := &auto.Options{Lookup: func(name string) (string, bool) { v, ok := environment[name]; return v, ok }}

	_, err := auto.Backend(options)
	fmt.Println("outside Vercel:", errors.Is(err, auto.ErrNoBackend))

	environment["VERCEL"] = "1"
	backend, err := auto.Backend(options)
	fmt.Printf("on Vercel: %T %v\n", backend, err)

	delete(environment, "BLOB_READ_WRITE_TOKEN")
	_, err = auto.Backend(options)
	fmt.Println("without a store:", errors.Is(err, auto.ErrNoBlobStore))
	// Output:
	// outside Vercel: true
	// on Vercel: *vercelblob.Backend <nil>
	// without a store: true
}
