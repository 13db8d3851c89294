package filememory

import "github.com/recollect-go/recollect/internal/docstore"

// CheckKey returns an error matching ErrInvalidKey unless key is within the grammar of Backend. It is for backends: they call
// it before they touch any storage.
func CheckKey(key string) error { return docstore.CheckKey(key) }
