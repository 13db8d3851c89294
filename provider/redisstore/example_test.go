package redisstore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/recollect-go/recollect/provider/redisstore"
)

// One client serves the documents of file memory and the checkpoints of sessions, each under a prefix of its own.
func Example() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	documents, err := redisstore.New(client, nil) // a filememory.Backend
	if err != nil {
		log.Fatal(err)
	}
	checkpoints, err := redisstore.New(client, &redisstore.Options{Prefix: redisstore.CheckpointPrefix}) // a state.Store
	if err != nil {
		log.Fatal(err)
	}
	risks, err := documents.Risks(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, risk := range risks {
		log.Print("memory may be lost: ", risk)
	}
	_ = checkpoints
}

// A client that answers from somewhere else than a key's master is refused.
func ExampleNew() {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:6379"}})
	defer ring.Close()
	_, err := redisstore.New(ring, nil)
	fmt.Println(err)
	// Output: redisstore: client is a Ring: it moves keys to other shards when one is down, and documents would be missing or double
}
