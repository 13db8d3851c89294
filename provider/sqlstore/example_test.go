package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/provider/sqlstore"
)

// openDatabase stands for sql.Open with the driver of your choice, for instance
//
//	sql.Open("pgx", os.Getenv("DATABASE_URL"))
func openDatabase() *sql.DB { return sql.OpenDB(newFake()) }

func ExampleNew() {
	ctx := context.Background()
	db := openDatabase()
	defer db.Close()

	store, err := sqlstore.New(db, sqlstore.PostgreSQL, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := store.EnsureSchema(ctx); err != nil {
		log.Fatal(err)
	}

	first, err := store.Write(ctx, key, []byte("likes tea"), "")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := store.Write(ctx, key, []byte("likes coffee"), first); err != nil {
		log.Fatal(err)
	}
	_, err = store.Write(ctx, key, []byte("likes cocoa"), first)
	fmt.Println(errors.Is(err, filememory.ErrConflict))

	content, _, err := store.Read(ctx, key)
	fmt.Println(string(content), err)
	// Output:
	// true
	// likes coffee <nil>
}

func ExampleStore_Schema() {
	db := openDatabase()
	defer db.Close()
	store, err := sqlstore.New(db, sqlstore.PostgreSQL, &sqlstore.Options{Table: "agents.memories"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(store.Schema())
	// Output:
	// CREATE TABLE IF NOT EXISTS "agents"."memories" (
	// 	key     text COLLATE "C" NOT NULL PRIMARY KEY,
	// 	version text COLLATE "C" NOT NULL,
	// 	content bytea NOT NULL
	// );
}

// A document that is written in a transaction counts together with the application's own rows, or not at all.
func ExampleStore_Tx() {
	ctx := context.Background()
	db := openDatabase()
	defer db.Close()
	store, err := sqlstore.New(db, sqlstore.PostgreSQL, nil)
	if err != nil {
		log.Fatal(err)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	// tx.ExecContext(ctx, "UPDATE orders SET …") would stand here.
	if _, err := store.Tx(tx).Write(ctx, key, []byte("order 7 is paid"), ""); err != nil {
		log.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		log.Fatal(err)
	}

	_, _, err = store.Read(ctx, key)
	fmt.Println(err)
	// Output:
	// sqlstore: no such document: file does not exist
}

// Listing returns keys in pages, without bodies.
func ExampleStore_List() {
	ctx := context.Background()
	db := openDatabase()
	defer db.Close()
	store, err := sqlstore.New(db, sqlstore.SQLite, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := store.Write(ctx, key, []byte("likes tea"), ""); err != nil {
		log.Fatal(err)
	}
	for cursor := ""; ; {
		keys, next, err := store.List(ctx, cursor, 100)
		if err != nil {
			log.Fatal(err)
		}
		for _, key := range keys {
			fmt.Println(key)
		}
		if next == "" {
			break
		}
		cursor = next
	}
	// Output:
	// memscope1_0000000000000000000000000000000000000000000
}
