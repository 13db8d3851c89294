package sqlstore

import (
	"fmt"
	"regexp"
	"strings"
)

// tableName is a table's name as Options gives it: a name, or a schema and a name with a point between them.
var tableName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,62}\.)?[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// table is a valid table name.
type table struct{ schema, name string }

func parseTable(name string) (table, error) {
	if !tableName.MatchString(name) {
		return table{}, fmt.Errorf("sqlstore: table name %q is not [schema.]name, each of 1 to 63 ASCII letters, digits and underscores", name)
	}
	schema, local, qualified := strings.Cut(name, ".")
	if !qualified {
		return table{name: name}, nil
	}
	return table{schema: schema, name: local}, nil
}

// String returns the name as it stands in statements: quoted, so that it is taken as it was written and is never a keyword.
func (t table) String() string {
	if t.schema == "" {
		return `"` + t.name + `"`
	}
	return `"` + t.schema + `"."` + t.name + `"`
}
