package upstash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/provider/upstash"
)

// Documents is a backend for file memory.
func ExampleNewDocuments() {
	server := startServer() // stands for the service
	defer server.Close()
	ctx := context.Background()

	secret, err := upstash.Token(token)
	if err != nil {
		panic(err)
	}
	client, err := upstash.NewClient(server.URL, secret, &upstash.Options{HTTPClient: server.Client()})
	if err != nil {
		panic(err)
	}
	documents, err := upstash.NewDocuments(client, &upstash.DocumentsOptions{TTL: 90 * 24 * time.Hour})
	if err != nil {
		panic(err)
	}
	const key = "memscope1_LCa0a2j_xo_5m0U8HTBBNBNCLXBkg7-g-YpeiGJm564"
	version, err := documents.Write(ctx, key, []byte("one"), "")
	fmt.Println("created:", err == nil)
	_, err = documents.Write(ctx, key, []byte("two"), "")
	fmt.Println("conflict:", errors.Is(err, filememory.ErrConflict))
	content, read, err := documents.Read(ctx, key)
	fmt.Println(string(content), read == version, err)
	// Output:
	// created: true
	// conflict: true
	// one true <nil>
}

// A Provider recalls the facts that fit what is being talked about.
func ExampleNewProvider() {
	server := startServer() // stands for the service
	defer server.Close()
	ctx := context.Background()
	environment := map[string]string{"UPSTASH_REDIS_REST_URL": server.URL, "UPSTASH_REDIS_REST_TOKEN": token}
	lookup := func(name string) (string, bool) { v, ok := environment[name]; return v, ok } // os.LookupEnv in a program

	client, err := upstash.ClientFromEnvironment(lookup, &upstash.Options{HTTPClient: server.Client()})
	if err != nil {
		panic(err)
	}
	provider, err := upstash.NewProvider(client, nil)
	if err != nil {
		panic(err)
	}
	handlers, err := provider.Attach(memory.SlotInfo{Name: "facts"})
	if err != nil {
		panic(err)
	}
	operation := memory.Operation{Key: "memscope1_LCa0a2j_xo_5m0U8HTBBNBNCLXBkg7-g-YpeiGJm564", Slot: "facts", Session: memory.SessionInfo{ID: "monday"}}
	tools, err := handlers.Tools(ctx, &memory.ToolsRequest{Operation: operation})
	if err != nil {
		panic(err)
	}
	output, err := tools[0].Call(ctx, &memory.ToolCall{Input: json.RawMessage(`{"text":"The staging database is called marigold."}`)})
	fmt.Println(tools[0].Name, string(output), err)

	operation.ID = "a recall"
	items, err := handlers.Recall(ctx, &memory.TurnStarted{
		Operation: operation,
		Turn:      memory.Turn{ID: "1", Input: []memory.Message{memory.UserMessage("Which database is staging?")}},
	})
	lines := strings.Split(items[0].Content, "\n")
	fmt.Println(lines[len(lines)-1], err)
	// Output:
	// save_memory {"id":"bd7d47523021","saved":true,"searchable":true} <nil>
	// bd7d47523021: The staging database is called marigold. (session=monday) <nil>
}
