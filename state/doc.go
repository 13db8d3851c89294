// Package state keeps the typed working data of one agent's session, checkpointed step by step. The model sees none of
// it. What should outlive the session, or be recalled to the model, belongs into package memory.
//
//	type incident struct{ ID string; Checked []string }
//
//	var Incident = state.Define("opsbot.incident", func() incident { return incident{} })
//
//	func handle(ctx context.Context, store state.Store, sessionID, turnID string) error {
//		session, err := state.Open(ctx, store, state.ID{Session: sessionID}, nil)
//		if err != nil {
//			return err
//		}
//		if err := session.BeginTurn(ctx, turnID); err != nil {
//			return err
//		}
//		_, err = state.Step(session.Context(ctx), "check", func(ctx context.Context) (string, error) {
//			_, err := Incident.Update(ctx, func(v incident) (incident, error) {
//				v.Checked = append(v.Checked, "api")
//				return v, nil
//			})
//			return "checked", err
//		})
//		return err
//	}
//
// # Names
//
// A handle's name is the identity of its value: it is in every checkpoint, so it never changes, while the Go type's name
// may. Begin it with the name of the agent. Names beginning with "eve." or "eve:mount." are reserved, and the empty name
// is none. Define is for package-level variables and panics; DefineIn takes a Registry and returns the error. The
// registry holds definitions, never values.
//
// # Values
//
// Values are JSON. What JSON cannot encode, or would drop or change without a word, is refused by Update with the handle
// and the path, and the old value stays: NaN, channels and functions, cycles, unexported and excluded fields that are not
// zero, text that is not UTF-8, an integer in an interface that a float64 cannot hold, more than 9000 levels of nesting.
// A type with its own MarshalJSON or MarshalText decides itself what it is. Everybody, Update's caller included, sees the
// value as it is stored: a struct in an interface is a map, for example. Get returns a private copy; it allocates nothing
// where an assignment is one.
//
// There is no Set. Judge and write in one Update: between a Get and an Update another tool call may have changed the
// value. Updates of one handle run one at a time; a handle inside its own Update is an error, not a deadlock. That is
// found out on Update's goroutine; a function that waits for another goroutine which uses the same handle waits until
// that goroutine's context ends.
//
// # Sessions
//
// A Session is one session of one agent in this process. Open loads its checkpoint or starts a new one, Session.Context
// binds it to a context, and handles find it there. The id must be unique over all tenants of a store; it is part of the
// key, not a credential.
//
// # Turns and steps
//
// A turn is one delivery of the user and its answer. A step is the unit that is stored: its result and all it changed, in
// one conditional write, or nothing of it. BeginTurn with the id of the current turn resumes it: steps that are stored
// return their results without running. So write a turn as a function of its steps: code between them runs again at a
// resume, and sees the state after the last stored step. An Update outside a step is stored at once, and is repeated by a
// resume.
//
// Steps of a session run one at a time and do not nest; concurrency lives inside a step. Inside it, use the context that
// its function receives. A sub-agent is a Session.Child.
//
// # Life
//
// Values stay over turns, compactions, clearing of the conversation, crashes and deployments. Reset deletes them, with
// those of all children. A value defined PerTurn starts fresh in every turn. Sweep deletes sessions that nobody has used
// for long. Records of steps go with their turn, so a checkpoint does not grow with the session's age; its size is
// limited (Options.MaxBytes), and the error names the largest handle.
//
// # Evolution
//
// Values whose handle a build does not define stay as they are, and so do members of the checkpoint that it does not
// know. A value that its type cannot hold completely, because it has another kind, members that the type lacks, a longer
// array or more digits, is an error that names the handle; give the handle a migration (Migrated). So removing a field
// needs one, and adding a field does not. A checkpoint of a newer format version is refused and not touched. Samples of
// every released format are in testdata, for good.
//
// # Failure modes
//
// A step is run at least once: a process that dies between the end of the step's function and the write runs it again.
// Give side effects an idempotency key made from session, turn, step and occurrence.
//
// Two runners of one session do no harm to its state: the second to commit gets ErrConflict, nothing of it is stored, and
// its Session is of no further use. Open the session again and begin the turn again.
//
// A write that failed without an answer is looked up: when it is stored the step has succeeded. When the store cannot be
// reached, or the context has ended, the error matches ErrUnknownOutcome and the next use looks first.
//
// # Security
//
// Checkpoints hold what the application keeps in its state, results of steps and attachments, unencrypted: they are
// sensitive server-side data. Never let a client supply one, nor choose a session id that is not its own. Errors and log
// lines name handles, steps, keys and paths within values (with map keys), and never a value.
package state
