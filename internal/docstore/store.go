package docstore

import "context"

// Store is the contract behind filememory.Backend and state.Store; its rules are stated there.
type Store interface {
	Read(ctx context.Context, key string) (content []byte, version string, err error)
	Write(ctx context.Context, key string, content []byte, expected string) (version string, err error)
	Delete(ctx context.Context, key, expected string) error
}

// Lister is the optional listing of a Store; its rules are stated at filememory.Lister.
type Lister interface {
	List(ctx context.Context, cursor string, limit int) (keys []string, next string, err error)
}
