package vercelblob_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/provider/vercelblob"
)

// A Backend writes only on top of the version that was read.
func ExampleNew() {
	server := startServer() // stands for the service
	defer server.Close()
	ctx := context.Background()

	credentials, err := vercelblob.ReadWriteToken("vercel_blob_rw_Ab12cd34Ef56_s3cretS3cret")
	if err != nil {
		panic(err)
	}
	backend, err := vercelblob.New(credentials, server.options())
	if err != nil {
		panic(err)
	}
	const key = "memscope1_LCa0a2j_xo_5m0U8HTBBNBNCLXBkg7-g-YpeiGJm564"

	first, err := backend.Write(ctx, key, []byte("one"), "")
	fmt.Println("created:", err == nil)
	_, err = backend.Write(ctx, key, []byte("two"), first)
	fmt.Println("replaced:", err == nil)
	_, err = backend.Write(ctx, key, []byte("three"), first)
	fmt.Println("conflict:", errors.Is(err, filememory.ErrConflict))
	content, _, err := backend.Read(ctx, key)
	fmt.Println(string(content), err)
	// Output:
	// created: true
	// replaced: true
	// conflict: true
	// two <nil>
}

// On Vercel a function gets an OIDC token with each request. The handler passes it on in the context.
func ExampleWithOIDCToken() {
	credentials, err := vercelblob.OIDC("store_Ab12cd34Ef56", vercelblob.VercelTokens(os.LookupEnv))
	if err != nil {
		panic(err)
	}
	handler := func(r *http.Request) context.Context {
		return vercelblob.WithOIDCToken(r.Context(), r.Header.Get(vercelblob.OIDCTokenHeader))
	}

	request, _ := http.NewRequest(http.MethodPost, "https://agent.example/chat", nil)
	request.Header.Set(vercelblob.OIDCTokenHeader, "token-of-this-request")
	credential, err := credentials.Credential(handler(request))
	fmt.Println(credential, err)
	fmt.Println(credential.Token)
	// Output:
	// vercelblob credential of store Ab12cd34Ef56 <nil>
	// token-of-this-request
}
