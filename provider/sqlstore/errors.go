package sqlstore

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSchema matches every *SchemaError.
var ErrSchema = errors.New("sqlstore: table does not hold documents")

// SchemaError reports a table that is missing or has another shape than Schema describes. Nothing was changed.
type SchemaError struct {
	Table string
	Found []string // what is wrong, one finding each

	missing bool // there is no such table
}

// Error lists what was found.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("sqlstore: table %s does not hold documents: %s", e.Table, strings.Join(e.Found, "; "))
}

// Is reports whether target is ErrSchema.
func (e *SchemaError) Is(target error) bool { return target == ErrSchema }
