package sqlstore

import "strings"

// statements are all that a Store sends about documents. Each but list names the one key it is about as an equality
// condition, or as the key of the row it inserts.
type statements struct {
	read    string
	version string
	create  string
	replace string
	remove  string
	list    string // parameters: 1 the key after which to start, 2 how many
}

func newStatements(d Dialect, t table) statements {
	parameter := "$"
	if d == SQLite {
		parameter = "?"
	}
	with := strings.NewReplacer("TABLE", t.String(), ":", parameter).Replace
	return statements{
		read:    with(`SELECT content, version FROM TABLE WHERE key = :1`),
		version: with(`SELECT version FROM TABLE WHERE key = :1`),
		create:  with(`INSERT INTO TABLE (key, version, content) VALUES (:1, :2, :3) ON CONFLICT (key) DO NOTHING`),
		replace: with(`UPDATE TABLE SET version = :3, content = :4 WHERE key = :1 AND version = :2`),
		remove:  with(`DELETE FROM TABLE WHERE key = :1 AND version = :2`),
		// A key begins with a letter or a digit, all of which come before the brace. Behind it are rows of the application,
		// and in SQLite also keys that are no text, which come behind every text and so behind every cursor.
		list: with(`SELECT key FROM TABLE WHERE key > :1 AND key < '{' ORDER BY key LIMIT :2`),
	}
}
