package integration_test

import (
	"testing"

	"github.com/recollect-go/recollect/internal/integration/server"
)

// testCollations guards that keys are compared by their bytes whatever the database compares text by.
func testCollations(t *testing.T, pg *server.Postgres) {
	for name, options := range map[string]string{
		"c":           `LOCALE 'C'`,
		"icu":         `LOCALE_PROVIDER icu ICU_LOCALE 'und'`,
		"icu_folding": `LOCALE_PROVIDER icu ICU_LOCALE 'und-u-ks-level1'`,
	} {
		t.Run(name, func(t *testing.T) {
			d := postgresDatabase(t, pg, pg.Address)
			run(t, d.open(t), `CREATE DATABASE `+name+` TEMPLATE template0 `+options)
			d.connector = postgresConnector(t, pg.DSN(pg.Address)+"&database="+name)
			testKeysInSQL(t, d)
		})
	}
}
