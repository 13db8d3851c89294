package auto

import (
	"errors"
	"fmt"
	"os"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/provider/vercelblob"
)

// Options configures Backend. The zero value means the environment of the process, and no development mode.
type Options struct {
	// Lookup returns a variable of the environment. nil means os.LookupEnv. It is kept: an OIDC token is looked up for every
	// request.
	Lookup func(name string) (string, bool)
	// Development is the backend of development mode; nil means that the program is not in it. All memories of a process
	// should be given the same one, usually one filememory.InMemory, or they do not see each other's documents.
	Development filememory.Backend
	// Blob configures the Vercel Blob backend, if that is the choice. nil means its defaults.
	Blob *vercelblob.Options
}

var (
	// ErrNoBlobStore matches the error on Vercel when no Blob store is connected.
	ErrNoBlobStore = errors.New("no Vercel Blob store is connected")
	// ErrNoBackend matches the error outside Vercel and development mode.
	ErrNoBackend = errors.New("no backend is chosen")
)

// Backend returns the backend that the environment calls for, or an error that says what to set. It sends nothing.
func Backend(opts *Options) (filememory.Backend, error) {
	if opts == nil {
		opts = &Options{}
	}
	env := environment(opts.Lookup)
	if env == nil {
		env = os.LookupEnv
	}
	if env.get("VERCEL") != "" {
		return onVercel(env, opts.Blob)
	}
	if opts.Development != nil {
		return opts.Development, nil
	}
	return nil, fmt.Errorf("auto: %w: outside Vercel give file memory a backend, for example filememory.Dir, a database or another "+
		"store under provider; or set Options.Development while developing", ErrNoBackend)
}

func onVercel(env environment, opts *vercelblob.Options) (filememory.Backend, error) {
	credentials, err := blobCredentials(env)
	if err != nil {
		return nil, err
	}
	backend, err := vercelblob.New(credentials, opts)
	if err != nil {
		return nil, fmt.Errorf("auto: %w", err)
	}
	return backend, nil
}

// blobCredentials follows eve's order: what is meant for memory before what the project has, OIDC before a token.
func blobCredentials(env environment) (vercelblob.Credentials, error) {
	for _, candidate := range []struct {
		variable string
		build    func(value string) (vercelblob.Credentials, error)
	}{
		{"EVE_MEMORY_BLOB_STORE_ID", env.oidc},
		{"EVE_MEMORY_BLOB_READ_WRITE_TOKEN", vercelblob.ReadWriteToken},
		{"BLOB_STORE_ID", env.oidc},
		{"BLOB_READ_WRITE_TOKEN", vercelblob.ReadWriteToken},
	} {
		value := env.get(candidate.variable)
		if value == "" {
			continue
		}
		credentials, err := candidate.build(value)
		if err != nil {
			return nil, fmt.Errorf("auto: %s: %w", candidate.variable, err)
		}
		return credentials, nil
	}
	return nil, fmt.Errorf("auto: %w: connect a private Blob store to the Vercel project, which sets BLOB_STORE_ID or BLOB_READ_WRITE_TOKEN, "+
		"or set EVE_MEMORY_BLOB_STORE_ID or EVE_MEMORY_BLOB_READ_WRITE_TOKEN to use another one for memory", ErrNoBlobStore)
}

type environment func(name string) (string, bool)

func (env environment) get(name string) string {
	value, _ := env(name)
	return ecma.Trim(value)
}

func (env environment) oidc(storeID string) (vercelblob.Credentials, error) {
	return vercelblob.OIDC(storeID, vercelblob.VercelTokens(env))
}
