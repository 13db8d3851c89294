package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/recollect-go/recollect/state"
)

// Incident is defined once, at package level.
var Incident = state.Define("example.incident", func() incident { return incident{} })

// begin opens a session and begins a turn of it.
func begin(ctx context.Context, store state.Store, session, turn string) (*state.Session, context.Context) {
	s, err := state.Open(ctx, store, state.ID{Session: session}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := s.BeginTurn(ctx, turn); err != nil {
		log.Fatal(err)
	}
	return s, s.Context(ctx)
}

func Example() {
	store := state.InMemory()
	turn := func() {
		_, ctx := begin(context.Background(), store, "session-1", "turn-1")
		answer, err := state.Step(ctx, "check", func(ctx context.Context) (string, error) {
			fmt.Println("checking")
			v, err := Incident.Update(ctx, func(v incident) (incident, error) {
				v.Checked = append(v.Checked, "api")
				return v, nil
			})
			return fmt.Sprint("checked ", v.Checked), err
		})
		fmt.Println(answer, err)
	}
	turn()
	turn() // after a crash, for example: the step is stored and not run again
	// Output:
	// checking
	// checked [api] <nil>
	// checked [api] <nil>
}

func ExampleDefine() {
	_, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	v, err := Incident.Get(ctx)
	fmt.Printf("%s %+v %v\n", Incident.Name(), v, err)
	// Output: example.incident {ID: Checked:[]} <nil>
}

func ExampleDefineIn() {
	var registry state.Registry
	_, err := state.DefineIn(&registry, "eve.budget", func() int { return 0 })
	fmt.Println(errors.Is(err, state.ErrName))
	_, err = state.DefineIn(&registry, "opsbot.visits", func() int { return 0 })
	fmt.Println(err)
	_, err = state.DefineIn(&registry, "opsbot.visits", func() string { return "" })
	fmt.Println(err)
	// Output:
	// true
	// <nil>
	// state: handle name refused: "opsbot.visits" is already defined as int
}

func ExampleRegistry_Definitions() {
	var registry state.Registry
	if _, err := state.DefineIn(&registry, "opsbot.visits", func() int { return 0 }); err != nil {
		log.Fatal(err)
	}
	for _, d := range registry.Definitions() {
		fmt.Println(d.Name, d.Type, d.PerTurn)
	}
	// Output: opsbot.visits int false
}

func ExampleDefaultRegistry() {
	for _, d := range state.DefaultRegistry().Definitions() {
		if d.Name == Incident.Name() {
			fmt.Println(d.Name, d.Type)
		}
	}
	// Output: example.incident state_test.incident
}

func ExamplePerTurn() {
	calls, err := state.DefineIn(new(state.Registry), "opsbot.calls", func() int { return 0 }, state.PerTurn())
	if err != nil {
		log.Fatal(err)
	}
	s, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	for _, turn := range []string{"turn-1", "turn-1", "turn-2"} {
		if err := s.BeginTurn(ctx, turn); err != nil {
			log.Fatal(err)
		}
		n, err := calls.Update(ctx, func(n int) (int, error) { return n + 1, nil })
		fmt.Println(turn, n, err)
	}
	// Output:
	// turn-1 1 <nil>
	// turn-1 2 <nil>
	// turn-2 1 <nil>
}

func ExampleMigrated() {
	ctx, store := context.Background(), state.InMemory()
	old, err := state.DefineIn(new(state.Registry), "opsbot.owner", func() string { return "ada" })
	if err != nil {
		log.Fatal(err)
	}
	_, before := begin(ctx, store, "session-1", "turn-1")
	if _, err := old.Get(before); err != nil {
		log.Fatal(err)
	}

	type owner struct{ Name, Team string }
	next, err := state.DefineIn(new(state.Registry), "opsbot.owner", func() owner { return owner{} },
		state.Migrated(func(old json.RawMessage) (json.RawMessage, error) {
			var name string
			if err := json.Unmarshal(old, &name); err != nil {
				return nil, err
			}
			return json.Marshal(owner{Name: name, Team: "unknown"})
		}))
	if err != nil {
		log.Fatal(err)
	}
	_, after := begin(ctx, store, "session-1", "turn-2")
	v, err := next.Get(after)
	fmt.Printf("%+v %v\n", v, err)
	// Output: {Name:ada Team:unknown} <nil>
}

func ExampleHandle_Get() {
	_, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	v, err := Incident.Get(ctx)
	fmt.Printf("%+v %v\n", v, err)
	_, err = Incident.Get(context.Background())
	fmt.Println(err)
	// Output:
	// {ID: Checked:[]} <nil>
	// state: the context carries no session
}

func ExampleHandle_Update() {
	_, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	start := func(id string) error {
		_, err := Incident.Update(ctx, func(v incident) (incident, error) {
			if v.ID != "" {
				return v, fmt.Errorf("%s is open", v.ID)
			}
			v.ID = id
			return v, nil
		})
		return err
	}
	fmt.Println(start("INC-1"))
	fmt.Println(start("INC-2"))

	load, err := state.DefineIn(new(state.Registry), "opsbot.load", func() map[string]any { return nil })
	if err != nil {
		log.Fatal(err)
	}
	_, err = load.Update(ctx, func(map[string]any) (map[string]any, error) {
		return map[string]any{"api": func() {}}, nil
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// INC-1 is open
	// state: handle "opsbot.load" at ["api"]: a func is not JSON
}

func ExampleOpen() {
	s, err := state.Open(context.Background(), state.InMemory(), state.ID{Session: "session-1"}, &state.Options{MaxBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.ID().Session, s.ID().Node, s.Turn() == "")
	// Output: session-1 __root__ true
}

func ExampleID_Key() {
	key, err := state.ID{Session: "session-1"}.Key()
	fmt.Println(key, err)
	// Output: memstate1_GP7Zwmq8wAv2ZfFDyFEvHylg9TsDy43zrKuUlxO1R4A <nil>
}

func ExampleSession_BeginTurn() {
	store := state.InMemory()
	s, ctx := begin(context.Background(), store, "session-1", "turn-1")
	if _, err := Incident.Get(ctx); err != nil {
		log.Fatal(err)
	}
	s, err := state.Open(context.Background(), store, s.ID(), nil) // in the next process
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("to resume:", s.Turn())
	fmt.Println(s.BeginTurn(context.Background(), s.Turn()))
	// Output:
	// to resume: turn-1
	// <nil>
}

func ExampleSession_Context() {
	s, _ := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	_, err := Incident.Get(s.Context(context.Background()))
	fmt.Println(err)
	// Output: <nil>
}

func ExampleStep() {
	_, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	_, err := state.Step(ctx, "call model", func(ctx context.Context) (string, error) {
		if _, err := Incident.Update(ctx, func(v incident) (incident, error) { v.ID = "INC-1"; return v, nil }); err != nil {
			return "", err
		}
		return "", errors.New("overloaded")
	})
	fmt.Println(err)
	v, err := Incident.Get(ctx)
	fmt.Printf("%q %v\n", v.ID, err) // the failed step left nothing
	// Output:
	// overloaded
	// "" <nil>
}

func ExampleSession_Child() {
	s, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	_, err := state.Step(ctx, "delegate", func(ctx context.Context) (string, error) {
		child, err := s.Child(ctx, "researcher")
		if err != nil {
			return "", err
		}
		if err := child.BeginTurn(ctx, "turn-1"); err != nil {
			return "", err
		}
		own, err := Incident.Update(child.Context(ctx), func(v incident) (incident, error) { v.ID = "INC-9"; return v, nil })
		if err != nil {
			return "", err
		}
		parents, err := Incident.Get(ctx)
		fmt.Printf("%q %q\n", own.ID, parents.ID)
		return "found", err
	})
	fmt.Println(err)
	// Output:
	// "INC-9" ""
	// <nil>
}

func ExampleSession_Attach() {
	s, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	_, err := state.Step(ctx, "answer", func(ctx context.Context) (string, error) {
		return "hello", s.Attach(ctx, "conversation", json.RawMessage(`{"messages":[]}`))
	})
	fmt.Println(err)
	raw, err := s.Attachment(ctx, "conversation")
	fmt.Println(string(raw), err)
	// Output:
	// <nil>
	// {"messages":[]} <nil>
}

func ExampleSession_Attachment() {
	s, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	_, err := s.Attachment(ctx, "conversation")
	fmt.Println(errors.Is(err, state.ErrNoAttachment))
	// Output: true
}

func ExampleSession_Reset() {
	s, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	fmt.Println(s.Reset(ctx))
	_, err := Incident.Get(ctx)
	fmt.Println(err)
	// Output:
	// <nil>
	// state: the context is stale: the session was reset
}

func ExampleSweep() {
	store := state.InMemory()
	_, ctx := begin(context.Background(), store, "session-1", "turn-1")
	if _, err := Incident.Get(ctx); err != nil {
		log.Fatal(err)
	}
	deleted := 0
	options := state.SweepOptions{
		IdleFor: 30 * 24 * time.Hour,
		Now:     func() time.Time { return time.Now().AddDate(0, 2, 0) },
	}
	for {
		report, err := state.Sweep(ctx, store, &options)
		if err != nil {
			log.Fatal(err)
		}
		deleted += report.Deleted
		if options.Cursor = report.Next; options.Cursor == "" {
			break
		}
	}
	fmt.Println(deleted)
	// Output: 1
}

func ExampleInMemory() {
	_, ctx := begin(context.Background(), state.InMemory(), "session-1", "turn-1")
	_, err := Incident.Get(ctx)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleDir() {
	root, err := os.MkdirTemp("", "state")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	for range 2 { // two processes, one after the other
		store, err := state.Dir(root, nil)
		if err != nil {
			log.Fatal(err)
		}
		_, ctx := begin(context.Background(), store, "session-1", "turn-1")
		v, err := Incident.Update(ctx, func(v incident) (incident, error) {
			v.Checked = append(v.Checked, "api")
			return v, nil
		})
		fmt.Println(len(v.Checked), err)
		if err := store.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
}

func ExampleCheckKey() {
	key, _ := state.ID{Session: "s1"}.Key()
	fmt.Println(state.CheckKey(key))
	fmt.Println(errors.Is(state.CheckKey("../secrets"), state.ErrInvalidKey))
	// Output:
	// <nil>
	// true
}
