package notes_test

import (
	"context"
	"database/sql"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/notes"
	"github.com/recollect-go/recollect/scope"
)

// An agent with a searchable memory in PostgreSQL. The program brings the driver; here that of pgx would be imported. For
// one that runs, see examples/notes.
func ExampleNewProvider() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://localhost/agents")
	if err != nil {
		panic(err)
	}
	store, err := notes.New(db, notes.PostgreSQL, nil)
	if err != nil {
		panic(err)
	}
	if err := store.EnsureSchema(ctx); err != nil {
		panic(err)
	}
	provider, err := notes.NewProvider(store, nil)
	if err != nil {
		panic(err)
	}
	agent, err := memory.New([]memory.Slot{{
		Name: "notes", Provider: provider, Scope: scope.ByTenantAndUser("tenantId"), Namespace: scope.Namespace("acme-assistant-v1"),
	}}, nil)
	if err != nil {
		panic(err)
	}
	_ = agent
}
